//! The HIP versions that can be modelled.

use std::fmt;
use std::str::FromStr;

/// A HIP release whose exports, numbers, layouts and behaviour the fake takes on.
///
/// Five are measured: their export tables are those of real runtimes. The other
/// four are derived from the next measured one (see [`Version::exports`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Version {
    /// 5.2.3: no `R0000` names, hiprtc inside, no `libhiprtc` of its own.
    V5_2_3,
    /// 5.3: derived.
    V5_3,
    /// 5.7.1, the default of major 5.
    V5_7_1,
    /// 6.0: derived.
    V6_0,
    /// 6.4.3, the default of major 6.
    V6_4_3,
    /// 7.0: derived.
    V7_0,
    /// 7.1: derived.
    V7_1,
    /// 7.2.4.
    V7_2_4,
    /// 7.14, the default of major 7.
    V7_14,
}

impl Version {
    /// Every version, oldest first.
    pub const ALL: [Version; 9] = [
        Version::V5_2_3,
        Version::V5_3,
        Version::V5_7_1,
        Version::V6_0,
        Version::V6_4_3,
        Version::V7_0,
        Version::V7_1,
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
        self.header().major
    }

    /// The minor, a number of its own: 7.14 is newer than 7.2.
    #[must_use]
    pub fn minor(self) -> u32 {
        self.header().minor
    }

    /// The headers that go with this runtime.
    #[must_use]
    pub fn header(self) -> hiplazy_abi::Version {
        let (major, minor) = match self {
            Version::V5_2_3 => (5, 2),
            Version::V5_3 => (5, 3),
            Version::V5_7_1 => (5, 7),
            Version::V6_0 => (6, 0),
            Version::V6_4_3 => (6, 4),
            Version::V7_0 => (7, 0),
            Version::V7_1 => (7, 1),
            Version::V7_2_4 => (7, 2),
            Version::V7_14 => (7, 14),
        };
        hiplazy_abi::Version::new(major, minor)
    }

    /// What `hipRuntimeGetVersion` answers: `major * 10_000_000 + minor * 100_000 + patch`.
    ///
    /// Of the measured versions it is the number of the runtime that the export
    /// table comes from. The others are published: 5.3.22061 is the version of
    /// AMD's package hip-dev in ROCm 5.3.0, 6.0.32830 what PyTorch's rocm6.0
    /// wheels report as `torch.version.hip`, 7.0.51831 and 7.1.25424 the
    /// `HIP_VERSION` of the headers in ROCm 7.0 and in triton 3.6.0.
    #[must_use]
    pub fn runtime_version(self) -> i32 {
        match self {
            Version::V5_2_3 => 50_221_153,
            Version::V5_3 => 50_322_061,
            Version::V5_7_1 => 50_731_921,
            Version::V6_0 => 60_032_830,
            Version::V6_4_3 => 60_443_484,
            Version::V7_0 => 70_051_831,
            Version::V7_1 => 70_125_424,
            Version::V7_2_4 => 70_253_211,
            Version::V7_14 => 71_460_850,
        }
    }

    /// Whether the export tables were read from a real runtime of this version.
    #[must_use]
    pub fn is_measured(self) -> bool {
        self.previous_hip_table().is_none()
    }

    /// The name of `libamdhip64`'s export table in the `hiplazy-abi` crate; for a
    /// derived version the one that it is derived from.
    #[must_use]
    pub fn hip_table(self) -> &'static str {
        match self {
            Version::V5_2_3 => "libamdhip64_debian_5.2.3",
            Version::V5_3 | Version::V5_7_1 => "libamdhip64_debian_5.7.1",
            Version::V6_0 | Version::V6_4_3 => "libamdhip64_debian_6.4.3",
            Version::V7_0 | Version::V7_1 | Version::V7_2_4 => "libamdhip64_debian_7.2.4",
            Version::V7_14 => "libamdhip64_therock_7.14.60850",
        }
    }

    /// The same for `libhiprtc`; HIP 5 has hiprtc in `libamdhip64` only.
    #[must_use]
    pub fn rtc_table(self) -> Option<&'static str> {
        match self {
            Version::V5_2_3 | Version::V5_3 | Version::V5_7_1 => None,
            Version::V6_0 | Version::V6_4_3 => Some("libhiprtc_debian_6.4.3"),
            Version::V7_0 | Version::V7_1 | Version::V7_2_4 => Some("libhiprtc_debian_7.2.4"),
            Version::V7_14 => Some("libhiprtc_therock_7.14.60850"),
        }
    }

    /// The newest measured table of `libamdhip64` that is older than a derived version.
    pub(crate) fn previous_hip_table(self) -> Option<&'static str> {
        match self {
            Version::V5_3 => Some(Version::V5_2_3.hip_table()),
            Version::V6_0 => Some(Version::V5_7_1.hip_table()),
            Version::V7_0 | Version::V7_1 => Some(Version::V6_4_3.hip_table()),
            _ => None,
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Version::V5_2_3 => "5.2.3",
            Version::V5_3 => "5.3",
            Version::V5_7_1 => "5.7.1",
            Version::V6_0 => "6.0",
            Version::V6_4_3 => "6.4.3",
            Version::V7_0 => "7.0",
            Version::V7_1 => "7.1",
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
