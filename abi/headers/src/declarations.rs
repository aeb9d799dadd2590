//! The functions that headers declare, by link name.

use std::collections::BTreeMap;

use hiplazy_abi::Arg;
use syn::{FnArg, ForeignItem, ForeignItemFn, Item, Pat};

use crate::libclang::{self, Language};
use crate::{Error, c_spelling};

/// A function as one header set declares it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Declaration {
    /// The C return type.
    pub ret: String,
    /// The arguments in order.
    pub args: Vec<Arg>,
}

/// Declarations by ELF link name.
pub type Declarations = BTreeMap<String, Declaration>;

/// A piece of C or C++ that includes headers, and the folder they lie in.
pub struct TranslationUnit<'a> {
    /// The include folder, the one that holds `hip/`.
    pub include: &'a std::path::Path,
    /// The source text.
    pub source: String,
    /// The language it is read as.
    pub language: Language,
    /// Macros that are defined, such as `HIP_API_PER_THREAD_DEFAULT_STREAM`.
    pub define: &'a [&'a str],
    /// Only declarations of files below this folder are wanted, if one is given.
    pub only: Option<&'a std::path::Path>,
}

impl TranslationUnit<'_> {
    /// The functions with C linkage that `source` declares below HIP's names.
    pub fn declarations(&self) -> Result<Declarations, Error> {
        let mut arguments = libclang::arguments(self.include, self.language)?;
        arguments.extend(self.define.iter().map(|name| format!("-D{name}")));
        let file = match self.language {
            Language::C => "hip_headers.h",
            Language::Cxx => "hip_headers.hpp",
        };
        let wanted = bindgen::Builder::default();
        let wanted = match self.only {
            Some(folder) => wanted.allowlist_file(format!("{}/.*", folder.display())),
            None => wanted.allowlist_function("^(__)?hip.*|^hsa_(init|shut_down)$"),
        };
        let bindings = wanted
            .header_contents(file, &self.source)
            .clang_args(arguments)
            .with_codegen_config(bindgen::CodegenConfig::FUNCTIONS)
            .ctypes_prefix("core::ffi")
            .layout_tests(false)
            .generate_comments(false)
            .generate()
            .map_err(|error| Error::new(format!("{}: {error}", self.include.display())))?;
        parse_bindings(&bindings.to_string())
    }
}

/// The `extern "C"` functions of Rust declarations as bindgen writes them.
pub fn parse_bindings(rust: &str) -> Result<Declarations, Error> {
    let file = syn::parse_file(rust)
        .map_err(|error| Error::new(format!("the Rust declarations do not parse: {error}")))?;
    let mut declarations = Declarations::new();
    for item in file.items {
        let Item::ForeignMod(block) = item else {
            continue;
        };
        for item in block.items {
            let ForeignItem::Fn(function) = item else {
                continue;
            };
            let name = link_name(&function);
            if is_c_name_of_hip(&name) {
                declarations.insert(name, declaration(&function)?);
            }
        }
    }
    Ok(declarations)
}

/// HIP's own prefixes, and no C++ mangling: overloads come as `_Z...`.
fn is_c_name_of_hip(name: &str) -> bool {
    name.starts_with("hip")
        || name.starts_with("__hip")
        || matches!(name, "hsa_init" | "hsa_shut_down")
}

/// The ELF name: what the compiler's tree says, not what the source spells.
fn link_name(function: &ForeignItemFn) -> String {
    for attribute in &function.attrs {
        if !attribute.path().is_ident("link_name") {
            continue;
        }
        if let syn::Meta::NameValue(pair) = &attribute.meta
            && let syn::Expr::Lit(literal) = &pair.value
            && let syn::Lit::Str(text) = &literal.lit
        {
            // \u{1} tells LLVM to leave the name as it is.
            return text.value().trim_start_matches('\u{1}').to_string();
        }
    }
    function.sig.ident.to_string()
}

fn declaration(function: &ForeignItemFn) -> Result<Declaration, Error> {
    let mut args = Vec::new();
    for (index, input) in function.sig.inputs.iter().enumerate() {
        let FnArg::Typed(typed) = input else {
            return Err(Error::new(format!("{} has a receiver", function.sig.ident)));
        };
        let name = match &*typed.pat {
            Pat::Ident(ident) => c_identifier(&ident.ident.to_string()),
            _ => format!("arg{}", index + 1),
        };
        args.push(Arg {
            ty: c_spelling::of_type(&typed.ty)?,
            name,
        });
    }
    Ok(Declaration {
        ret: c_spelling::of_return(&function.sig.output)?,
        args,
    })
}

/// bindgen appends an underscore to a name that Rust reserves.
fn c_identifier(rust: &str) -> String {
    let stem = rust.strip_suffix('_').unwrap_or(rust);
    let is_reserved = syn::parse_str::<syn::Ident>(stem).is_err();
    if is_reserved { stem } else { rust }.to_string()
}
