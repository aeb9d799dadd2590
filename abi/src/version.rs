//! HIP header versions.

use std::fmt;
use std::str::FromStr;

/// A HIP version as far as it orders: major and minor.
///
/// The patch number is left out on purpose. It is not monotonic (7.0 is 51831,
/// 7.1.0 is 25424), so comparing it would put releases in the wrong order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version {
    /// `HIP_VERSION_MAJOR`; also the number in the SONAME `libamdhip64.so.N`.
    pub major: u32,
    /// `HIP_VERSION_MINOR`, a number of its own: 7.14 is newer than 7.2.
    pub minor: u32,
}

impl Version {
    /// The version `major.minor`.
    pub const fn new(major: u32, minor: u32) -> Self {
        Version { major, minor }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

impl FromStr for Version {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parsed = text.split_once('.').and_then(|(major, minor)| {
            Some(Version::new(major.parse().ok()?, minor.parse().ok()?))
        });
        parsed.ok_or_else(|| format!("\"{text}\" is not a version such as 7.14"))
    }
}

#[cfg(test)]
mod tests {
    use super::Version;

    #[test]
    fn minor_is_a_number_not_a_decimal_fraction() {
        let [old, new]: [Version; 2] = ["7.2", "7.14"].map(|text| text.parse().unwrap());
        assert!(new > old);
        assert_eq!(new.to_string(), "7.14");
    }

    #[test]
    fn other_spellings_are_refused() {
        for text in ["7", "7.", ".1", "7.1.2", "seven.one", ""] {
            assert!(text.parse::<Version>().is_err(), "{text}");
        }
    }
}
