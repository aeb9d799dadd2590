//! The record of one search: every candidate in its order, with what became of it.

use core::ffi::CStr;

use crate::intern::intern;
use crate::text::Text;

/// Bytes of a report; longer ones are cut, and say so.
pub(crate) const REPORT_SIZE: usize = 9 * 1024;

/// The record while it is written.
pub(crate) struct Report<'a> {
    text: Text<'a>,
    candidates: u64,
}

impl<'a> Report<'a> {
    pub(crate) fn new(buffer: &'a mut [u8]) -> Self {
        Report {
            text: Text::new(buffer),
            candidates: 0,
        }
    }

    /// One candidate and why it was not taken.
    pub(crate) fn refused(&mut self, how: &str, file: &CStr, reason: &[u8]) {
        self.candidates += 1;
        self.text
            .str("  ")
            .number(self.candidates)
            .str(". ")
            .str(how)
            .str(": ")
            .c_str(file);
        self.text.str(": ").push(reason).str("\n");
    }

    /// A line of its own.
    pub(crate) fn note(&mut self, line: &str) {
        self.text.str("  ").str(line).str("\n");
    }

    /// The finished record, kept for good.
    pub(crate) fn finish(&self) -> &'static CStr {
        let text = self.text.bytes();
        let text = text.strip_suffix(b"\n").unwrap_or(text);
        intern(text).unwrap_or(c"  (no memory to keep what was tried)")
    }
}
