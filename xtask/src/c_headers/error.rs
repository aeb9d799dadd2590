//! Why the headers could not be written.

use std::fmt;

/// A table that does not fit the types, or a file that cannot be written. The text
/// says which and what helps.
#[derive(Debug)]
pub struct Error(String);

impl Error {
    /// An error with this text.
    pub(crate) fn new(problem: impl Into<String>) -> Error {
        Error(problem.into())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Error {}
