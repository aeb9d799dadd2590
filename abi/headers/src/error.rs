//! Why headers could not be read.

use std::fmt;

/// A header that is missing or does not compile, or a type that has no place in the
/// manifest. The text says which and what helps.
#[derive(Debug)]
pub struct Error(String);

impl Error {
    /// An error with this text.
    pub fn new(problem: impl Into<String>) -> Error {
        Error(problem.into())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Error {}
