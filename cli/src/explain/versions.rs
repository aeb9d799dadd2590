//! Versions for people: `5.0 to 5.7, 6.1 and newer`.

use std::collections::BTreeSet;

use hiplazy_abi::{HEADER_VERSIONS, Version, VersionRange};

/// A set of header versions, as ranges.
pub(super) fn ranges(versions: &BTreeSet<Version>) -> String {
    let mut runs: Vec<(Version, Version)> = Vec::new();
    let mut before = None;
    for &version in HEADER_VERSIONS {
        if versions.contains(&version) {
            match (before, runs.last_mut()) {
                (Some(last), Some(run)) if run.1 == last => run.1 = version,
                _ => runs.push((version, version)),
            }
        }
        before = Some(version);
    }
    let texts: Vec<String> = runs
        .into_iter()
        .map(|(first, last)| between(first, Some(last)))
        .collect();
    texts.join(", ")
}

/// One range of the tables.
pub(super) fn range(range: VersionRange) -> String {
    between(range.first, range.last)
}

/// The versions of the headers that were read which lie in a range.
pub(super) fn within(range: VersionRange) -> BTreeSet<Version> {
    let known = HEADER_VERSIONS.iter().copied();
    known.filter(|version| range.contains(*version)).collect()
}

fn between(first: Version, last: Option<Version>) -> String {
    let oldest = HEADER_VERSIONS.first() == Some(&first);
    match last.filter(|last| HEADER_VERSIONS.last() != Some(last)) {
        Some(last) if last == first => first.to_string(),
        Some(last) => format!("{first} to {last}"),
        None if oldest => "all versions".to_string(),
        None => format!("{first} and newer"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_words() {
        let text = |of: &str| range(of.parse().unwrap());
        assert_eq!(text("5.0-5.7"), "5.0 to 5.7");
        assert_eq!(text("6.4-6.4"), "6.4");
        assert_eq!(text("6.0-"), "6.0 and newer");
        assert_eq!(text("5.0-"), "all versions");
    }

    #[test]
    fn a_gap_between_versions_is_told() {
        let mut versions = within("5.7-5.7".parse().unwrap());
        versions.extend(within("6.1-".parse().unwrap()));
        assert_eq!(ranges(&versions), "5.7, 6.1 and newer");
    }
}
