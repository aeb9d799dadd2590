//! The line format that all tables share: comments, blank lines, columns.

use std::error::Error;
use std::fmt;

/// Why a table could not be read: which line, which column, what is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseError {
    line: usize,
    column: &'static str,
    problem: String,
}

impl ParseError {
    pub(crate) fn new(line: usize, column: &'static str, problem: impl Into<String>) -> Self {
        ParseError {
            line,
            column,
            problem: problem.into(),
        }
    }

    /// The line of the table, counted from 1.
    pub fn line(&self) -> usize {
        self.line
    }

    /// What the offending column holds, such as "version node".
    pub fn column(&self) -> &'static str {
        self.column
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "line {}, column \"{}\": {}",
            self.line, self.column, self.problem
        )
    }
}

impl Error for ParseError {}

/// One data line with its number, split into columns.
pub(crate) struct Row<'a> {
    pub(crate) line: usize,
    columns: Vec<&'a str>,
    titles: &'static [&'static str],
}

impl<'a> Row<'a> {
    /// The text of column `index`, never empty of meaning: `-` is left to the caller.
    pub(crate) fn get(&self, index: usize) -> &'a str {
        self.columns[index]
    }

    /// An error about column `index` of this line.
    pub(crate) fn error(&self, index: usize, problem: impl Into<String>) -> ParseError {
        ParseError::new(self.line, self.titles[index], problem)
    }
}

/// The data lines of `text`, each with exactly as many columns as `titles` names.
pub(crate) fn rows<'a>(
    text: &'a str,
    titles: &'static [&'static str],
) -> impl Iterator<Item = Result<Row<'a>, ParseError>> {
    text.lines()
        .enumerate()
        .map(|(index, line)| (index + 1, line.trim_end()))
        .filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
        .map(move |(number, line)| {
            let columns: Vec<&str> = line.split('|').map(str::trim).collect();
            if columns.len() == titles.len() {
                return Ok(Row {
                    line: number,
                    columns,
                    titles,
                });
            }
            let missing = titles.get(columns.len()).or(titles.last());
            Err(ParseError::new(
                number,
                missing.copied().unwrap_or("line"),
                format!(
                    "{} columns where {} belong ({})",
                    columns.len(),
                    titles.len(),
                    titles.join(" | ")
                ),
            ))
        })
}

/// Whether `text` is a C identifier, which every ELF link name here is.
pub(crate) fn is_identifier(text: &str) -> bool {
    let mut chars = text.chars();
    chars
        .next()
        .is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}
