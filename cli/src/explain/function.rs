//! One function: everything that the manifest knows about it.

use std::collections::BTreeSet;

use hiplazy_abi::{Action, Arg, Function, HEADER_VERSIONS, Version, break_of};
use serde::Serialize;

use super::tables::Tables;
use super::types::{Enum, EnumConstant, Reached, Record};
use super::versions::{range, ranges};

/// A function.
#[derive(Debug, Clone, Serialize)]
pub struct FunctionFacts {
    /// The link name.
    pub name: String,
    /// The version node that real runtimes export it on.
    pub node: Option<String>,
    /// `libamdhip64`, `libhiprtc`, `libhsa-runtime64`.
    pub library: &'static str,
    /// hiplazy's name for it.
    pub wrapper: String,
    /// The header, if a public one declares it.
    pub header: Option<String>,
    /// The header versions that declare it.
    pub headers: String,
    /// How sources spell it.
    pub spellings: Vec<Spelling>,
    /// Functions whose names differ by a suffix only: `_spt` (the per-thread default
    /// stream), `_v2`, `R0600`.
    pub related: Vec<String>,
    /// Its prototypes, the newest first.
    pub prototypes: Vec<PrototypeFacts>,
    /// The default arguments that C++ callers have, `stream = 0`.
    pub defaults: Vec<String>,
    /// The measured runtimes that export it.
    pub exported_by: Vec<String>,
    /// The measured runtimes of its library that do not.
    pub absent_from: Vec<String>,
    /// The structs that its arguments lead to.
    pub structs: Vec<Record>,
    /// The constants of its arguments' enums that have had different values.
    pub renumbered: Vec<EnumConstant>,
    /// What hiplazy does for callers with some headers on some runtimes.
    pub translation: Translation,
    /// The entries of hiplazy's slot table for callers with certain headers.
    pub entries: Vec<EntryFacts>,
}

/// A way to write a call of the function.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Spelling {
    /// What the source says.
    pub source: String,
    /// When and by what that becomes the link name.
    pub how: String,
}

/// A prototype.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PrototypeFacts {
    /// The header versions that declare it so.
    pub headers: String,
    /// In C.
    pub text: String,
    /// What the difference from the newest one means.
    pub why: Option<String>,
}

/// An entry of the slot table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EntryFacts {
    /// Its name.
    pub name: String,
    /// The first headers whose callers use it.
    pub since: String,
}

/// What happens to calls, by the caller's headers and by the runtime.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Translation {
    /// The runtime versions, a column each.
    pub runtimes: Vec<String>,
    /// The header versions, a row each.
    pub rows: Vec<TranslationRow>,
    /// Why, by what is done.
    pub reasons: Vec<Reason>,
}

/// Callers with headers of one range.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TranslationRow {
    /// The header versions.
    pub headers: String,
    /// What is done on each runtime: `as it is`, `translated`, `refused`, `replaced`,
    /// `absent`.
    pub cells: Vec<&'static str>,
}

/// Why calls are not passed on as they are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Reason {
    /// What is done.
    pub action: &'static str,
    /// The caller's headers.
    pub headers: String,
    /// The runtimes.
    pub runtimes: String,
    /// What changed, or what to do.
    pub what: String,
}

impl FunctionFacts {
    pub(super) fn of(tables: &Tables, function: &Function) -> FunctionFacts {
        let name = &function.name;
        let library = match function.library {
            hiplazy_abi::Library::Hip => "libamdhip64",
            hiplazy_abi::Library::Hiprtc => "libhiprtc",
            hiplazy_abi::Library::Hsa => "libhsa-runtime64",
        };
        let declared = tables.history.get(name);
        let reached = Reached::by(tables, function);
        let enums = reached.enums.iter();
        let enums = enums.filter_map(|name| Enum::of(tables, name));
        let constants = enums.flat_map(|it| it.constants);
        let records = reached.records.iter();
        let (exported_by, absent_from) = exports(tables, function, library);
        FunctionFacts {
            name: name.clone(),
            node: function.node.clone(),
            library,
            wrapper: format!("hiplazy_{name}"),
            header: declared.map(|it| it.header.clone()),
            headers: declared
                .map_or_else(|| "no public header".to_string(), |it| ranges(&it.versions)),
            spellings: spellings(tables, function),
            related: related(tables, name),
            prototypes: prototypes(tables, function),
            defaults: defaults(tables, name),
            exported_by,
            absent_from,
            structs: records
                .filter_map(|name| Record::of(tables, name))
                .collect(),
            renumbered: constants.filter(EnumConstant::is_renumbered).collect(),
            translation: Translation::of(tables, function),
            entries: entries(tables, function),
        }
    }
}

fn exports(tables: &Tables, function: &Function, library: &str) -> (Vec<String>, Vec<String>) {
    let (mut has, mut lacks) = (Vec::new(), Vec::new());
    for measured in &tables.measured {
        match measured.node(&function.name) {
            Some(node) if node == function.node.as_deref() => has.push(measured.title.clone()),
            // Nodes move: that of the manifest is not the node of every runtime.
            Some(Some(node)) => has.push(format!("{} on {node}", measured.title)),
            Some(None) => has.push(format!("{} without a node", measured.title)),
            None if measured.library == library => lacks.push(measured.title.clone()),
            None => {}
        }
    }
    (has, lacks)
}

fn spellings(tables: &Tables, function: &Function) -> Vec<Spelling> {
    let name = &function.name;
    let mut spellings = Vec::new();
    for renamed in tables.macros.iter().filter(|it| it.replacement == *name) {
        let how = match function.first {
            Some(first) => format!("by macro since {first}"),
            None => "by macro".to_string(),
        };
        spellings.push(Spelling {
            source: renamed.name.clone(),
            how,
        });
    }
    if let Some(plain) = name.strip_suffix("_spt") {
        spellings.push(Spelling {
            source: plain.to_string(),
            how: "by macro with HIP_API_PER_THREAD_DEFAULT_STREAM (hipcc \
                  -fgpu-default-stream=per-thread)"
                .to_string(),
        });
    }
    for overload in &tables.overloads {
        if overload.call.split('(').next() == Some(name.as_str()) {
            let template = overload.template.as_ref();
            let template = template.map_or(String::new(), |it| format!("template<{it}> "));
            spellings.push(Spelling {
                source: format!("{template}{}", overload.signature),
                how: "C++ overload".to_string(),
            });
        }
    }
    spellings
}

fn related(tables: &Tables, name: &str) -> Vec<String> {
    let stem = |name: &str| -> String {
        let ends = ["_spt", "_v2", "R0000", "R0600"];
        let end = ends.iter().find_map(|end| name.strip_suffix(end));
        end.unwrap_or(name).to_string()
    };
    let wanted = stem(name);
    let names = tables.functions.iter().map(|it| &it.name);
    names
        .filter(|other| *other != name && stem(other) == wanted)
        .cloned()
        .collect()
}

fn prototypes(tables: &Tables, function: &Function) -> Vec<PrototypeFacts> {
    let name = &function.name;
    let text = |ret: &str, args: &[Arg]| {
        let args: Vec<String> = args.iter().map(Arg::to_string).collect();
        let args = if args.is_empty() {
            "void".to_string()
        } else {
            args.join(", ")
        };
        let space = if ret.ends_with('*') { "" } else { " " };
        format!("{ret}{space}{name}({args})")
    };
    let others: Vec<_> = tables
        .prototypes
        .iter()
        .filter(|it| it.name == *name)
        .collect();
    let declared = tables.history.get(name);
    let mut rest: BTreeSet<Version> = declared.map(|it| it.versions.clone()).unwrap_or_default();
    for other in &others {
        rest.retain(|version| !other.versions.contains(version));
    }
    let mut all = Vec::new();
    if declared.is_none() || !rest.is_empty() {
        all.push(PrototypeFacts {
            headers: if rest.is_empty() {
                String::new()
            } else {
                ranges(&rest)
            },
            text: text(&function.ret, &function.args),
            why: None,
        });
    }
    let mut others = others;
    others.sort_by_key(|other| std::cmp::Reverse(other.versions.last().copied()));
    all.extend(others.into_iter().map(|other| PrototypeFacts {
        headers: ranges(&other.versions),
        text: text(&other.ret, &other.args),
        why: Some(other.why.clone()),
    }));
    all
}

fn defaults(tables: &Tables, name: &str) -> Vec<String> {
    let found = tables.defaults.iter().find(|it| it.name == name);
    let args = found.map_or(&[][..], |it| it.args.as_slice());
    args.iter()
        .map(|(arg, value)| format!("{arg} = {value}"))
        .collect()
}

fn entries(tables: &Tables, function: &Function) -> Vec<EntryFacts> {
    let place = tables
        .functions
        .iter()
        .position(|it| it.name == function.name);
    let of_function = tables
        .entries
        .iter()
        .filter(|it| Some(it.function) == place);
    of_function
        .filter_map(|entry| {
            Some(EntryFacts {
                name: entry.name.clone(),
                since: entry.since?.to_string(),
            })
        })
        .collect()
}

impl Translation {
    fn of(tables: &Tables, function: &Function) -> Translation {
        let cell = |headers: Version, runtime: Version| -> &'static str {
            let line = break_of(&tables.breaks, &function.name, headers, runtime);
            let action = line.map(|line| line.action);
            match (action, tables.is_exported(function, runtime)) {
                (Some(Action::Substitute), false) => "replaced",
                (_, false) => "absent",
                (Some(Action::Translate), true) => "translated",
                (Some(Action::Refuse), true) => "refused",
                (Some(Action::Direct | Action::Substitute) | None, true) => "as it is",
            }
        };
        let headers: Vec<Version> = HEADER_VERSIONS
            .iter()
            .copied()
            .filter(|version| tables.is_declared(function, *version))
            .collect();
        // Neighbours that agree are one row, or one column.
        let columns = runs(HEADER_VERSIONS, |runtime| {
            headers.iter().map(|it| cell(*it, runtime)).collect()
        });
        let first = |run: &BTreeSet<Version>| run.first().copied();
        let runtimes: Vec<Version> = columns.iter().filter_map(|(run, _)| first(run)).collect();
        let rows = runs(&headers, |version| {
            runtimes.iter().map(|it| cell(version, *it)).collect()
        });
        let is_plain =
            |row: &(BTreeSet<Version>, Vec<&str>)| row.1.iter().all(|it| *it == "as it is");
        if rows.iter().all(is_plain) {
            return Translation::default();
        }
        let lines = tables
            .breaks
            .iter()
            .filter(|it| it.function == function.name);
        Translation {
            runtimes: columns.iter().map(|(run, _)| ranges(run)).collect(),
            rows: rows
                .into_iter()
                .map(|(run, cells)| TranslationRow {
                    headers: ranges(&run),
                    cells,
                })
                .collect(),
            reasons: lines
                .map(|line| Reason {
                    action: match line.action {
                        Action::Direct => "as it is",
                        Action::Translate => "translated",
                        Action::Refuse => "refused",
                        Action::Substitute => "replaced",
                    },
                    headers: range(line.headers),
                    runtimes: range(line.runtimes),
                    what: line.what.clone(),
                })
                .collect(),
        }
    }
}

/// Versions in order, neighbours with the same answer together.
fn runs(
    versions: &[Version],
    answer: impl Fn(Version) -> Vec<&'static str>,
) -> Vec<(BTreeSet<Version>, Vec<&'static str>)> {
    let mut runs: Vec<(BTreeSet<Version>, Vec<&'static str>)> = Vec::new();
    for &version in versions {
        let answer = answer(version);
        match runs.last_mut() {
            Some((run, before)) if *before == answer => {
                run.insert(version);
            }
            _ => runs.push((BTreeSet::from([version]), answer)),
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(name: &str) -> FunctionFacts {
        let tables = Tables::get();
        FunctionFacts::of(tables, tables.function(name).unwrap())
    }

    #[test]
    fn a_renumbered_enum_is_translated_both_ways() {
        let facts = facts("hipPointerGetAttributes");
        let table = &facts.translation;
        assert_eq!(table.runtimes, ["5.0 to 5.7", "6.0 and newer"]);
        let cells: Vec<_> = table.rows.iter().map(|row| row.cells.clone()).collect();
        assert_eq!(
            cells,
            [["as it is", "translated"], ["translated", "as it is"]]
        );
        let renumbered = facts.renumbered.iter().map(|it| it.name.as_str());
        assert!(
            renumbered
                .collect::<Vec<_>>()
                .contains(&"hipMemoryTypeHost")
        );
    }

    #[test]
    fn a_newer_name_is_replaced_on_older_runtimes_and_renamed_by_macro() {
        let facts = facts("hipGetDevicePropertiesR0600");
        assert_eq!(facts.translation.rows[0].cells, ["replaced", "as it is"]);
        let spelling = &facts.spellings[0];
        assert_eq!(spelling.source, "hipGetDeviceProperties");
        assert_eq!(spelling.how, "by macro since 6.0");
        assert_eq!(facts.absent_from.len(), 2, "{:?}", facts.absent_from);
    }

    #[test]
    fn what_compilers_call_was_always_there() {
        let facts = facts("__hipRegisterFatBinary");
        assert_eq!(facts.header, None);
        assert_eq!(facts.translation, Translation::default());
    }

    #[test]
    fn variants_of_a_name_are_listed() {
        let related = facts("hipMemcpy").related;
        assert_eq!(related, ["hipMemcpy_spt"]);
        let how = &facts("hipMemcpy_spt").spellings[0].how;
        assert!(how.contains("PER_THREAD_DEFAULT_STREAM"), "{how}");
    }

    #[test]
    fn a_function_that_never_changed_has_no_table() {
        let facts = facts("hipMalloc");
        assert_eq!(facts.translation, Translation::default());
        assert!(facts.spellings.iter().any(|it| it.source.contains("T **")));
        assert_eq!(
            facts.prototypes[0].text,
            "hipError_t hipMalloc(void **ptr, size_t size)"
        );
    }

    #[test]
    fn an_older_prototype_says_what_its_difference_means() {
        let facts = facts("hipDrvGraphAddMemsetNode");
        let older = &facts.prototypes[1];
        assert_eq!(older.headers, "6.1 to 6.4");
        assert!(older.why.as_ref().unwrap().starts_with("break: 40-byte"));
        let entries: Vec<&str> = facts.entries.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(
            entries,
            ["hipDrvGraphAddMemsetNode_h6", "hipDrvGraphAddMemsetNode_h7"]
        );
    }
}
