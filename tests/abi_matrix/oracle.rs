//! What is to arrive, by the manifest's tables alone. No translator is asked.

use std::ops::Range;

use hiplazy_abi::Version;

/// Whether hiplazy may answer with an error in place of passing a call on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Refusal {
    /// Everything has a counterpart.
    Never,
    /// A constant has none: its number may also be passed on if it means nothing there.
    May,
    /// Something would be lost.
    Must,
}

/// What some bytes are to be.
#[derive(Debug, Clone)]
pub(crate) enum Wanted {
    /// One of these.
    OneOf(Vec<Vec<u8>>),
    /// A number without a name in this enum and version, or one of these.
    Unnamed(String, Version, Vec<Vec<u8>>),
    /// What is in the passed buffer of this argument from this offset on: an address.
    Passed(usize, usize),
}

/// A field, and what it is to be.
#[derive(Debug, Clone)]
pub(crate) struct Expected {
    pub(crate) field: String,
    pub(crate) bytes: Range<usize>,
    pub(crate) wanted: Wanted,
}

/// One value.
pub(crate) fn one(field: &str, bytes: Range<usize>, wanted: Wanted) -> Vec<Expected> {
    vec![Expected {
        field: field.to_string(),
        bytes,
        wanted,
    }]
}

/// These bytes, all of them.
pub(crate) fn exactly(bytes: &[u8]) -> Vec<Expected> {
    let wanted = Wanted::OneOf(vec![bytes.to_vec()]);
    one("all of it", 0..bytes.len(), wanted)
}

/// Little-endian bytes of a number.
pub(crate) fn number(value: u64, size: usize) -> Vec<u8> {
    value.to_le_bytes()[..size].to_vec()
}
