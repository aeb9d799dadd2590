//! Ranges of HIP versions.

use std::fmt;
use std::str::FromStr;

use crate::version::Version;

/// The versions from a first to a last one, both included, or without end.
///
/// As text `5.0-5.7`, without end `6.0-`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VersionRange {
    /// The first version.
    pub first: Version,
    /// The last version; `None` while the newest known one still belongs to it.
    pub last: Option<Version>,
}

impl VersionRange {
    /// Whether `version` lies in the range.
    pub fn contains(&self, version: Version) -> bool {
        self.first <= version && self.last.is_none_or(|last| version <= last)
    }

    /// Whether some version lies in both ranges.
    pub fn overlaps(&self, other: &VersionRange) -> bool {
        let begins_in_time =
            |a: &VersionRange, b: &VersionRange| b.last.is_none_or(|last| a.first <= last);
        begins_in_time(self, other) && begins_in_time(other, self)
    }
}

impl fmt::Display for VersionRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-", self.first)?;
        self.last.map_or(Ok(()), |last| write!(f, "{last}"))
    }
}

impl FromStr for VersionRange {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (first, last) = text
            .split_once('-')
            .ok_or_else(|| format!("\"{text}\" is not a range such as 5.0-5.7 or 6.0-"))?;
        let first: Version = first.parse()?;
        if last.is_empty() {
            return Ok(VersionRange { first, last: None });
        }
        let last: Version = last.parse()?;
        if last < first {
            return Err(format!("{text} ends before it begins"));
        }
        let last = Some(last);
        Ok(VersionRange { first, last })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(text: &str) -> VersionRange {
        text.parse().unwrap()
    }

    #[test]
    fn both_ends_belong_to_the_range() {
        let five = range("5.0-5.7");
        assert!(five.contains(Version::new(5, 0)) && five.contains(Version::new(5, 7)));
        assert!(!five.contains(Version::new(6, 0)));
        assert!(range("6.0-").contains(Version::new(7, 14)));
    }

    #[test]
    fn ranges_overlap_by_a_single_version_too() {
        assert!(range("5.0-5.7").overlaps(&range("5.7-")));
        assert!(range("6.0-").overlaps(&range("5.0-6.0")));
        assert!(!range("5.0-5.7").overlaps(&range("6.0-")));
        assert!(!range("7.0-7.0").overlaps(&range("7.1-7.2")));
    }

    #[test]
    fn text_is_read_and_written_back() {
        for text in ["5.0-5.7", "7.0-7.0", "6.0-"] {
            assert_eq!(range(text).to_string(), text);
        }
        for text in ["5.0", "-", "6.0-5.0", "5-6", ""] {
            assert!(text.parse::<VersionRange>().is_err(), "{text}");
        }
    }
}
