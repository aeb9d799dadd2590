//! Which header versions declare which function.

use std::collections::BTreeSet;

use crate::row::{ParseError, rows};
use crate::version::Version;

const COLUMNS: &[&str] = &["link name", "header", "versions"];

/// The HIP versions whose headers were read, oldest first.
///
/// HIP has no releases 7.3 to 7.13 among them: the version scheme jumped.
pub const HEADER_VERSIONS: &[Version] = &[
    Version::new(5, 0),
    Version::new(5, 1),
    Version::new(5, 2),
    Version::new(5, 3),
    Version::new(5, 4),
    Version::new(5, 5),
    Version::new(5, 6),
    Version::new(5, 7),
    Version::new(6, 0),
    Version::new(6, 1),
    Version::new(6, 2),
    Version::new(6, 3),
    Version::new(6, 4),
    Version::new(7, 0),
    Version::new(7, 1),
    Version::new(7, 2),
    Version::new(7, 14),
];

/// Where and when the public headers declare a function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Declared {
    /// The ELF link name.
    pub name: String,
    /// The header file of the newest version, `hip_runtime_api.h`.
    pub header: String,
    /// Every version of [`HEADER_VERSIONS`] that declares the function; never empty.
    pub versions: BTreeSet<Version>,
}

impl Declared {
    /// First and last version in the sense of [`Function`](crate::Function):
    /// no last one while the newest known headers still declare the function.
    pub fn range(&self) -> (Option<Version>, Option<Version>) {
        let last = self.versions.last().copied();
        (
            self.versions.first().copied(),
            last.filter(|last| Some(last) != HEADER_VERSIONS.last()),
        )
    }
}

/// Reads the table of declarations by version.
///
/// # Errors
///
/// The first line that does not follow the format or repeats a name.
pub fn parse_history(text: &str) -> Result<Vec<Declared>, ParseError> {
    let mut seen = BTreeSet::new();
    rows(text, COLUMNS)
        .map(|row| {
            let row = row?;
            if !seen.insert(row.get(0).to_string()) {
                return Err(row.error(0, format!("{} has an entry already", row.get(0))));
            }
            let versions = parse_ranges(row.get(2)).map_err(|problem| row.error(2, problem))?;
            Ok(Declared {
                name: row.get(0).to_string(),
                header: row.get(1).to_string(),
                versions,
            })
        })
        .collect()
}

/// Reads `5.7-5.7, 6.1-7.14` as a set of [`HEADER_VERSIONS`].
pub(crate) fn parse_ranges(text: &str) -> Result<BTreeSet<Version>, String> {
    let mut versions = BTreeSet::new();
    for range in text.split(',').map(str::trim) {
        let (first, last) = range
            .split_once('-')
            .ok_or_else(|| format!("\"{range}\" is not a range such as 5.0-7.14"))?;
        let (first, last): (Version, Version) = (first.parse()?, last.parse()?);
        for end in [first, last] {
            if !HEADER_VERSIONS.contains(&end) {
                return Err(format!("{end} is none of the versions that were read"));
            }
        }
        if last < first {
            return Err(format!("{range} ends before it begins"));
        }
        let within = |version: &&Version| (first..=last).contains(*version);
        versions.extend(HEADER_VERSIONS.iter().filter(within).copied());
    }
    Ok(versions)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_stays_a_gap() {
        let newest = HEADER_VERSIONS[HEADER_VERSIONS.len() - 1];
        let line = format!("hipX | hip_runtime_api.h | 5.7-5.7, 6.1-{newest}");
        let history = parse_history(&line).unwrap();
        let declared = &history[0];
        assert!(!declared.versions.contains(&Version::new(6, 0)));
        assert!(declared.versions.contains(&Version::new(6, 3)));
        assert_eq!(declared.range(), (Some(Version::new(5, 7)), None));
    }

    #[test]
    fn a_version_that_nobody_read_is_refused() {
        let error = parse_history("hipX | hip_runtime_api.h | 5.0-7.3").unwrap_err();
        assert_eq!((error.line(), error.column()), (1, "versions"));
    }
}
