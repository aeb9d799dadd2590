//! The HIP versions that can be modelled.

use std::fmt;
use std::str::FromStr;

/// A HIP release whose exports, numbers and behaviour the fake takes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Version {
    /// 5.2.3: no `R0000` names, hiprtc inside, no `libhiprtc` of its own.
    V5_2_3,
    /// 5.7.1, the default of major 5.
    V5_7_1,
    /// 6.4.3, the default of major 6.
    V6_4_3,
    /// 7.2.4.
    V7_2_4,
    /// 7.14, the default of major 7.
    V7_14,
}

impl Version {
    /// Every version, oldest first.
    pub const ALL: [Version; 5] = [
        Version::V5_2_3,
        Version::V5_7_1,
        Version::V6_4_3,
        Version::V7_2_4,
        Version::V7_14,
    ];

    /// The version that stands for a major: 5.7.1, 6.4.3 or 7.14.
    #[must_use]
    pub fn of_major(major: u32) -> Option<Version> {
        match major {
            5 => Some(Version::V5_7_1),
            6 => Some(Version::V6_4_3),
            7 => Some(Version::V7_14),
            _ => None,
        }
    }

    /// The major, which is also the SONAME's number.
    #[must_use]
    pub fn major(self) -> u32 {
        match self {
            Version::V5_2_3 | Version::V5_7_1 => 5,
            Version::V6_4_3 => 6,
            Version::V7_2_4 | Version::V7_14 => 7,
        }
    }

    /// What `hipRuntimeGetVersion` answers: `major * 10_000_000 + minor * 100_000 + patch`.
    /// The numbers are those of the runtimes that the export tables come from.
    #[must_use]
    pub fn runtime_version(self) -> i32 {
        match self {
            Version::V5_2_3 => 50_221_153,
            Version::V5_7_1 => 50_731_921,
            Version::V6_4_3 => 60_443_484,
            Version::V7_2_4 => 70_253_211,
            Version::V7_14 => 71_460_850,
        }
    }

    /// The name of `libamdhip64`'s export table in the `hiplazy-abi` crate.
    #[must_use]
    pub fn hip_table(self) -> &'static str {
        match self {
            Version::V5_2_3 => "libamdhip64_debian_5.2.3",
            Version::V5_7_1 => "libamdhip64_debian_5.7.1",
            Version::V6_4_3 => "libamdhip64_debian_6.4.3",
            Version::V7_2_4 => "libamdhip64_debian_7.2.4",
            Version::V7_14 => "libamdhip64_therock_7.14.60850",
        }
    }

    /// The name of `libhiprtc`'s export table; HIP 5 has hiprtc in `libamdhip64` only.
    #[must_use]
    pub fn rtc_table(self) -> Option<&'static str> {
        match self {
            Version::V5_2_3 | Version::V5_7_1 => None,
            Version::V6_4_3 => Some("libhiprtc_debian_6.4.3"),
            Version::V7_2_4 => Some("libhiprtc_debian_7.2.4"),
            Version::V7_14 => Some("libhiprtc_therock_7.14.60850"),
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Version::V5_2_3 => "5.2.3",
            Version::V5_7_1 => "5.7.1",
            Version::V6_4_3 => "6.4.3",
            Version::V7_2_4 => "7.2.4",
            Version::V7_14 => "7.14",
        })
    }
}

impl FromStr for Version {
    type Err = String;

    /// Reads a version (`7.2.4`) or a major (`7`).
    fn from_str(text: &str) -> Result<Version, String> {
        Version::ALL
            .into_iter()
            .find(|version| version.to_string() == text)
            .or_else(|| text.parse().ok().and_then(Version::of_major))
            .ok_or_else(|| {
                let known = Version::ALL.map(|version| version.to_string()).join(", ");
                format!(
                    "no HIP version '{text}' is modelled; there are {known} and the majors 5, 6, 7"
                )
            })
    }
}
