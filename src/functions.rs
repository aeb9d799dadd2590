//! The entries of the slot table by number, which is their place in it.
//!
//! An entry is a function of the manifest under its link name, or one of its generations:
//! the same function for callers with headers of certain versions.

use core::ffi::CStr;

use crate::breaks::{self, Rule, Version};
use crate::loaded::Library;
use crate::strings;

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

/// What many functions have in common.
struct Traits {
    /// Where the version node begins in `NODES`; out of range if there is none.
    node: u16,
    class: Class,
    library: Library,
    /// Major and minor version of the first header that declares it, or zeros.
    first: [u8; 2],
}

/// A function for which something is done on some runtimes, or that is needed for that.
struct Changed {
    /// Where its name begins in `NAMES`.
    name: u16,
    /// Its number; out of range if there is no entry for it.
    function: u16,
    /// Where its rules begin in the table of `breaks`.
    rules: u8,
    rule_count: u8,
    /// The translator that stands in where the runtime lacks it; out of range for none.
    substitute: u8,
}

include!(concat!(env!("OUT_DIR"), "/function_tables.rs"));

/// The function that entry `index` is for.
fn function(index: usize) -> Option<usize> {
    FUNCTION_OF.get(index).copied().map(usize::from)
}

fn traits(function: usize) -> Option<&'static Traits> {
    TRAITS.get(usize::from(*TRAITS_OF.get(function)?))
}

fn node_of(function: usize) -> Option<&'static CStr> {
    strings::at(NODES, traits(function)?.node)
}

/// The link name of function `index`.
pub(crate) fn name(index: usize) -> Option<&'static CStr> {
    strings::at(NAMES, *NAME_STARTS.get(function(index)?)?)
}

/// The version node that it is exported on.
pub(crate) fn node(index: usize) -> Option<&'static CStr> {
    node_of(function(index)?)
}

pub(crate) fn class(index: usize) -> Class {
    let traits = function(index).and_then(traits);
    traits.map_or(Class::Error, |traits| traits.class)
}

pub(crate) fn library(index: usize) -> Library {
    let traits = function(index).and_then(traits);
    traits.map_or(Library::Hip, |traits| traits.library)
}

/// Major and minor version of the first HIP headers that declare it.
pub(crate) fn first_header(index: usize) -> Option<(u8, u8)> {
    match traits(function(index)?)?.first {
        [0, 0] => None,
        [major, minor] => Some((major, minor)),
    }
}

/// The first version of the headers that entry `index` is for; 0 if it is for callers of
/// whatever version.
pub(crate) fn since(index: usize) -> Version {
    let generation = index.checked_sub(FIRST_GENERATION);
    let since = generation.and_then(|generation| SINCE.get(generation));
    since.copied().unwrap_or(0)
}

/// The number, among those of [`changed_name`], of the function that entry `index` is for.
pub(crate) fn changed(index: usize) -> Option<u8> {
    let number = *CHANGED_OF.get(function(index)?)?;
    (number != u8::MAX).then_some(number)
}

fn changed_row(index: usize) -> Option<&'static Changed> {
    CHANGED.get(usize::from(changed(index)?))
}

/// What is done for which headers on which runtime.
pub(crate) fn rules(index: usize) -> &'static [Rule] {
    changed_row(index).map_or(&[], |row| breaks::rules(row.rules, row.rule_count))
}

/// What stands in for it where the runtime lacks it.
pub(crate) fn substitute(index: usize) -> Option<u8> {
    changed_row(index)?.substitute()
}

impl Changed {
    fn substitute(&self) -> Option<u8> {
        (self.substitute != u8::MAX).then_some(self.substitute)
    }
}

/// The link name of a function that breaks or their translators name, by its number.
pub(crate) fn changed_name(number: u8) -> Option<&'static CStr> {
    strings::at(NAMES, CHANGED.get(usize::from(number))?.name)
}

/// The version node that it is exported on, if any; `None` if there is no entry for it.
pub(crate) fn changed_entry(number: u8) -> Option<Option<&'static CStr>> {
    let function = CHANGED.get(usize::from(number))?.function.into();
    (function < FUNCTION_COUNT).then(|| node_of(function))
}

/// Whether something stands in for it where the runtime lacks it.
pub(crate) fn has_substitute(number: u8) -> bool {
    let row = CHANGED.get(usize::from(number));
    row.and_then(Changed::substitute).is_some()
}

/// The entry of function `index` for callers with headers of version `headers`; the plain
/// one if that is 0, which is unknown.
pub(crate) fn entry_for(index: usize, headers: Version) -> usize {
    if headers == 0 {
        return index;
    }
    let function = FUNCTION_OF.get(index);
    let generations = || {
        let entries = FUNCTION_OF.iter().enumerate().skip(FIRST_GENERATION);
        let entries = entries.filter(|(_, of)| Some(*of) == function);
        let entries = entries.map(|(place, _)| (place, since(place)));
        entries.filter(|(_, since)| *since != 0)
    };
    let newest = generations()
        .filter(|(_, since)| *since <= headers)
        .max_by_key(|(_, since)| *since);
    // Older than the first that are known to declare it.
    let earliest = || generations().min_by_key(|(_, since)| *since);
    newest.or_else(earliest).map_or(index, |(place, _)| place)
}

/// The number of the function with this link name: its entry for callers of whatever version.
pub(crate) fn find(link_name: &CStr) -> Option<usize> {
    let name = |start: &u16| strings::at(NAMES, *start);
    let found = NAME_STARTS.binary_search_by(|start| name(start).cmp(&Some(link_name)));
    let found = found.ok()?;
    (0..COUNT).find(|index| function(*index) == Some(found) && since(*index) == 0)
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
