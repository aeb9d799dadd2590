//! The Rust types of `src/sys/types.rs`: structs, enumerations and constants.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::visit::{self, Visit};
use syn::{File, Item};

use crate::Error;
use crate::libclang::{self, Language};

/// Macros that are not part of the interface. The version of the headers the file
/// was made from would be taken for the version of the runtime; the others steer
/// the headers themselves or the device compiler.
const BLOCKED_CONSTANTS: &str =
    "HIP_VERSION.*|HIP_DEPRECATED_MSG|GENERIC_GRID_LAUNCH|USE_PEER_NON_UNIFIED|__.*";

/// A nameless enumeration of old status codes is known by its first constant.
const NAMELESS_ENUM: &str = "HIP_SUCCESS";

/// What the types are read from.
pub struct Types<'a> {
    /// The include folder, the one that holds `hip/`.
    pub include: &'a Path,
    /// C source that includes the headers.
    pub source: String,
    /// A folder whose files' types are wanted besides those of `hip/`.
    pub also: Option<&'a Path>,
}

impl Types<'_> {
    /// Structs, enumerations and constants as Rust items, in bindgen's formatting.
    ///
    /// An item named `X__since_V_W` takes the place of `X`.
    pub fn generate(&self) -> Result<String, Error> {
        let mut wanted = bindgen::Builder::default().allowlist_file(".*/hip/.*");
        if let Some(folder) = self.also {
            wanted = wanted.allowlist_file(format!("{}/.*", folder.display()));
        }
        let bindings = wanted
            .header_contents("hip_headers.h", &self.source)
            .clang_args(libclang::arguments(self.include, Language::C)?)
            .with_codegen_config(bindgen::CodegenConfig::TYPES | bindgen::CodegenConfig::VARS)
            .allowlist_type("hsa_status_t|GLuint|GLenum")
            .blocklist_var(BLOCKED_CONSTANTS)
            .constified_enum(NAMELESS_ENUM)
            .default_enum_style(bindgen::EnumVariation::NewType {
                is_bitfield: false,
                is_global: true,
            })
            .prepend_enum_name(false)
            .use_core()
            .ctypes_prefix("core::ffi")
            .derive_default(true)
            .generate_comments(false)
            .formatter(bindgen::Formatter::None)
            .disable_header_comment()
            .generate()
            .map_err(|error| Error::new(format!("{}: {error}", self.include.display())))?;
        let file = syn::parse_file(&bindings.to_string())
            .map_err(|error| Error::new(format!("bindgen's output does not parse: {error}")))?;
        let text = replace_superseded(file).to_token_stream().to_string();
        Ok(strip_since(&text))
    }
}

/// The names of all types that `items` declares.
pub fn type_names(items: &str) -> Result<BTreeSet<String>, Error> {
    let file = syn::parse_file(items)
        .map_err(|error| Error::new(format!("the types do not parse: {error}")))?;
    let is_type = |item: &&Item| matches!(item, Item::Struct(_) | Item::Union(_) | Item::Type(_));
    Ok(file
        .items
        .iter()
        .filter(is_type)
        .filter_map(item_name)
        .collect())
}

/// Whether two texts of the file say the same: formatting is rustfmt's business.
pub fn same(left: &str, right: &str) -> bool {
    let tokens = |text: &str| {
        syn::parse_file(text)
            .map(|file| {
                file.items
                    .iter()
                    .map(ToTokens::to_token_stream)
                    .collect::<TokenStream>()
            })
            .map(|tokens| tokens.to_string())
    };
    match (tokens(left), tokens(right)) {
        (Ok(left), Ok(right)) => left == right,
        _ => false,
    }
}

/// The name without the ending that marks it as a replacement.
fn base_name(name: &str) -> Option<&str> {
    name.find("__since_").map(|at| &name[..at])
}

/// Removes what the supplement replaces: the item, its implementations, its
/// layout assertions and the types nested in it.
fn replace_superseded(file: File) -> File {
    let superseded: BTreeSet<String> = file
        .items
        .iter()
        .filter_map(item_name)
        .filter_map(|name| base_name(&name).map(str::to_string))
        .collect();
    let items = file
        .items
        .into_iter()
        .filter(|item| !belongs_to(item, &superseded))
        .collect();
    File { items, ..file }
}

fn item_name(item: &Item) -> Option<String> {
    let ident = match item {
        Item::Struct(item) => &item.ident,
        Item::Union(item) => &item.ident,
        Item::Type(item) => &item.ident,
        Item::Const(item) => &item.ident,
        _ => return None,
    };
    Some(ident.to_string())
}

fn belongs_to(item: &Item, superseded: &BTreeSet<String>) -> bool {
    let is_superseded = |name: &str| {
        let outer = name.split("__bindgen_ty_").next().unwrap_or(name);
        superseded.contains(outer)
    };
    match item {
        Item::Const(constant) if constant.ident == "_" => {
            let mut paths = PathNames(BTreeSet::new());
            paths.visit_item_const(constant);
            paths.0.iter().any(|name| is_superseded(name))
        }
        Item::Impl(block) => {
            let name = block.self_ty.to_token_stream().to_string();
            is_superseded(&name)
        }
        // An alias of the same name as the struct it stands for is kept by C's
        // `typedef struct X X`, which bindgen does not write out.
        other => item_name(other).is_some_and(|name| is_superseded(&name)),
    }
}

/// The single-segment paths that a piece of code names.
struct PathNames(BTreeSet<String>);

impl<'ast> Visit<'ast> for PathNames {
    fn visit_path(&mut self, path: &'ast syn::Path) {
        if let Some(ident) = path.get_ident() {
            self.0.insert(ident.to_string());
        }
        visit::visit_path(self, path);
    }
}

/// Strips every `__since_V_W`, in identifiers and in the texts of assertions.
fn strip_since(text: &str) -> String {
    let mut stripped = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("__since_") {
        stripped.push_str(&rest[..at]);
        let version = &rest[at + "__since_".len()..];
        let digits = |text: &str| text.chars().take_while(char::is_ascii_digit).count();
        let major = digits(version);
        let minor = digits(&version[(major + 1).min(version.len())..]);
        rest = &version[major + 1 + minor..];
    }
    stripped + rest
}

/// Runs rustfmt over Rust source.
pub fn format(source: &str) -> Result<String, Error> {
    let failed =
        |what: String| Error::new(format!("rustfmt: {what}; rustup component add rustfmt"));
    let mut rustfmt = Command::new("rustfmt")
        .args(["--edition", "2024"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| failed(error.to_string()))?;
    if let Some(mut input) = rustfmt.stdin.take() {
        // The whole text is taken in before rustfmt answers, so this cannot block for ever.
        input
            .write_all(source.as_bytes())
            .map_err(|error| failed(error.to_string()))?;
    }
    let output = rustfmt
        .wait_with_output()
        .map_err(|error| failed(error.to_string()))?;
    if !output.status.success() {
        return Err(failed(output.status.to_string()));
    }
    String::from_utf8(output.stdout).map_err(|error| failed(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replacement_takes_the_place_of_the_original() {
        let file = syn::parse_str(
            "pub union V { pub a: u8 }
             const _: () = { [\"Size of V\"][size_of::<V>() - 1usize]; };
             impl Default for V { fn default() -> Self { V { a: 0 } } }
             pub const MAX: E = E(1);
             pub struct E(pub u32);
             pub struct Other { pub v: V }
             pub union V__since_7_14 { pub a: u16 }
             const _: () = { [\"Size of V__since_7_14\"][size_of::<V__since_7_14>() - 2usize]; };
             pub const MAX__since_7_14: E__since_7_14 = E__since_7_14(2);
             pub const NEW: E__since_7_14 = E__since_7_14(1);
             pub struct E__since_7_14(pub u32);",
        )
        .unwrap();
        let text = strip_since(&replace_superseded(file).to_token_stream().to_string());
        let expected = syn::parse_str::<File>(
            "pub struct Other { pub v: V }
             pub union V { pub a: u16 }
             const _: () = { [\"Size of V\"][size_of::<V>() - 2usize]; };
             pub const MAX: E = E(2);
             pub const NEW: E = E(1);
             pub struct E(pub u32);",
        )
        .unwrap();
        assert_eq!(text, expected.to_token_stream().to_string());
    }

    #[test]
    fn formatting_is_no_difference_and_a_value_is() {
        assert!(same("pub const A: u32 = 1;", "pub const A: u32\n    = 1;"));
        assert!(!same("pub const A: u32 = 1;", "pub const A: u32 = 2;"));
    }
}
