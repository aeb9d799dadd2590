//! `redirect.h` and `dispatch.h`: the ways to hiplazy's own symbols.

use std::collections::BTreeMap;
use std::fmt::Write;

use hiplazy_abi::Function;

use super::template::fill;
use super::{HeaderOptions, Tables};

/// C functions that some HIP header overloads in C++, besides those of
/// `abi/cxx_overloads.txt`: by texture references, by a template without arguments.
const ALSO_OVERLOADED: [&str; 6] = [
    "hipBindTexture",
    "hipBindTexture2D",
    "hipBindTextureToArray",
    "hipBindTextureToMipmappedArray",
    "hipCreateChannelDesc",
    "hipUnbindTexture",
];

/// Both headers, by their names in the package's include folder.
pub(crate) fn headers(tables: &Tables, options: &HeaderOptions) -> Vec<(&'static str, String)> {
    let macros = options.prefix.to_ascii_uppercase();
    let names = [
        ("PREFIX", options.prefix.as_str()),
        ("FOLDER", options.folder.as_str()),
        ("MACRO", macros.as_str()),
    ];
    let pragmas = tables
        .functions
        .iter()
        .fold(String::new(), |mut text, function| {
            let (prefix, name) = (&options.prefix, &function.name);
            let _ = writeln!(text, "#pragma redefine_extname {name} {prefix}{name}");
            text
        });
    let indices: Vec<String> = tables
        .slots
        .entries()
        .iter()
        .enumerate()
        .map(|(index, entry)| format!("  {macros}INDEX_{entry} = {index},"))
        .collect();
    let count = tables.slots.entries().len().to_string();
    let overloaded = overloaded(tables, &macros);
    let with_names = |template: &str, values: &[(&str, &str)]| {
        // Names last: the other values contain none of the markers.
        fill(&fill(template, values), &names)
    };
    vec![
        (
            "redirect.h",
            with_names(
                include_str!("templates/redirect.h.in"),
                &[("PRAGMAS", &pragmas)],
            ),
        ),
        (
            "dispatch.h",
            with_names(
                include_str!("templates/dispatch.h.in"),
                &[
                    ("INDICES", &indices.join("\n")),
                    ("COUNT", &count),
                    ("OVERLOADED", overloaded.trim_end()),
                ],
            ),
        ),
    ]
}

/// The types of overloaded functions, each for a macro that pairs it with a word to
/// skip.
fn overloaded(tables: &Tables, macros: &str) -> String {
    let functions: BTreeMap<&str, &Function> = tables
        .functions
        .iter()
        .map(|function| (function.name.as_str(), function))
        .collect();
    let mut names: Vec<&str> = ALSO_OVERLOADED.to_vec();
    names.extend(tables.overloads.iter().map(|overload| overload.name()));
    names.sort_unstable();
    names.dedup();
    let mut text = String::new();
    for function in names.iter().filter_map(|name| functions.get(name)) {
        let types: Vec<&str> = function.args.iter().map(|arg| arg.ty.as_str()).collect();
        let _ = writeln!(
            text,
            "#define {macros}OVERLOADED_{} \\\n  skip, {} (*)({})",
            function.name,
            function.ret,
            types.join(", ")
        );
    }
    text
}
