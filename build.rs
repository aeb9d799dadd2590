//! Turns the ABI manifest into the library's tables.
//!
//! Reads `abi/functions.txt`, `abi/slots.txt`, `abi/breaks.txt` and `abi/errors.txt`, which
//! are committed, so that an ordinary build needs neither ROCm nor libclang. With the
//! feature `bindgen` the functions and types are those of ROCm headers instead.

#[path = "build/breaks.rs"]
mod breaks;
#[cfg(feature = "bindgen")]
#[path = "build/from_headers.rs"]
mod from_headers;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

use hiplazy_abi::{
    BREAKS_TXT, Class, Code, Domain, ERRORS_TXT, Entry, FUNCTIONS_TXT, Function, HEADER_VERSIONS,
    Library, SLOTS_TXT, Version, entries, entry_for, parse_breaks, parse_errors, parse_functions,
    parse_slots, rust_type,
};

/// The headers that `src/sys/types.rs` is of.
const NEWEST: Version = HEADER_VERSIONS[HEADER_VERSIONS.len() - 1];

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
    let breaks = parse_breaks(BREAKS_TXT).unwrap_or_else(|error| fail(&error));
    let slots = parse_slots(SLOTS_TXT).unwrap_or_else(|error| fail(&error));
    let entries = entries(&functions, &breaks);
    #[cfg(not(feature = "bindgen"))]
    check_places(&slots, &entries);
    // Headers may lack functions and have others: those have the last places.
    let entries = slots.arrange(entries, |entry| &entry.name);
    let table = Table {
        functions: &functions,
        entries: &entries,
    };
    write(&out, "for_each_function.rs", &table.for_each());
    write(
        &out,
        "for_each_table_length.rs",
        &for_each_table_length(entries.len()),
    );
    let broken = breaks::Tables::new(&breaks);
    write(&out, "function_tables.rs", &table.tables(&broken));
    write(&out, "breaks.rs", &broken.rules());
    write(&out, "real.rs", &broken.real());
    write(&out, "translators.rs", &broken.translators());
    let types = match version {
        0 => NEWEST,
        known => Version::new(known / 10_000_000, known / 100_000 % 100),
    };
    write(&out, "sys_functions.rs", &table.sys_functions(types));
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

/// Fails unless every entry has its place and every place its entry: a place that is left
/// out would move all that follow.
#[cfg(not(feature = "bindgen"))]
fn check_places(slots: &hiplazy_abi::SlotOrder, entries: &[Entry]) {
    let names = || entries.iter().map(|entry| entry.name.as_str());
    let (missing, unknown) = (slots.missing(names()), slots.unknown(names()));
    if !missing.is_empty() || !unknown.is_empty() {
        fail(&format!(
            "abi/slots.txt differs from abi/functions.txt and abi/breaks.txt: without a place \
             {missing:?}, which `cargo xtask abi` appends; in slots.txt alone {unknown:?}"
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
         /// `path::of::with! {{ [extra] 684 ... }}`: the lengths of the slot table that callers\n\
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

/// The place of `row` in `rows`, which it is appended to if it is not there.
fn place_in(rows: &mut Vec<String>, row: String) -> usize {
    let known = rows.iter().position(|known| *known == row);
    known.unwrap_or_else(|| {
        rows.push(row);
        rows.len() - 1
    })
}

/// Strings for a table, each ended by a null byte.
#[derive(Default)]
struct Strings {
    text: String,
    starts: BTreeMap<String, usize>,
}

impl Strings {
    /// Where `string` begins, which is appended if it is not there.
    fn start(&mut self, string: &str) -> usize {
        if let Some(start) = self.starts.get(string) {
            return *start;
        }
        let start = self.text.len();
        self.text.push_str(string);
        self.text.push('\0');
        self.starts.insert(string.to_string(), start);
        start
    }

    fn table(&self, name: &str) -> String {
        let length = self.text.len();
        format!("static {name}: &[u8; {length}] = b{:?};\n", self.text)
    }
}

/// The entries by place, and the functions they are for.
struct Table<'a> {
    functions: &'a [Function],
    entries: &'a [Entry],
}

impl Table<'_> {
    fn function(&self, entry: &Entry) -> &Function {
        &self.functions[entry.function]
    }

    /// The macros that hand entries to another macro: name, number, signature.
    fn for_each(&self) -> String {
        let mut text = String::new();
        for (which, takes) in [
            ("entry", "entries"),
            ("function", "functions by their link names"),
            ("generation", "entries for generations of headers"),
        ] {
            let _ = write!(
                text,
                "/// Calls a macro once with all {takes}:\n\
                 /// `for_each_{which}!([path::of::with] [extra])` expands to\n\
                 /// `path::of::with! {{ [extra] name number (argument: type, ...) -> type; ... }}`.\n\
                 #[doc(hidden)]\n#[macro_export]\nmacro_rules! for_each_{which} {{\n    \
                 ([$($with:tt)*] [$($extra:tt)*]) => {{\n        $($with)* ! {{\n            [$($extra)*]\n"
            );
            for (index, entry) in self.entries.iter().enumerate() {
                let is_of = match which {
                    "function" => entry.since.is_none(),
                    "generation" => entry.since.is_some(),
                    _ => true,
                };
                if !is_of {
                    continue;
                }
                let function = self.function(entry);
                let arguments: Vec<String> = arguments(function)
                    .iter()
                    .map(|(name, ty)| format!("{name}: {ty}"))
                    .collect();
                let _ = writeln!(
                    text,
                    "            {} {index} ({}) -> {};",
                    entry.name,
                    arguments.join(", "),
                    return_type(function)
                );
            }
            text.push_str("        }\n    };\n}\n");
        }
        text
    }

    /// Names, nodes, classes and libraries, without a pointer in them: pointers would
    /// be relocated whenever the library is loaded. What entries or functions share is
    /// there once.
    fn tables(&self, broken: &breaks::Tables) -> String {
        let mut sorted: Vec<usize> = (0..self.functions.len()).collect();
        sorted.sort_by_key(|function| self.functions[*function].name.as_str());
        let mut names = Strings::default();
        let mut nodes = Strings::default();
        let mut traits: Vec<String> = Vec::new();
        let (mut name_starts, mut traits_of, mut changed_of) = (vec![], vec![], vec![]);
        let mut numbers = vec![0; self.functions.len()];
        for (number, place) in sorted.into_iter().enumerate() {
            let function = &self.functions[place];
            numbers[place] = number;
            name_starts.push(names.start(&function.name));
            let own = self.traits(function, &mut nodes);
            traits_of.push(place_in(&mut traits, own));
            changed_of.push(broken.number_of(&function.name));
        }
        if traits.len() > usize::from(u8::MAX) {
            fail(&"functions differ in more ways than a byte can number");
        }
        let function_of: Vec<usize> = self.entries.iter().map(|it| numbers[it.function]).collect();
        let is_generation = |entry: &Entry| entry.since.is_some();
        let first_generation = self.entries.iter().position(is_generation);
        let first_generation = first_generation.unwrap_or(self.entries.len());
        let since: Vec<u16> = self.entries[first_generation..]
            .iter()
            .map(|entry| entry.since.map_or(0, breaks::number))
            .collect();
        let number_of = |name: &str| {
            let place = self.functions.iter().position(|row| row.name == name)?;
            Some(numbers[place])
        };
        let changed = broken.changed(&mut names, number_of);
        let traits = traits.join(",\n    ");
        format!(
            "/// How many entries there are.\npub(crate) const COUNT: usize = {};\n\
             const FUNCTION_COUNT: usize = {};\n\
             {}{}\
             /// Where the functions' names begin in `NAMES`, in the order of the names.\n\
             static NAME_STARTS: [u16; FUNCTION_COUNT] = {name_starts:?};\n\
             /// Their places in `TRAITS`.\n\
             static TRAITS_OF: [u8; FUNCTION_COUNT] = {traits_of:?};\n\
             static TRAITS: &[Traits] = &[\n    {traits}\n];\n\
             /// Their places in `CHANGED`; out of range if they are not there.\n\
             static CHANGED_OF: [u8; FUNCTION_COUNT] = {changed_of:?};\n\
             {changed}\
             /// The function that each entry is for.\n\
             static FUNCTION_OF: [u16; COUNT] = {function_of:?};\n\
             /// The first entry that is a generation.\n\
             const FIRST_GENERATION: usize = {first_generation};\n\
             /// The first version of the headers that it and those behind it are for; 0 if \
             they are found out.\n\
             static SINCE: [Version; COUNT - FIRST_GENERATION] = {since:?};\n",
            self.entries.len(),
            self.functions.len(),
            names.table("NAMES"),
            nodes.table("NODES"),
        )
    }

    /// What many functions have in common.
    fn traits(&self, function: &Function, nodes: &mut Strings) -> String {
        let node = function.node.as_deref();
        let node = node.map_or(usize::from(u16::MAX), |node| nodes.start(node));
        let class = class(function);
        let library = match function.library {
            Library::Hip => "Hip",
            Library::Hiprtc => "Hiprtc",
            Library::Hsa => "Hsa",
        };
        let first = function.first;
        let (major, minor) = first.map_or((0, 0), |first| (first.major, first.minor));
        format!(
            "Traits {{ node: {node}, class: Class::{class}, library: Library::{library}, \
             first: [{major}, {minor}] }}"
        )
    }

    /// The typed functions of `hiplazy::sys`, whose types are those of the headers `types`.
    fn sys_functions(&self, types: Version) -> String {
        let mut text = String::new();
        for (place, function) in self.functions.iter().enumerate() {
            // Those of headers that are not in the manifest have no generations.
            let index = entry_for(self.entries, place, types).unwrap_or_default();
            text.push_str(&sys_function(function, index));
        }
        text
    }
}

fn class(function: &Function) -> &'static str {
    match function.class {
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
    }
}

fn sys_function(function: &Function, index: usize) -> String {
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
    format!(
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
    )
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
                    let _ = writeln!(entries, "    [{value}, {start}],");
                    count += 1;
                }
                Code::Other => other = start,
            }
        }
        let _ = writeln!(
            tables,
            "static {table}: [[u16; 2]; {count}] = [\n{entries}];\nconst {table}_OTHER: u16 = {other};"
        );
    }
    format!(
        "static TEXTS: &[u8; {}] = b{texts:?};\n{tables}",
        texts.len()
    )
}
