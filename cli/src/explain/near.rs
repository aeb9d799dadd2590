//! What a mistyped name may have meant.

use std::collections::BTreeSet;

use super::tables::Tables;
use crate::rules;

/// How many names are suggested.
const SUGGESTIONS: usize = 3;

/// The known names nearest to one that is not known, the nearest first. Empty if
/// nothing is near.
pub fn near(text: &str) -> Vec<&'static str> {
    let name = &super::unknown(text);
    let wanted = name.to_lowercase();
    // A slip for every four letters, up to three: more make another word.
    let slips = (wanted.chars().count() / 4).clamp(1, 3);
    let mut found: Vec<(usize, &str)> = names()
        .into_iter()
        .filter_map(|known| {
            let lower = known.to_lowercase();
            let distance = strsim::damerau_levenshtein(&wanted, &lower);
            // Half a name is more often a beginning than a slip.
            let begins = wanted.len() >= 6 && lower.contains(&wanted);
            (distance <= slips || begins).then_some((distance, known))
        })
        .collect();
    found.sort_unstable();
    found.truncate(SUGGESTIONS);
    found.into_iter().map(|(_, known)| known).collect()
}

/// Every name that can be explained.
fn names() -> BTreeSet<&'static str> {
    let tables = Tables::get();
    let functions = tables.functions.iter().map(|it| it.name.as_str());
    let records = tables.layouts.iter().map(|it| it.record.as_str());
    let enums = tables.constants.iter().map(|it| it.domain.as_str());
    let enums = enums.filter(|it| !matches!(*it, "macro" | "unnamed"));
    let constants = tables.constants.iter().map(|it| it.name.as_str());
    let macros = tables.macros.iter().map(|it| it.name.as_str());
    let rules = rules::ALL.iter().map(|it| it.id);
    let exports = tables.measured.iter().flat_map(|it| it.names());
    let plain = exports.filter(|it| !it.starts_with("_Z"));
    let texts = tables.errors.iter().map(|it| it.text.as_str());
    let nodes = tables.measured.iter().flat_map(|it| it.nodes());
    functions
        .chain(nodes)
        .chain(texts)
        .chain(records)
        .chain(enums)
        .chain(constants)
        .chain(macros)
        .chain(rules)
        .chain(plain)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_of_the_finger_are_found() {
        for (typed, meant) in [
            ("hipMaloc", "hipMalloc"),
            ("hipmalloc", "hipMalloc"),
            ("hipGetDevicePropertys", "hipGetDeviceProperties"),
            ("hipDeviceProp_tR060", "hipDeviceProp_tR0600"),
            ("bare-exports", "bare-export"),
            ("hip_42", "hip_4.2"),
            ("x.so: undefined symbol: hipMaloc", "hipMalloc"),
            (
                "invalid configuraton argument",
                "invalid configuration argument",
            ),
            ("PointerGetAttributes", "hipPointerGetAttributes"),
        ] {
            assert_eq!(near(typed).first(), Some(&meant), "{typed}");
        }
    }

    #[test]
    fn nothing_is_suggested_for_something_else() {
        assert!(near("cudaGraphicsGLRegisterBuffer").is_empty());
        assert!(near("").is_empty() && near("12345").is_empty());
    }
}
