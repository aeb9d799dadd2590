//! Error codes with the names and texts of the real runtime.

use crate::row::{ParseError, rows};

const COLUMNS: &[&str] = &["enum", "code", "name", "text"];

/// An error code and what the real runtime says about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErrorCode {
    /// Whose code it is.
    pub domain: Domain,
    /// The code, or the entry that stands for every other code.
    pub code: Code,
    /// What `hipGetErrorName` answers; hiprtc has no such function and the name
    /// is the enumerator.
    pub name: String,
    /// What `hipGetErrorString` or `hiprtcGetErrorString` answers.
    pub text: String,
}

/// The enumeration that a code belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Domain {
    /// `hipError_t`.
    Hip,
    /// `hiprtcResult`.
    Rtc,
}

/// A known code or all unknown ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Code {
    /// This enumerator's value.
    Known(i32),
    /// Every value without an entry of its own.
    Other,
}

/// Reads the table of error codes.
///
/// # Errors
///
/// The first line that does not follow the format or repeats a code.
pub fn parse_errors(text: &str) -> Result<Vec<ErrorCode>, ParseError> {
    let mut codes: Vec<ErrorCode> = Vec::new();
    for row in rows(text, COLUMNS) {
        let row = row?;
        let domain = match row.get(0) {
            "hip" => Domain::Hip,
            "rtc" => Domain::Rtc,
            other => return Err(row.error(0, format!("\"{other}\" is none of hip, rtc"))),
        };
        let code =
            match row.get(1) {
                "*" => Code::Other,
                number => Code::Known(number.parse().map_err(|_| {
                    row.error(1, format!("\"{number}\" is neither a number nor *"))
                })?),
            };
        if codes.iter().any(|c| c.domain == domain && c.code == code) {
            return Err(row.error(1, format!("{} has an entry already", row.get(1))));
        }
        codes.push(ErrorCode {
            domain,
            code,
            name: row.get(2).to_string(),
            text: row.get(3).to_string(),
        });
    }
    Ok(codes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_and_the_rest() {
        let codes = parse_errors(
            "# comment\nhip | 2 | hipErrorOutOfMemory | out of memory\nhip | * | hipErrorUnknown | unknown error\n",
        )
        .unwrap();
        assert_eq!(codes[0].code, Code::Known(2));
        assert_eq!(codes[0].text, "out of memory");
        assert_eq!(codes[1].code, Code::Other);
    }

    #[test]
    fn a_repeated_code_is_refused() {
        let line = "rtc | 0 | HIPRTC_SUCCESS | HIPRTC_SUCCESS";
        let error = parse_errors(&format!("{line}\n{line}")).unwrap_err();
        assert_eq!((error.line(), error.column()), (2, "code"));
    }
}
