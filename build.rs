//! Turns the ABI manifest into the library's tables.
//!
//! Reads `abi/functions.txt`, `abi/slots.txt` and `abi/errors.txt`, which are committed, so that an
//! ordinary build needs neither ROCm nor libclang. With the feature `bindgen` the
//! functions and types are those of ROCm headers instead.

#[cfg(feature = "bindgen")]
#[path = "build/from_headers.rs"]
mod from_headers;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

use hiplazy_abi::{
    Class, Code, Domain, ERRORS_TXT, FUNCTIONS_TXT, Function, Library, SLOTS_TXT, parse_errors,
    parse_functions, parse_slots, rust_type,
};

/// Rust's keywords, which C argument names may be.
const KEYWORDS: &[&str] = &[
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate",
    "do", "dyn", "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl",
    "in", "let", "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref",
    "return", "self", "Self", "static", "struct", "super", "trait", "true", "try", "type",
    "typeof", "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
];

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=build");
    println!("cargo:rustc-check-cfg=cfg(hiplazy_typed)");
    let manifest = parse_functions(FUNCTIONS_TXT).unwrap_or_else(|error| fail(&error));
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    #[cfg(feature = "bindgen")]
    let (functions, version) = {
        let found = from_headers::read(manifest).unwrap_or_else(|error| fail(&error));
        write(&out, "sys_types.rs", &found.types);
        (found.functions, found.version)
    };
    #[cfg(not(feature = "bindgen"))]
    let (functions, version) = (manifest, 0);
    let slots = parse_slots(SLOTS_TXT).unwrap_or_else(|error| fail(&error));
    #[cfg(not(feature = "bindgen"))]
    check_places(&slots, &functions);
    // Headers may lack functions and have others: those have the last places.
    let functions = slots.arrange(functions, |function| &function.name);
    write(&out, "for_each_function.rs", &for_each_function(&functions));
    write(
        &out,
        "for_each_table_length.rs",
        &for_each_table_length(functions.len()),
    );
    write(&out, "function_tables.rs", &function_tables(&functions));
    write(&out, "sys_functions.rs", &sys_functions(&functions));
    write(&out, "error_texts.rs", &error_texts());
    write(&out, "header_version.rs", &version.to_string());
}

fn write(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    if let Err(error) = fs::write(&path, text) {
        fail(&format!("cannot write {}: {error}", path.display()));
    }
}

fn fail(error: &dyn std::fmt::Display) -> ! {
    eprintln!("hiplazy's build script: {error}");
    std::process::exit(1);
}

/// Fails unless every function has its place and every place its function: a place that
/// is left out would move all that follow.
#[cfg(not(feature = "bindgen"))]
fn check_places(slots: &hiplazy_abi::SlotOrder, functions: &[Function]) {
    let names = || functions.iter().map(|function| function.name.as_str());
    let (missing, unknown) = (slots.missing(names()), slots.unknown(names()));
    if !missing.is_empty() || !unknown.is_empty() {
        fail(&format!(
            "abi/slots.txt and abi/functions.txt differ: without a place {missing:?}, which \
             `cargo xtask abi` appends; in slots.txt alone {unknown:?}"
        ));
    }
}

/// The macro that hands another macro every length of the table that a caller may know.
///
/// A build from headers has none: it has places of its own, and code that was compiled
/// with the installed `dispatch.h` must not link to it.
fn for_each_table_length(count: usize) -> String {
    let lengths: String = if cfg!(feature = "bindgen") {
        String::new()
    } else {
        hiplazy_abi::table_lengths(count)
            .map(|length| format!(" {length}"))
            .collect()
    };
    format!(
        "/// `for_each_table_length!([path::of::with] [extra])` expands to\n\
         /// `path::of::with! {{ [extra] 582 ... }}`: the lengths of the slot table that callers\n\
         /// may have been compiled with.\n\
         #[doc(hidden)]\n#[macro_export]\nmacro_rules! for_each_table_length {{\n    \
         ([$($with:tt)*] [$($extra:tt)*]) => {{ $($with)* ! {{ [$($extra)*]{lengths} }} }};\n}}\n"
    )
}

/// `name: type` of each argument, with names that Rust allows.
fn arguments(function: &Function) -> Vec<(String, String)> {
    let argument = |(index, arg): (usize, &hiplazy_abi::Arg)| {
        let name = match arg.name.as_str() {
            "" => format!("arg{index}"),
            name if KEYWORDS.contains(&name) => format!("{name}_"),
            name => name.to_string(),
        };
        (name, rust_type(&arg.ty))
    };
    function.args.iter().enumerate().map(argument).collect()
}

fn return_type(function: &Function) -> String {
    match function.class {
        Class::Void => "()".to_string(),
        _ => rust_type(&function.ret),
    }
}

/// The macro that hands every function to another macro: name, number, signature.
fn for_each_function(functions: &[Function]) -> String {
    let mut text = String::from(
        "/// Calls a macro once with all functions of the manifest:\n\
         /// `for_each_function!([path::of::with] [extra])` expands to\n\
         /// `path::of::with! { [extra] name number (argument: type, ...) -> type; ... }`.\n\
         #[doc(hidden)]\n#[macro_export]\nmacro_rules! for_each_function {\n    \
         ([$($with:tt)*] [$($extra:tt)*]) => {\n        $($with)* ! {\n            [$($extra)*]\n",
    );
    for (index, function) in functions.iter().enumerate() {
        let arguments: Vec<String> = arguments(function)
            .iter()
            .map(|(name, ty)| format!("{name}: {ty}"))
            .collect();
        let _ = writeln!(
            text,
            "            {} {index} ({}) -> {};",
            function.name,
            arguments.join(", "),
            return_type(function)
        );
    }
    text.push_str("        }\n    };\n}\n");
    text
}

/// Names, nodes, classes and libraries, without a pointer in them: pointers would
/// be relocated whenever the library is loaded.
fn function_tables(functions: &[Function]) -> String {
    let mut names = String::new();
    let mut starts = Vec::new();
    for function in functions {
        starts.push(names.len());
        names.push_str(&function.name);
        names.push('\0');
    }
    let mut nodes = BTreeMap::new();
    for function in functions {
        if let Some(node) = &function.node {
            nodes.insert(node.as_str(), 0);
        }
    }
    let mut node_text = String::new();
    for (node, start) in &mut nodes {
        *start = node_text.len();
        node_text.push_str(node);
        node_text.push('\0');
    }
    let none = u16::MAX;
    let mut text = format!(
        "/// How many functions there are.\npub(crate) const COUNT: usize = {};\n\
         static NAMES: &[u8; {}] = b{names:?};\n\
         static NODES: &[u8; {}] = b{node_text:?};\n\
         static FUNCTIONS: [Entry; COUNT] = [\n",
        functions.len(),
        names.len(),
        node_text.len(),
    );
    for (function, start) in functions.iter().zip(starts) {
        let node = function
            .node
            .as_deref()
            .map_or(usize::from(none), |node| nodes[node]);
        let class = match function.class {
            Class::Error => "Error",
            Class::Rtc => "Rtc",
            Class::Hsa => "Hsa",
            Class::String => "String",
            Class::Pointer => "Pointer",
            // A `bool` has no value that says "failed" but false.
            Class::Int if function.ret == "bool" => "Bool",
            Class::Int => "Int",
            Class::Void => "Void",
            Class::Struct => "Struct",
        };
        let library = match function.library {
            Library::Hip => "Hip",
            Library::Hiprtc => "Hiprtc",
            Library::Hsa => "Hsa",
        };
        let (major, minor) = function
            .first
            .map_or((0, 0), |first| (first.major, first.minor));
        let _ = writeln!(
            text,
            "    Entry {{ name: {start}, node: {node}, class: Class::{class}, library: Library::{library}, first: [{major}, {minor}] }},"
        );
    }
    text.push_str("];\n");
    let mut by_name: Vec<usize> = (0..functions.len()).collect();
    by_name.sort_by_key(|index| functions[*index].name.as_str());
    let _ = writeln!(
        text,
        "/// The numbers of all functions in the order of their names.\n\
         static BY_NAME: [u16; COUNT] = {by_name:?};"
    );
    text
}

/// The typed functions of `hiplazy::sys`.
fn sys_functions(functions: &[Function]) -> String {
    let mut text = String::new();
    for (index, function) in functions.iter().enumerate() {
        let node = function
            .node
            .as_deref()
            .map_or(String::new(), |node| format!(", node `{node}`"));
        let headers = match (function.first, function.last) {
            (Some(first), Some(last)) => format!("in the headers of HIP {first} to {last}"),
            (Some(first), None) => format!("in the headers since HIP {first}"),
            _ => "in no public header".to_string(),
        };
        let library = match function.library {
            Library::Hip => "libamdhip64",
            Library::Hiprtc => "libhiprtc",
            Library::Hsa => "libhsa-runtime64",
        };
        let arguments = arguments(function);
        let declared: Vec<String> = arguments
            .iter()
            .map(|(name, ty)| format!("{name}: {ty}"))
            .collect();
        let types: Vec<&str> = arguments.iter().map(|(_, ty)| ty.as_str()).collect();
        let names: Vec<&str> = arguments.iter().map(|(name, _)| name.as_str()).collect();
        let ret = match function.class {
            Class::Void => String::new(),
            _ => format!(" -> {}", return_type(function)),
        };
        let _ = writeln!(
            text,
            "/// `{}` of `{library}`{node}, {headers}.\n\
             ///\n\
             /// # Safety\n\
             ///\n\
             /// As the HIP documentation says of it: handles are live, pointers valid.\n\
             #[inline]\n\
             pub unsafe extern \"C\" fn {}({}){ret} {{\n    \
                 // SAFETY: a slot always holds a function of this declaration.\n    \
                 unsafe {{ core::mem::transmute::<*const c_void, unsafe extern \"C\" fn({}){ret}>(load::<{index}>())({}) }}\n\
             }}",
            function.name,
            function.name,
            declared.join(", "),
            types.join(", "),
            names.join(", "),
        );
    }
    text
}

/// Error names and texts, likewise without pointers.
fn error_texts() -> String {
    let codes = parse_errors(ERRORS_TXT).unwrap_or_else(|error| fail(&error));
    let mut texts = String::new();
    let mut tables = String::new();
    for (domain, table) in [(Domain::Hip, "HIP"), (Domain::Rtc, "HIPRTC")] {
        let mut entries = String::new();
        let mut other = 0;
        let mut count = 0;
        for code in codes.iter().filter(|code| code.domain == domain) {
            let start = texts.len();
            let _ = write!(texts, "{}\0{}\0", code.name, code.text);
            match code.code {
                Code::Known(value) => {
                    let _ = writeln!(entries, "    ({value}, {start}),");
                    count += 1;
                }
                Code::Other => other = start,
            }
        }
        let _ = writeln!(
            tables,
            "static {table}: [(i32, u16); {count}] = [\n{entries}];\nconst {table}_OTHER: u16 = {other};"
        );
    }
    format!(
        "static TEXTS: &[u8; {}] = b{texts:?};\n{tables}",
        texts.len()
    )
}
