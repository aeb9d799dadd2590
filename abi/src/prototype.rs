//! Prototypes that some headers declare otherwise than the manifest.

use std::collections::BTreeSet;

use crate::function::Arg;
use crate::history::parse_ranges;
use crate::row::{ParseError, rows};
use crate::version::Version;

const COLUMNS: &[&str] = &[
    "link name",
    "header versions",
    "return type",
    "arguments",
    "why",
];

/// Another prototype of a function, and the headers that declare it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prototype {
    /// The ELF link name.
    pub name: String,
    /// The header versions that declare the function so.
    pub versions: BTreeSet<Version>,
    /// The C return type.
    pub ret: String,
    /// The arguments in order.
    pub args: Vec<Arg>,
    /// What the difference means; begins with "break" when caller and runtime
    /// must agree on it.
    pub why: String,
}

impl Prototype {
    /// Whether data of one prototype is misread under the other.
    pub fn is_break(&self) -> bool {
        self.why.starts_with("break")
    }
}

/// Reads the table of older prototypes.
///
/// # Errors
///
/// The first line that does not follow the format.
pub fn parse_prototypes(text: &str) -> Result<Vec<Prototype>, ParseError> {
    rows(text, COLUMNS)
        .map(|row| {
            let row = row?;
            if row.get(4).is_empty() {
                return Err(row.error(4, "empty: a difference is only listed with its meaning"));
            }
            Ok(Prototype {
                name: row.get(0).to_string(),
                versions: parse_ranges(row.get(1)).map_err(|problem| row.error(1, problem))?,
                ret: row.get(2).to_string(),
                args: Arg::parse_list(row.get(3)).map_err(|problem| row.error(3, problem))?,
                why: row.get(4).to_string(),
            })
        })
        .collect()
}
