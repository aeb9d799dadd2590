//! What the slot table has entries for.

use crate::breaks::{Action, Break};
use crate::function::Function;
use crate::history::HEADER_VERSIONS;
use crate::version::Version;

/// One entry of the slot table: a function, for callers of whatever headers or for those
/// of one generation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The link name, followed by the generation: `hipMemCreate_h53` is for callers with
    /// headers of HIP 5.3 and newer, up to the next generation of that function.
    pub name: String,
    /// The function's place in the list that the entries were made from.
    pub function: usize,
    /// The first headers of the generation that declare the function; `None` for the
    /// entry under the link name, whose callers' headers are found out when it is bound.
    pub since: Option<Version>,
}

/// The entries of all functions: each under its link name, then those for generations of
/// headers, where `breaks` tells generations of a function apart.
pub fn entries(functions: &[Function], breaks: &[Break]) -> Vec<Entry> {
    let plain = functions.iter().enumerate().map(|(function, row)| Entry {
        name: row.name.clone(),
        function,
        since: None,
    });
    let generations = functions.iter().enumerate().flat_map(|(function, row)| {
        generations(row, breaks)
            .into_iter()
            .map(move |(suffix, since)| Entry {
                name: format!("{}_{suffix}", row.name),
                function,
                since: Some(since),
            })
    });
    plain.chain(generations).collect()
}

/// The entry that a caller with headers of `version` is to call, by its place in
/// `entries`, which are all of one list of functions.
pub fn entry_for(entries: &[Entry], function: usize, version: Version) -> Option<usize> {
    let of_function = |entry: &&Entry| entry.function == function;
    let generation = entries
        .iter()
        .filter(of_function)
        .filter(|entry| entry.since.is_some_and(|since| since <= version))
        .max_by_key(|entry| entry.since)
        // Older headers than the first that are known to declare it.
        .or_else(|| {
            let generations = entries.iter().filter(of_function);
            let generations = generations.filter(|entry| entry.since.is_some());
            generations.min_by_key(|entry| entry.since)
        });
    let entry = generation.or_else(|| entries.iter().find(of_function))?;
    entries.iter().position(|candidate| candidate == entry)
}

/// The generations of headers that `breaks` tells apart for a function, each with what its
/// entries' names end in: none if there is only one.
fn generations(function: &Function, breaks: &[Break]) -> Vec<(String, Version)> {
    let first = function.first.unwrap_or(Version::new(0, 0));
    let of_function =
        |line: &&Break| line.function == function.name && line.action != Action::Substitute;
    let mut lines = breaks.iter().filter(of_function);
    if lines.all(|line| line.action == Action::Direct) {
        return Vec::new();
    }
    let mut bounds: Vec<Version> = breaks
        .iter()
        .filter(of_function)
        .flat_map(|line| [Some(line.headers.first), line.headers.last.and_then(after)])
        .flatten()
        .filter(|bound| *bound > first)
        .collect();
    bounds.sort_unstable();
    bounds.dedup();
    if bounds.is_empty() {
        return Vec::new();
    }
    let earliest = (format!("h{}", first.major), first);
    let later = bounds.into_iter().map(|bound| {
        let suffix = match bound.minor {
            0 => format!("h{}", bound.major),
            minor => format!("h{}{minor}", bound.major),
        };
        (suffix, bound)
    });
    std::iter::once(earliest).chain(later).collect()
}

/// The first known version after `last`.
fn after(last: Version) -> Option<Version> {
    HEADER_VERSIONS
        .iter()
        .copied()
        .filter(|version| *version > last)
        .min()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BREAKS_TXT, FUNCTIONS_TXT, parse_breaks, parse_functions};

    fn all() -> (Vec<Function>, Vec<Entry>) {
        let functions = parse_functions(FUNCTIONS_TXT).unwrap();
        let entries = entries(&functions, &parse_breaks(BREAKS_TXT).unwrap());
        (functions, entries)
    }

    fn names_of(function: &str) -> Vec<String> {
        let (_, entries) = all();
        let names = entries.into_iter().map(|entry| entry.name);
        let generation = format!("{function}_h");
        names
            .filter(|name| name == function || name.starts_with(&generation))
            .collect()
    }

    #[test]
    fn a_function_has_an_entry_for_each_generation_of_its_headers() {
        assert_eq!(names_of("hipMalloc"), ["hipMalloc"]);
        assert_eq!(
            names_of("hipDrvGraphAddMemsetNode"),
            [
                "hipDrvGraphAddMemsetNode",
                "hipDrvGraphAddMemsetNode_h6",
                "hipDrvGraphAddMemsetNode_h7"
            ]
        );
        assert_eq!(
            names_of("hipGraphNodeGetType"),
            [
                "hipGraphNodeGetType",
                "hipGraphNodeGetType_h5",
                "hipGraphNodeGetType_h53",
                "hipGraphNodeGetType_h55"
            ]
        );
        // By its own name for callers of every version.
        assert_eq!(
            names_of("hipGetDevicePropertiesR0600"),
            ["hipGetDevicePropertiesR0600"]
        );
    }

    #[test]
    fn a_caller_finds_the_entry_of_its_headers() {
        let (functions, entries) = all();
        let entry = |function: &str, major, minor| {
            let function = functions.iter().position(|row| row.name == function);
            let place = entry_for(&entries, function.unwrap(), Version::new(major, minor));
            entries[place.unwrap()].name.clone()
        };
        assert_eq!(entry("hipMalloc", 7, 1), "hipMalloc");
        assert_eq!(
            entry("hipDeviceGetAttribute", 5, 2),
            "hipDeviceGetAttribute_h5"
        );
        assert_eq!(
            entry("hipDeviceGetAttribute", 6, 4),
            "hipDeviceGetAttribute_h6"
        );
        assert_eq!(
            entry("hipDeviceGetAttribute", 7, 0),
            "hipDeviceGetAttribute_h7"
        );
        assert_eq!(
            entry("hipDeviceGetAttribute", 7, 14),
            "hipDeviceGetAttribute_h71"
        );
        assert_eq!(
            entry("hipDrvGraphAddMemsetNode", 5, 7),
            "hipDrvGraphAddMemsetNode_h6"
        );
    }
}
