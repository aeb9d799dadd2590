//! The manifest's functions by number, which is their place in the slot table.

use core::ffi::CStr;

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

/// The number of the function with this link name.
pub(crate) fn find(link_name: &CStr) -> Option<usize> {
    let found = BY_NAME.binary_search_by(|index| name((*index).into()).cmp(&Some(link_name)));
    BY_NAME.get(found.ok()?).map(|index| (*index).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_agree_with_the_manifest() {
        let manifest = hiplazy_abi::parse_functions(hiplazy_abi::FUNCTIONS_TXT).unwrap();
        let slots = hiplazy_abi::parse_slots(hiplazy_abi::SLOTS_TXT).unwrap();
        assert_eq!((manifest.len(), slots.entries().len()), (COUNT, COUNT));
        for (index, entry) in slots.entries().iter().enumerate() {
            let mut functions = manifest.iter();
            let function = functions.find(|function| function.name == *entry).unwrap();
            assert_eq!(name(index).unwrap().to_str(), Ok(function.name.as_str()));
            let node = node(index).map(|node| node.to_str().unwrap());
            assert_eq!(node, function.node.as_deref(), "{}", function.name);
            let first = first_header(index).map(|(major, minor)| (major.into(), minor.into()));
            assert_eq!(
                first,
                function.first.map(|first| (first.major, first.minor))
            );
            assert_eq!(find(name(index).unwrap()), Some(index));
        }
        assert!(name(COUNT).is_none() && node(COUNT).is_none());
        for absent in [c"", c"hip", c"hipMallo", c"hipMallocX", c"~"] {
            assert_eq!(find(absent), None, "{absent:?}");
        }
    }
}
