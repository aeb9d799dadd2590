//! What each version exports: measured, or derived from what was measured.

use std::collections::{HashMap, HashSet};

use hiplazy_abi::{Export, ParseError};

use crate::version::Version;

/// The functions of a measured table.
fn table(name: &str) -> Result<Vec<Export>, ParseError> {
    let text = hiplazy_abi::EXPORTS
        .iter()
        .find(|candidate| candidate.name == name)
        .map_or("", |candidate| candidate.text);
    // The objects in the tables are the version nodes, which the linker makes.
    Ok(hiplazy_abi::parse_exports(text)?
        .into_iter()
        .filter(|export| export.is_function)
        .collect())
}

impl Version {
    /// The functions that `libamdhip64` of this version exports, with their nodes.
    ///
    /// A version that was not measured has the functions of the next measured
    /// runtime of its major, on the nodes seen there, without those that are
    /// newer: declared first by headers above this version, and absent from the
    /// runtime measured before it. A function that no header declares is kept.
    ///
    /// # Errors
    ///
    /// A table of the ABI manifest could not be read.
    pub fn exports(self) -> Result<Vec<Export>, ParseError> {
        self.without_newer(table(self.hip_table())?)
    }

    /// The same for `libhiprtc`; `None` for HIP 5, which has none.
    ///
    /// # Errors
    ///
    /// As [`Version::exports`].
    pub fn rtc_exports(self) -> Result<Option<Vec<Export>>, ParseError> {
        self.rtc_table()
            .map(|name| self.without_newer(table(name)?))
            .transpose()
    }

    fn without_newer(self, mut exports: Vec<Export>) -> Result<Vec<Export>, ParseError> {
        let Some(previous) = self.previous_hip_table() else {
            return Ok(exports);
        };
        let before: HashSet<String> = table(previous)?
            .into_iter()
            .map(|export| export.name)
            .collect();
        let first: HashMap<String, hiplazy_abi::Version> =
            hiplazy_abi::parse_history(hiplazy_abi::HISTORY_TXT)?
                .into_iter()
                .filter_map(|declared| Some((declared.name, *declared.versions.first()?)))
                .collect();
        exports.retain(|export| {
            before.contains(&export.name)
                || first
                    .get(&export.name)
                    .is_none_or(|first| *first <= self.header())
        });
        Ok(exports)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(version: Version) -> HashSet<String> {
        let exports = version.exports().unwrap();
        exports.into_iter().map(|export| export.name).collect()
    }

    #[test]
    fn a_derived_version_lies_between_its_neighbours() {
        for (version, next) in [
            (Version::V5_3, Version::V5_7_1),
            (Version::V6_0, Version::V6_4_3),
            (Version::V7_0, Version::V7_1),
            (Version::V7_1, Version::V7_2_4),
        ] {
            let (own, newer) = (names(version), names(next));
            assert!(own.is_subset(&newer), "{version}");
            assert!(own.len() < newer.len(), "{version}");
            assert!(!version.is_measured());
        }
    }

    #[test]
    fn functions_come_with_their_headers() {
        for (name, version, expected) in [
            ("hipDeviceSetLimit", Version::V5_3, true),
            ("hipGraphAddMemAllocNode", Version::V5_3, false),
            ("hipGetDevicePropertiesR0600", Version::V6_0, true),
            ("hipDrvGraphAddMemcpyNode", Version::V6_0, true),
            ("hipDrvGraphAddMemsetNode", Version::V6_0, false),
            ("hipGraphAddNode", Version::V6_0, false),
            ("hipMemAdvise_v2", Version::V7_0, false),
            ("hipMemAdvise_v2", Version::V7_1, true),
            // Exported only by 7.x, although declared much earlier.
            (
                "hipGraphAddExternalSemaphoresSignalNode",
                Version::V6_0,
                false,
            ),
            (
                "hipGraphAddExternalSemaphoresSignalNode",
                Version::V7_0,
                true,
            ),
            // Without a declaration there is no reason to take it away.
            ("__hipRegisterFatBinary", Version::V5_3, true),
        ] {
            assert_eq!(
                names(version).contains(name),
                expected,
                "{name} in {version}"
            );
        }
    }

    #[test]
    fn measured_versions_are_their_tables() {
        for version in Version::ALL.into_iter().filter(|v| v.is_measured()) {
            assert_eq!(
                version.exports().unwrap(),
                table(version.hip_table()).unwrap()
            );
        }
    }
}
