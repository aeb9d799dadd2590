//! The record of one search: every candidate in its order, with what became of it.

use core::ffi::CStr;

use crate::intern::intern;
use crate::text::Text;

/// Bytes of a report. Very long ones lose candidates, never the advice at their end.
pub(crate) const REPORT_SIZE: usize = 9 * 1024;

/// Bytes kept free for notes while candidates are written.
const NOTES_SIZE: usize = 512;

/// Longest part of a path that is shown.
const SHOWN_PATH: usize = 512;

/// The record while it is written.
pub(crate) struct Report<'a> {
    text: Text<'a>,
    candidates: u64,
    /// Candidates for which there was no room.
    unwritten: u64,
}

impl<'a> Report<'a> {
    pub(crate) fn new(buffer: &'a mut [u8]) -> Self {
        Report {
            text: Text::new(buffer),
            candidates: 0,
            unwritten: 0,
        }
    }

    /// One candidate and why it was not taken.
    pub(crate) fn refused(&mut self, how: &str, file: &CStr, reason: &[u8]) {
        self.candidates += 1;
        let start = self.text.len();
        self.text
            .str("  ")
            .number(self.candidates)
            .str(". ")
            .str(how)
            .str(": ");
        let file = file.to_bytes();
        match file.get(..SHOWN_PATH) {
            Some(part) => self.text.push(part).str("[...]"),
            None => self.text.push(file),
        };
        self.text.str(": ").push(reason).str("\n");
        if self.text.room() < NOTES_SIZE {
            self.text.truncate(start);
            self.unwritten += 1;
        }
    }

    /// A line of its own.
    pub(crate) fn note(&mut self, line: &str) {
        self.text.str("  ").str(line).str("\n");
    }

    /// The finished record, kept for good.
    pub(crate) fn finish(&mut self) -> &'static CStr {
        if self.unwritten > 0 {
            self.text.str("  (and ").number(self.unwritten);
            self.text.str(" more candidates)\n");
        }
        let text = self.text.bytes();
        let text = text.strip_suffix(b"\n").unwrap_or(text);
        intern(text).unwrap_or(c"  (no memory to keep what was tried)")
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::string::String;

    fn written(candidates: usize, file: &CStr, reason: &[u8]) -> String {
        let mut buffer = std::vec![0; REPORT_SIZE];
        let mut report = Report::new(&mut buffer);
        for _ in 0..candidates {
            report.refused("ld.so", file, reason);
        }
        report.note("Install ROCm.");
        String::from_utf8(report.finish().to_bytes().to_vec()).unwrap()
    }

    #[test]
    fn candidates_are_numbered_and_the_note_comes_last() {
        let text = written(2, c"libamdhip64.so.7", b"no such file");
        let expected = "  1. ld.so: libamdhip64.so.7: no such file\n  \
                        2. ld.so: libamdhip64.so.7: no such file\n  Install ROCm.";
        assert_eq!(text, expected);
    }

    #[test]
    fn however_long_the_paths_the_reason_and_the_advice_stay() {
        let path = std::ffi::CString::new("/x".repeat(6000)).unwrap();
        let text = written(1, &path, b"no such file");
        assert!(
            text.contains("[...]: no such file\n  Install ROCm."),
            "{text}"
        );
        let text = written(100, &path, &[b'y'; 900]);
        assert!(text.contains("  Install ROCm.\n  (and 9"), "{text}");
        assert!(text.len() < REPORT_SIZE);
    }
}
