//! Text in a fixed buffer: for messages, paths and the log.
//!
//! `core::fmt` is not used in this library: it can panic and it is large. What
//! does not fit is cut, and the cut is marked.

use core::ffi::{CStr, c_char};

const CUT: &[u8] = b" [...]";

/// Bytes in a borrowed buffer, always followed by a NUL.
pub(crate) struct Text<'a> {
    buffer: &'a mut [u8],
    len: usize,
    cut: bool,
}

impl<'a> Text<'a> {
    /// An empty text in `buffer`. A buffer of no bytes holds nothing but is safe.
    pub(crate) fn new(buffer: &'a mut [u8]) -> Self {
        if let Some(first) = buffer.first_mut() {
            *first = 0;
        }
        Text {
            buffer,
            len: 0,
            cut: false,
        }
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) -> &mut Self {
        if self.cut {
            return self;
        }
        let reserved = CUT.len() + 1;
        if self.len + bytes.len() + reserved <= self.buffer.len() {
            self.write(bytes);
            return self;
        }
        self.cut = true;
        let room = self.buffer.len().saturating_sub(self.len + reserved);
        self.write(bytes.get(..room).unwrap_or(b""));
        self.write(CUT);
        self
    }

    /// Appends all of `bytes` if there is room for them and a NUL.
    fn write(&mut self, bytes: &[u8]) {
        let end = self.len + bytes.len();
        if let Some([place @ .., nul]) = self.buffer.get_mut(self.len..=end) {
            place.copy_from_slice(bytes);
            *nul = 0;
            self.len = end;
        }
    }

    pub(crate) fn str(&mut self, text: &str) -> &mut Self {
        self.push(text.as_bytes())
    }

    pub(crate) fn c_str(&mut self, text: &CStr) -> &mut Self {
        self.push(text.to_bytes())
    }

    pub(crate) fn number(&mut self, mut value: u64) -> &mut Self {
        let mut digits = [0u8; 20];
        let mut start = digits.len();
        for (index, digit) in digits.iter_mut().enumerate().rev() {
            *digit = b'0' + (value % 10) as u8;
            value /= 10;
            start = index;
            if value == 0 {
                break;
            }
        }
        let (_, used) = digits.split_at_checked(start).unwrap_or((&[], &[]));
        self.push(used)
    }

    /// The text so far.
    pub(crate) fn bytes(&self) -> &[u8] {
        self.buffer.get(..self.len).unwrap_or(b"")
    }

    /// Forgets everything after the first `len` bytes, so that a buffer can be
    /// used for the next path of a folder.
    pub(crate) fn truncate(&mut self, len: usize) {
        if len <= self.len {
            self.len = len;
            self.cut = false;
            if let Some(nul) = self.buffer.get_mut(len) {
                *nul = 0;
            }
        }
    }

    /// Bytes that can still be pushed; 0 once something was cut.
    pub(crate) fn room(&self) -> usize {
        if self.cut {
            return 0;
        }
        self.buffer.len().saturating_sub(self.len + CUT.len() + 1)
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The text as a C string. It ends at its first NUL.
    pub(crate) fn as_c_str(&self) -> *const c_char {
        if self.buffer.is_empty() {
            return c"".as_ptr();
        }
        self.buffer.as_ptr().cast()
    }

    /// The text as a path for the C library; `None` if it was cut, and so is not
    /// the path that was meant.
    pub(crate) fn path(&self) -> Option<&CStr> {
        if self.cut {
            return None;
        }
        CStr::from_bytes_until_nul(self.buffer).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_decimal() {
        for (value, expected) in [(0, "0"), (7, "7"), (71460850, "71460850")] {
            let mut buffer = [0; 64];
            let mut text = Text::new(&mut buffer);
            text.number(value);
            assert_eq!(text.bytes(), expected.as_bytes());
        }
        let mut buffer = [0; 64];
        let mut text = Text::new(&mut buffer);
        text.number(u64::MAX);
        assert_eq!(text.bytes(), b"18446744073709551615");
    }

    #[test]
    fn what_does_not_fit_is_cut_and_marked() {
        let mut buffer = [0xff; 16];
        let mut text = Text::new(&mut buffer);
        text.str("0123456789abcdef").str("more");
        assert_eq!(text.bytes(), b"012345678 [...]");
        assert!(text.path().is_none());
        assert_eq!(buffer[15], 0);
    }

    #[test]
    fn every_buffer_is_safe() {
        for size in 0..8 {
            let mut buffer = [0xff; 8];
            let mut text = Text::new(&mut buffer[..size]);
            text.str("hiplazy").number(5);
            assert!(text.bytes().len() < size.max(1));
        }
    }

    #[test]
    fn a_folder_is_kept_for_the_next_name() {
        let mut buffer = [0; 32];
        let mut text = Text::new(&mut buffer);
        text.str("/opt/rocm/lib/");
        let folder = text.len();
        text.str("a-name-too-long-for-the-buffer");
        text.truncate(folder);
        text.str("b");
        assert_eq!(
            text.path().map(CStr::to_bytes),
            Some(&b"/opt/rocm/lib/b"[..])
        );
    }
}
