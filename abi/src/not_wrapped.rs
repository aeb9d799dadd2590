//! Exported names that hiplazy leaves alone.

use crate::row::{ParseError, rows};

const COLUMNS: &[&str] = &["name", "reason"];

/// A dynamic export of a real runtime that has no wrapper.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotWrapped {
    /// The name as the symbol table has it.
    pub name: String,
    /// Why there is no wrapper.
    pub reason: String,
}

/// Reads the list of exceptions.
///
/// # Errors
///
/// The first line without a name and a reason.
pub fn parse_not_wrapped(text: &str) -> Result<Vec<NotWrapped>, ParseError> {
    rows(text, COLUMNS)
        .map(|row| {
            let row = row?;
            if row.get(1).is_empty() {
                return Err(row.error(1, "empty: an exception is only listed with its reason"));
            }
            Ok(NotWrapped {
                name: row.get(0).to_string(),
                reason: row.get(1).to_string(),
            })
        })
        .collect()
}
