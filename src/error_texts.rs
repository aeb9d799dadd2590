//! Error names and texts, as the real runtime gives them (`abi/errors.txt`).

use core::ffi::{CStr, c_int};

use crate::strings;

include!(concat!(env!("OUT_DIR"), "/error_texts.rs"));

/// Name and text of a `hipError_t`.
pub(crate) fn hip(code: c_int) -> (&'static CStr, &'static CStr) {
    texts(&HIP, HIP_OTHER, code)
}

/// Name and text of a `hiprtcResult`.
pub(crate) fn hiprtc(code: c_int) -> (&'static CStr, &'static CStr) {
    texts(&HIPRTC, HIPRTC_OTHER, code)
}

/// `table` has codes, each with the place of its name.
fn texts(table: &[[u16; 2]], other: u16, code: c_int) -> (&'static CStr, &'static CStr) {
    let known = table.iter().find(|[known, _]| c_int::from(*known) == code);
    let start = usize::from(known.map_or(other, |[_, start]| *start));
    let name = text(start);
    (name, text(start + name.count_bytes() + 1))
}

fn text(start: usize) -> &'static CStr {
    strings::at(TEXTS, start).unwrap_or(c"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_the_text_of_the_manifest() {
        use hiplazy_abi::{Code, Domain};
        for entry in hiplazy_abi::parse_errors(hiplazy_abi::ERRORS_TXT).unwrap() {
            let code = match entry.code {
                Code::Known(code) => code,
                Code::Other => -12345,
            };
            let (name, text) = match entry.domain {
                Domain::Hip => hip(code),
                Domain::Rtc => hiprtc(code),
            };
            assert_eq!(name.to_str(), Ok(entry.name.as_str()));
            assert_eq!(text.to_str(), Ok(entry.text.as_str()));
        }
    }
}
