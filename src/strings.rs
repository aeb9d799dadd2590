//! Tables of strings, each ended by a null byte: one piece of bytes without a pointer in it,
//! where a string is known by its beginning.

use core::ffi::CStr;

/// The string that begins at `start`; `None` beyond the end.
pub(crate) fn at(table: &'static [u8], start: impl Into<usize>) -> Option<&'static CStr> {
    let rest = table.get(start.into()..)?;
    if rest.last() != Some(&0) {
        return None;
    }
    // The C library's strlen: binding looks at every name, and core's search for the null
    // byte takes more instructions than finding the function.
    // SAFETY: it is static, and its last byte at the latest is null.
    Some(unsafe { CStr::from_ptr(rest.as_ptr().cast()) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_string_is_known_by_its_beginning() {
        const TABLE: &[u8] = b"one\0\0three\0";
        assert_eq!(at(TABLE, 0u16), Some(c"one"));
        assert_eq!(at(TABLE, 2u16), Some(c"e"));
        assert_eq!(at(TABLE, 4u16), Some(c""));
        assert_eq!(at(TABLE, 5u16), Some(c"three"));
        assert_eq!(at(TABLE, 11u16), None);
        assert_eq!(at(TABLE, 12u16), None);
        assert_eq!(at(b"open", 0u16), None);
    }
}
