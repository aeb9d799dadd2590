//! Why a thing could not be had.

use std::fmt;

/// A thing that is not there: what was tried, in order, and why each failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    thing: String,
    tried: Vec<String>,
}

impl Missing {
    pub(crate) fn new(thing: impl Into<String>, tried: impl Into<String>) -> Missing {
        Missing {
            thing: thing.into(),
            tried: vec![tried.into()],
        }
    }

    /// Adds an earlier attempt in front.
    pub(crate) fn after(mut self, earlier: &Missing) -> Missing {
        self.tried.splice(0..0, earlier.tried.iter().cloned());
        self
    }

    /// The name of the thing.
    pub fn thing(&self) -> &str {
        &self.thing
    }

    /// One line per attempt, in order.
    pub fn tried(&self) -> &[String] {
        &self.tried
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} is missing: {}",
            self.thing,
            self.tried.join("; then ")
        )
    }
}

impl std::error::Error for Missing {}
