//! The entries of the slot table by number, which is their place in it.
//!
//! An entry is a function of the manifest under its link name, or one of its generations:
//! the same function for callers with headers of certain versions.

use core::ffi::CStr;

use crate::breaks::{self, Rule, Version};
use crate::loaded::Library;

/// What a function returns, which decides how it fails.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Class {
    /// `hipError_t`
    Error,
    /// `hiprtcResult`
    Rtc,
    /// `hsa_status_t`
    Hsa,
    /// `const char *`
    String,
    Pointer,
    Bool,
    Int,
    Void,
    /// A struct by value.
    Struct,
}

struct Entry {
    /// Where its name begins in `NAMES`.
    name: u16,
    /// Where its node begins in `NODES`; out of range if it has none.
    node: u16,
    class: Class,
    library: Library,
    /// Major and minor version of the first header that declares it, or zeros.
    first: [u8; 2],
    /// The first version of the headers that this entry is for; 0 if they are found out.
    since: u16,
    /// Where its rules begin in the table of `breaks`.
    rules: u16,
    rule_count: u8,
    /// The translator that stands in where the runtime lacks it; out of range for none.
    substitute: u8,
}

include!(concat!(env!("OUT_DIR"), "/function_tables.rs"));

fn string(texts: &'static [u8], start: u16) -> Option<&'static CStr> {
    CStr::from_bytes_until_nul(texts.get(usize::from(start)..)?).ok()
}

/// The link name of function `index`.
pub(crate) fn name(index: usize) -> Option<&'static CStr> {
    string(NAMES, FUNCTIONS.get(index)?.name)
}

/// The version node that it is exported on.
pub(crate) fn node(index: usize) -> Option<&'static CStr> {
    string(NODES, FUNCTIONS.get(index)?.node).filter(|node| !node.is_empty())
}

pub(crate) fn class(index: usize) -> Class {
    FUNCTIONS
        .get(index)
        .map_or(Class::Error, |entry| entry.class)
}

pub(crate) fn library(index: usize) -> Library {
    FUNCTIONS
        .get(index)
        .map_or(Library::Hip, |entry| entry.library)
}

/// Major and minor version of the first HIP headers that declare it.
pub(crate) fn first_header(index: usize) -> Option<(u8, u8)> {
    match FUNCTIONS.get(index)?.first {
        [0, 0] => None,
        [major, minor] => Some((major, minor)),
    }
}

/// The first version of the headers that entry `index` is for; 0 if it is for callers of
/// whatever version.
pub(crate) fn since(index: usize) -> Version {
    FUNCTIONS.get(index).map_or(0, |entry| entry.since)
}

/// What is done for which headers on which runtime.
pub(crate) fn rules(index: usize) -> &'static [Rule] {
    FUNCTIONS
        .get(index)
        .map_or(&[], |entry| breaks::rules(entry.rules, entry.rule_count))
}

/// What stands in for it where the runtime lacks it.
pub(crate) fn substitute(index: usize) -> Option<u8> {
    let substitute = FUNCTIONS.get(index)?.substitute;
    (substitute != u8::MAX).then_some(substitute)
}

/// The entry of function `index` for callers with headers of version `headers`; the plain
/// one if that is 0, which is unknown.
pub(crate) fn entry_for(index: usize, headers: Version) -> usize {
    if headers == 0 {
        return index;
    }
    let name = FUNCTIONS.get(index).map(|entry| entry.name);
    let generations = || {
        let entries = FUNCTIONS.iter().enumerate();
        entries.filter(|(_, entry)| Some(entry.name) == name && entry.since != 0)
    };
    let newest = generations()
        .filter(|(_, entry)| entry.since <= headers)
        .max_by_key(|(_, entry)| entry.since);
    // Older than the first that are known to declare it.
    let earliest = || generations().min_by_key(|(_, entry)| entry.since);
    newest.or_else(earliest).map_or(index, |(place, _)| place)
}

/// The number of the function with this link name.
pub(crate) fn find(link_name: &CStr) -> Option<usize> {
    let found = BY_NAME.binary_search_by(|index| name((*index).into()).cmp(&Some(link_name)));
    BY_NAME.get(found.ok()?).map(|index| (*index).into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use hiplazy_abi::{entries, parse_breaks, parse_functions, parse_slots};

    #[test]
    fn the_tables_agree_with_the_manifest() {
        let manifest = parse_functions(hiplazy_abi::FUNCTIONS_TXT).unwrap();
        let breaks = parse_breaks(hiplazy_abi::BREAKS_TXT).unwrap();
        let slots = parse_slots(hiplazy_abi::SLOTS_TXT).unwrap();
        let entries = entries(&manifest, &breaks);
        assert_eq!((entries.len(), slots.entries().len()), (COUNT, COUNT));
        for (index, place) in slots.entries().iter().enumerate() {
            let entry = entries.iter().find(|entry| entry.name == *place).unwrap();
            let function = &manifest[entry.function];
            assert_eq!(name(index).unwrap().to_str(), Ok(function.name.as_str()));
            let node = node(index).map(|node| node.to_str().unwrap());
            assert_eq!(node, function.node.as_deref(), "{}", function.name);
            let first = first_header(index).map(|(major, minor)| (major.into(), minor.into()));
            assert_eq!(
                first,
                function.first.map(|first| (first.major, first.minor))
            );
            let generation = entry
                .since
                .map_or(0, |since| since.major * 100 + since.minor);
            assert_eq!(u32::from(since(index)), generation, "{place}");
            let plain = find(name(index).unwrap()).unwrap();
            assert_eq!(slots.entries()[plain], function.name);
            let lines = breaks.iter().filter(|line| line.function == function.name);
            let substitute = usize::from(self::substitute(index).is_some());
            assert_eq!(rules(index).len() + substitute, lines.count(), "{place}");
        }
        assert!(name(COUNT).is_none() && node(COUNT).is_none());
        for absent in [
            c"",
            c"hip",
            c"hipMallo",
            c"hipMallocX",
            c"hipMemCreate_h5",
            c"~",
        ] {
            assert_eq!(find(absent), None, "{absent:?}");
        }
    }

    #[test]
    fn a_caller_is_led_to_the_generation_of_its_headers() {
        let place = |name: &str| {
            let slots = parse_slots(hiplazy_abi::SLOTS_TXT).unwrap();
            slots
                .entries()
                .iter()
                .position(|entry| entry == name)
                .unwrap()
        };
        let plain = place("hipDeviceGetAttribute");
        for (headers, entry) in [
            (0, "hipDeviceGetAttribute"),
            (502, "hipDeviceGetAttribute_h5"),
            (604, "hipDeviceGetAttribute_h6"),
            (700, "hipDeviceGetAttribute_h7"),
            (714, "hipDeviceGetAttribute_h71"),
            (405, "hipDeviceGetAttribute_h5"),
        ] {
            assert_eq!(entry_for(plain, headers), place(entry));
        }
        let malloc = place("hipMalloc");
        assert_eq!(entry_for(malloc, 714), malloc);
    }
}
