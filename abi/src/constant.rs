//! The values of HIP's enumerators and flags, version by version.

use crate::row::{ParseError, is_identifier, rows};
use crate::version::Version;
use crate::version_range::VersionRange;

const COLUMNS: &[&str] = &["enum", "constant", "value", "versions"];

/// A constant and the header versions that give it this value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Constant {
    /// The enum, `macro` for a `#define`, `unnamed` for an enum without a name.
    pub domain: String,
    /// The C name.
    pub name: String,
    /// The value; an unsigned 64-bit one by its bits.
    pub value: i64,
    /// The header versions.
    pub versions: VersionRange,
}

impl Constant {
    /// The table's line; [`parse_constants`] reads it back.
    pub fn line(&self) -> String {
        format!(
            "{} | {} | {} | {}",
            self.domain, self.name, self.value, self.versions
        )
    }
}

/// Reads the table of constants.
///
/// # Errors
///
/// The first line that does not follow the format, or that gives a constant a second
/// value in one version.
pub fn parse_constants(text: &str) -> Result<Vec<Constant>, ParseError> {
    let mut constants: Vec<Constant> = Vec::new();
    for row in rows(text, COLUMNS) {
        let row = row?;
        for column in [0, 1] {
            if !is_identifier(row.get(column)) {
                let problem = format!("\"{}\" is no C identifier", row.get(column));
                return Err(row.error(column, problem));
            }
        }
        let value = row.get(2);
        let constant = Constant {
            domain: row.get(0).to_string(),
            name: row.get(1).to_string(),
            value: value
                .parse()
                .map_err(|_| row.error(2, format!("\"{value}\" is not a decimal integer")))?,
            versions: row
                .get(3)
                .parse()
                .map_err(|problem: String| row.error(3, problem))?,
        };
        let twice = constants.iter().rev().find(|earlier| {
            earlier.name == constant.name && earlier.versions.overlaps(&constant.versions)
        });
        if let Some(earlier) = twice {
            let problem = format!(
                "{} has a value in {} already",
                constant.name, earlier.versions
            );
            return Err(row.error(3, problem));
        }
        constants.push(constant);
    }
    Ok(constants)
}

/// The constant `name` in the headers of `version`.
pub fn constant_of<'a>(
    constants: &'a [Constant],
    name: &str,
    version: Version,
) -> Option<&'a Constant> {
    constants
        .iter()
        .find(|constant| constant.name == name && constant.versions.contains(version))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINES: &str = "\
hipKind | hipKindHost | 0 | 5.0-5.7
hipKind | hipKindHost | 1 | 6.0-
macro | hipInvalidDeviceId | -2 | 5.0-";

    #[test]
    fn a_version_has_the_value_of_its_range() {
        let constants = parse_constants(LINES).unwrap();
        let value = |version| {
            constant_of(&constants, "hipKindHost", version).map(|constant| constant.value)
        };
        assert_eq!(value(Version::new(5, 7)), Some(0));
        assert_eq!(value(Version::new(6, 0)), Some(1));
        assert_eq!(value(Version::new(4, 5)), None);
    }

    #[test]
    fn a_line_is_read_and_written_back() {
        let constants = parse_constants(LINES).unwrap();
        let lines: Vec<String> = constants.iter().map(Constant::line).collect();
        assert_eq!(lines.join("\n"), LINES);
    }

    #[test]
    fn errors_name_the_column() {
        let cases = [
            ("hip Kind | hipA | 0 | 5.0-", "enum"),
            ("hipKind | 1 | 0 | 5.0-", "constant"),
            ("hipKind | hipA | 0x10 | 5.0-", "value"),
            ("hipKind | hipA | 0 | ever", "versions"),
            (
                "hipKind | hipA | 0 | 5.0-\nhipKind | hipA | 1 | 7.0-",
                "versions",
            ),
        ];
        for (lines, column) in cases {
            assert_eq!(
                parse_constants(lines).unwrap_err().column(),
                column,
                "{lines}"
            );
        }
    }
}
