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
    let pragmas = pragmas(tables, &options.prefix, &macros);
    let indices: Vec<String> = tables
        .slots
        .entries()
        .iter()
        .enumerate()
        .map(|(index, entry)| format!("  {macros}INDEX_{entry} = {index},"))
        .collect();
    let count = tables.slots.entries().len().to_string();
    let overloaded = overloaded(tables, &macros);
    let generations = index_macros(tables, &macros);
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
                    ("GENERATIONS", generations.trim_end()),
                    ("OVERLOADED", overloaded.trim_end()),
                ],
            ),
        ),
    ]
}

/// The generations of a function's headers: the number of the first version of each, and
/// the entry's name.
type Generations<'a> = Vec<(u32, &'a str)>;

/// Of every function that has generations.
fn generations(tables: &Tables) -> Vec<(&str, Generations<'_>)> {
    let with_generations = tables
        .functions
        .iter()
        .enumerate()
        .map(|(place, function)| {
            let of_function = tables
                .entries
                .iter()
                .filter(|entry| entry.function == place);
            let generations = of_function.filter_map(|entry| {
                let since = entry.since?;
                Some((since.major * 100 + since.minor, entry.name.as_str()))
            });
            (function.name.as_str(), generations.collect())
        });
    with_generations
        .filter(|(_, generations): &(_, Generations)| !generations.is_empty())
        .collect()
}

/// The renamings: first of functions that are the same for all callers, then of the others,
/// by the version of the headers.
fn pragmas(tables: &Tables, prefix: &str, macros: &str) -> String {
    let generations = generations(tables);
    let pragma =
        |name: &str, entry: &str| format!("#pragma redefine_extname {name} {prefix}{entry}\n");
    let mut text = String::new();
    for function in &tables.functions {
        let name = function.name.as_str();
        if !generations.iter().any(|(other, _)| *other == name) {
            text += &pragma(name, name);
        }
    }
    // Functions whose generations begin with the same versions share the conditions.
    let mut by_bounds: BTreeMap<Vec<u32>, Vec<&(&str, Generations)>> = BTreeMap::new();
    for function in &generations {
        let bounds = function.1.iter().skip(1).map(|(since, _)| *since);
        by_bounds
            .entry(bounds.collect())
            .or_default()
            .push(function);
    }
    for (bounds, functions) in by_bounds {
        let _ = writeln!(text, "\n#if {macros}HEADERS == 0");
        for (name, _) in &functions {
            text += &pragma(name, name);
        }
        for generation in 0..=bounds.len() {
            let _ = match bounds.get(generation) {
                Some(bound) => writeln!(text, "#elif {macros}HEADERS < {bound}"),
                None => writeln!(text, "#else"),
            };
            for (name, generations) in &functions {
                if let Some((_, entry)) = generations.get(generation) {
                    text += &pragma(name, entry);
                }
            }
        }
        text += "#endif\n";
    }
    text
}

/// The places of functions with generations, by the version of the headers in use.
fn index_macros(tables: &Tables, macros: &str) -> String {
    let mut text = String::new();
    for (name, generations) in generations(tables) {
        let _ = writeln!(text, "#define {macros}INDEX_{name} \\");
        let mut start = '(';
        for (since, entry) in generations.iter().skip(1).rev() {
            let _ = writeln!(
                text,
                "  {start}{macros}HEADERS_SINCE({since}) ? {macros}INDEX_{entry} : \\"
            );
            start = ' ';
        }
        if let Some((_, earliest)) = generations.first() {
            let _ = writeln!(text, "   {macros}INDEX_{earliest})");
        }
    }
    text
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
