//! The installed HIP headers, read back as a compiler reads them and compared with
//! what they were written from, and with AMD's own.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use hiplazy_abi::{FUNCTIONS_TXT, Function, Version, parse_functions};
use hiplazy_headers::{Declarations, HeaderSet, Language, TranslationUnit, Types, format};
use quote::ToTokens;
use syn::Item;
use xtask::abi::provide_libclang;
use xtask::c_headers::{HeaderOptions, write};
use xtask::fetch;

/// The folder that takes the place of ROCm's include folder; `None`, visibly, without
/// libclang.
fn ours() -> Option<&'static Path> {
    static WRITTEN: OnceLock<Option<PathBuf>> = OnceLock::new();
    let written = WRITTEN.get_or_init(|| {
        if let Err(missing) = provide_libclang() {
            skip(
                "the installed headers, read by libclang",
                &missing.to_string(),
            );
            return None;
        }
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("c-headers");
        let _ = fs::remove_dir_all(&folder);
        let options = HeaderOptions {
            prefix: "hiplazy_".to_string(),
            folder: "hiplazy".to_string(),
        };
        write(&folder, &options).unwrap();
        Some(folder.join("hiplazy/rocm"))
    });
    written.as_deref()
}

/// Says that a test could not run; `cargo xtask test` counts these.
fn skip(what: &str, why: &str) {
    use std::io::Write;
    let _ = writeln!(std::io::stderr(), "SKIPPED {what}: {why}");
    if let Some(file) = std::env::var_os("HIPLAZY_SKIPS") {
        let opened = fs::OpenOptions::new().create(true).append(true).open(file);
        let line = format!("{what}: {}\n", why.replace('\n', " "));
        opened
            .and_then(|mut file| file.write_all(line.as_bytes()))
            .unwrap();
    }
}

const V7_1: Version = Version::new(7, 1);

const SOURCE: &str = "#include <hip/hip_runtime_api.h>\n";
const ALL: &str = "#include <stdbool.h>\n#include <hip/hip_runtime_api.h>\n\
                   #include <hip/hiprtc.h>\n#include <hsa/hsa.h>\n";

/// Types and constants by name, each with its assertions about size and offsets.
type Items = BTreeMap<String, BTreeSet<String>>;

fn items(rust: &str) -> Items {
    let mut items = Items::new();
    let mut add = |name: String, text: String| {
        items.entry(name).or_default().insert(text);
    };
    for item in syn::parse_file(rust).unwrap().items {
        let text = item.to_token_stream().to_string();
        match &item {
            Item::Const(constant) if constant.ident == "_" => {
                // "Size of hipExtent": the record is the last word up to the member.
                let (_, rest) = text.split_once(" of ").unwrap();
                let name = rest.split(['"', ':']).next().unwrap();
                add(name.to_string(), text.clone());
            }
            Item::Const(item) => add(item.ident.to_string(), text),
            Item::Struct(item) => add(item.ident.to_string(), text),
            Item::Union(item) => add(item.ident.to_string(), text),
            Item::Type(item) => add(item.ident.to_string(), text),
            Item::Use(_) => add(text.clone(), text),
            _ => {}
        }
    }
    items
}

fn read_types(include: &Path, source: &str) -> Items {
    let types = Types {
        include,
        source: source.to_string(),
        also: None,
    };
    // Formatted like the committed file: rustfmt adds commas, and those are tokens.
    items(&format(&types.generate().unwrap()).unwrap())
}

/// The names whose items differ, those that only one side has among them.
fn differing(left: &Items, right: &Items) -> BTreeSet<String> {
    let names: BTreeSet<&String> = left.keys().chain(right.keys()).collect();
    let names = names
        .into_iter()
        .filter(|name| left.get(*name) != right.get(*name));
    names.cloned().collect()
}

fn names(text: &str) -> BTreeSet<String> {
    text.split_whitespace().map(str::to_string).collect()
}

/// Every struct with size, alignment and offsets, every enumeration and every
/// constant is that of `src/sys/types.rs`.
#[test]
fn types_and_constants_are_those_that_they_were_written_from() {
    let Some(ours) = ours() else { return };
    let committed =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../src/sys/types.rs"));
    let committed = items(&committed.unwrap());
    let read = read_types(ours, ALL);
    assert!(read.len() > 900, "{} items", read.len());
    // OpenGL's types belong to OpenGL's header, and one name is a macro in C.
    assert_eq!(
        differing(&committed, &read),
        names("GLuint GLenum hipDeviceProp_t"),
    );
}

/// AMD's headers of HIP 7, those that can be had, each with its `hiprtc.h` if it has one.
fn real() -> Vec<(Version, PathBuf, String)> {
    let wanted = [(V7_1, "headers-7.1"), (Version::new(7, 2), "headers-7.2")];
    let found = wanted.into_iter().filter_map(|(version, name)| {
        let folder = match fetch::fetch(name) {
            Ok(folder) => folder,
            Err(missing) => {
                skip(&format!("the real {version} headers"), &missing.to_string());
                return None;
            }
        };
        // A distribution's package moves on; the differences below are those of one version.
        let there = HeaderSet::in_folder(&folder).unwrap().version;
        if there != version {
            skip(
                &format!("the real {version} headers"),
                &format!("these are {there}"),
            );
            return None;
        }
        let hiprtc = folder.join("hip/hiprtc.h").is_file();
        let hiprtc = if hiprtc {
            "#include <hip/hiprtc.h>\n"
        } else {
            ""
        };
        Some((version, folder, format!("{SOURCE}{hiprtc}")))
    });
    found.collect()
}

/// Against AMD's headers themselves: what they declare is the same here, but for what
/// newer ones changed.
#[test]
fn types_and_constants_are_those_of_the_real_headers() {
    let Some(ours) = ours() else { return };
    for (version, folder, source) in real() {
        let mut real = read_types(&folder, &source);
        let mut ours = read_types(ours, &source);
        assert!(real.len() > 850, "{} items", real.len());
        ours.retain(|name, _| real.contains_key(name));
        real.retain(|name, _| !name.starts_with("hsa_") && !name.starts_with("HSA_"));
        // 7.14 moved the last constant of four enumerations and extended a union.
        assert_eq!(
            differing(&real, &ours),
            names(
                "HIP_FUNC_ATTRIBUTE_MAX hipErrorTbd hipFuncAttributeMax hipLaunchAttributeMax \
                 hipLaunchAttributeValue"
            ),
            "{version}"
        );
    }
}

/// Values of constants and members of structs and unions, in words that do not depend on
/// how bindgen was asked to write them.
fn facts(rust: &str) -> BTreeMap<String, String> {
    let plain = |text: String| {
        let text = text
            .replace([' ', '\n'], "")
            .replace("::std::os::raw::", "core::ffi::");
        text.replace("::core::", "core::")
            .replace("::std::", "core::")
    };
    let mut facts = BTreeMap::new();
    for item in syn::parse_file(rust).unwrap().items {
        let fields = match &item {
            Item::Const(item) if item.ident != "_" => {
                let ty = item.ty.to_token_stream().to_string();
                let name = item.ident.to_string();
                // hipError_t_hipSuccess, where the constant keeps its enumeration's name.
                let prefix = format!("{ty}_");
                let name = name.strip_prefix(&prefix).unwrap_or(&name).to_string();
                let value = item.expr.to_token_stream().to_string();
                let number = value
                    .split(['(', ')'])
                    .rev()
                    .find(|part| !part.trim().is_empty());
                facts.insert(name, plain(number.unwrap_or_default().to_string()));
                continue;
            }
            Item::Struct(item) => &item.fields,
            Item::Union(item) => &syn::Fields::Named(item.fields.clone()),
            _ => continue,
        };
        let name = match &item {
            Item::Struct(item) => item.ident.to_string(),
            Item::Union(item) => item.ident.to_string(),
            _ => continue,
        };
        // Two versions of bindgen align a unit of bit-fields by two names.
        let members = fields.iter().filter(|field| {
            let name = field.ident.to_token_stream().to_string();
            !["_bindgen_align", "_bitfield_align"]
                .iter()
                .any(|start| name.starts_with(start))
        });
        let members = members.map(|field| {
            let name = field.ident.to_token_stream();
            plain(format!("{name}:{};", field.ty.to_token_stream()))
        });
        let members: String = members.collect();
        // An enumeration is a number in one style and a struct in the other.
        if matches!(fields, syn::Fields::Named(_)) {
            facts.insert(name, members);
        }
    }
    facts
}

/// Against the Rust declarations that others made from the headers of 7.14.
#[test]
fn values_and_members_are_those_of_7_14() {
    let Some(include) = ours() else { return };
    let theirs = match fetch::rust_declarations() {
        Ok(all) => all.into_iter().find(|one| one.version == (7, 14)).unwrap(),
        Err(missing) => return skip("Rust declarations of 7.14", &missing.to_string()),
    };
    let types = Types {
        include,
        source: ALL.to_string(),
        also: None,
    };
    let ours = facts(&types.generate().unwrap());
    let theirs = facts(&fs::read_to_string(theirs.file).unwrap());
    let shared = theirs.iter().filter(|(name, _)| ours.contains_key(*name));
    let shared: Vec<_> = shared.collect();
    assert!(shared.len() > 900, "{} names", shared.len());
    let differ = shared.iter().filter(|(name, fact)| ours[*name] != **fact);
    let differ: Vec<_> = differ
        .map(|(name, fact)| (name, fact, &ours[*name]))
        .collect();
    assert!(differ.is_empty(), "{differ:#?}");
    // The version's macros are not taken for constants of the interface.
    let is_version = |name: &str| name.starts_with("HIP_VERSION") || name == "HIP_DEPRECATED_MSG";
    let missing = theirs.keys().filter(|name| {
        let is_hips = name.starts_with("hip") || name.starts_with("HIP");
        is_hips && !is_version(name) && !ours.contains_key(*name)
    });
    let missing: BTreeSet<&String> = missing.collect();
    assert!(missing.is_empty(), "{missing:#?}");
    let version = fs::read_to_string(include.join("hip/hip_version.h")).unwrap();
    for part in [
        "HIP_VERSION_MAJOR",
        "HIP_VERSION_MINOR",
        "HIP_VERSION_PATCH",
    ] {
        let number = theirs[part].trim_end_matches("u32");
        assert!(
            version.contains(&format!("#define {part} {number}\n")),
            "{part} {number}"
        );
    }
}

fn read_functions(include: &Path, source: &str) -> Declarations {
    let unit = TranslationUnit {
        include,
        source: source.to_string(),
        language: Language::C,
        define: &[],
        only: None,
    };
    unit.declarations().unwrap()
}

fn current() -> impl Iterator<Item = Function> {
    let functions = parse_functions(FUNCTIONS_TXT).unwrap().into_iter();
    functions.filter(|function| function.first.is_some() && function.last.is_none())
}

/// Every function that a header of HIP 7 declares is declared with the manifest's
/// prototype, and nothing else is. (OpenGL's integers have their C names here.)
#[test]
fn prototypes_are_those_of_the_manifest() {
    let Some(ours) = ours() else { return };
    let mut read = read_functions(ours, ALL);
    for function in current() {
        let declared = read.remove(&function.name);
        let declared = declared.unwrap_or_else(|| panic!("{} is not declared", function.name));
        assert_eq!(declared.ret, function.ret, "{}", function.name);
        let in_c = |ty: &str| {
            ty.replace("GLuint", "unsigned int")
                .replace("GLenum", "unsigned int")
        };
        let expected: Vec<String> = function.args.iter().map(|arg| in_c(&arg.ty)).collect();
        let args: Vec<String> = declared.args.iter().map(|arg| arg.ty.clone()).collect();
        assert_eq!(args, expected, "{}", function.name);
    }
    let rest: BTreeSet<String> = read.into_keys().collect();
    assert_eq!(rest, names("hsa_init hsa_shut_down"));
}

/// Against AMD's headers themselves.
#[test]
fn prototypes_are_those_of_the_real_headers() {
    let Some(ours) = ours() else { return };
    for (version, folder, source) in real() {
        let real = read_functions(&folder, &source);
        let ours = read_functions(ours, &source);
        assert!(real.len() > 490, "{} functions", real.len());
        let types = |declarations: &Declarations, name: &str| {
            declarations.get(name).map(|declaration| {
                let args = declaration.args.iter().map(|arg| arg.ty.clone());
                (declaration.ret.clone(), args.collect::<Vec<_>>())
            })
        };
        let differ = real
            .keys()
            .filter(|name| types(&real, name) != types(&ours, name));
        let differ: BTreeSet<String> = differ.cloned().collect();
        // The wheel's snapshot of 7.1 has these otherwise than the 7.1 release.
        let expected = match version {
            V7_1 => names("hipLibraryLoadData hipLibraryLoadFromFile"),
            _ => BTreeSet::new(),
        };
        assert_eq!(differ, expected, "{version}");
    }
}
