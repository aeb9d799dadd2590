//! Where a struct or a constant changed behind an unchanged name: what is done for a
//! caller's headers on a runtime. The table is `abi/breaks.txt`.
//!
//! It is asked when a slot is filled, never by a bound call.

use core::ffi::{CStr, c_int};
use core::sync::atomic::{AtomicBool, Ordering};

use crate::env as environment;
use crate::functions;
use crate::header_version;
use crate::loaded::{Library, Loaded};
use crate::log::{Level, log};
use crate::strings;

/// The oldest ABI major that the table knows.
const OLDEST: u32 = 5;

/// A HIP version without its patch number: `major * 100 + minor`.
pub(crate) type Version = u16;

/// The version that a HIP version number (`major * 10000000 + minor * 100000 + patch`)
/// tells, 0 for none.
pub(crate) fn version_of(number: c_int) -> Version {
    Version::try_from(number / 100_000).unwrap_or(0)
}

/// One line of the table.
pub(crate) struct Rule {
    /// First and last version of the caller's headers.
    pub(crate) headers: [Version; 2],
    /// First and last version of the runtime.
    pub(crate) runtimes: [Version; 2],
    pub(crate) action: Action,
}

/// What is done.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    /// Both understand the same.
    Direct,
    /// By this number, for `translate::address`.
    Translate(u8),
    /// For the reason that begins here in `WHAT`.
    Refuse(u16),
}

include!(concat!(env!("OUT_DIR"), "/breaks.rs"));

/// `count` lines from `start` on.
pub(crate) fn rules(start: u8, count: u8) -> &'static [Rule] {
    let start = usize::from(start);
    RULES.get(start..start + usize::from(count)).unwrap_or(&[])
}

/// The sentence for the user that begins at `start`.
fn what(start: u16) -> &'static CStr {
    strings::at(WHAT, start).unwrap_or(c"")
}

/// What a slot is to hold.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Decision {
    /// The runtime's own function.
    Direct,
    /// A function of `translate`.
    Translate(u8),
    /// Nothing: each call is answered with an error, for this reason.
    Refuse(&'static CStr),
    /// What its first call decides: it depends on the runtime's minor version, for which
    /// only a call may ask.
    AskVersion,
}

/// `HIPLAZY_ABI`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Policy {
    /// Translate what can be, refuse the rest.
    Strict,
    /// Translate what can be, pass the rest through with a warning.
    Warn,
    /// Pass everything through.
    Off,
}

impl Policy {
    pub(crate) fn asked_for() -> Policy {
        match environment::own(environment::ABI) {
            Some(value) if value == c"warn" => Policy::Warn,
            Some(value) if value == c"off" => Policy::Off,
            Some(value) if value != c"strict" => {
                static SAID: AtomicBool = AtomicBool::new(false);
                if !SAID.swap(true, Ordering::Relaxed) {
                    log(Level::Error, |text| {
                        text.str("HIPLAZY_ABI=").c_str(value);
                        text.str(" is not strict, warn or off; strict is used");
                    });
                }
                Policy::Strict
            }
            _ => Policy::Strict,
        }
    }
}

/// The headers that callers of entry `index` have: those that its name says, else those
/// that the program recorded; 0 if nobody knows.
pub(crate) fn headers_of(index: usize) -> Version {
    match functions::since(index) {
        0 => version_of(header_version::header_version()),
        since => since,
    }
}

/// What the slot of entry `index` is to hold with this HIP runtime. `ask` allows asking
/// the runtime for its version, which may start it.
pub(crate) fn decide(index: usize, runtime: &Loaded, policy: Policy, ask: bool) -> Decision {
    let rules = functions::rules(index);
    if rules.is_empty() || policy == Policy::Off || runtime.library != Library::Hip {
        return Decision::Direct;
    }
    let headers = headers_of(index);
    if headers == 0 && rules.iter().any(|rule| !is_for_all(rule)) {
        say_unknown();
    }
    let decision = match by_major(rules, headers, runtime.major) {
        // Of a runtime that has no number, neither in its SONAME nor in its version.
        _ if runtime.major < OLDEST && headers != 0 => Decision::Refuse(
            c"what it means differs between versions of HIP, and the runtime says neither by its SONAME nor by its version which it is",
        ),
        Decision::AskVersion if ask => by_version(rules, headers, runtime),
        decision => decision,
    };
    match decision {
        // The warning is for those who call it.
        Decision::Refuse(_) if policy == Policy::Warn && !ask => Decision::AskVersion,
        Decision::Refuse(why) if policy == Policy::Warn => {
            log(Level::Warn, |text| {
                text.c_str(functions::name(index).unwrap_or(c""))
                    .str(" is passed through as HIPLAZY_ABI=warn says, though: ")
                    .c_str(why);
            });
            Decision::Direct
        }
        decision => decision,
    }
}

/// The function that stands in for entry `index` where the runtime lacks the name.
pub(crate) fn substitute(index: usize, policy: Policy) -> Option<u8> {
    functions::substitute(index).filter(|_| policy != Policy::Off)
}

fn is_for_all(rule: &Rule) -> bool {
    rule.headers == [0, Version::MAX]
}

fn say_unknown() {
    static SAID: AtomicBool = AtomicBool::new(false);
    if !SAID.swap(true, Ordering::Relaxed) {
        log(Level::Info, |text| {
            text.str(
                "the HIP version of the caller's headers is not known, so functions whose structs changed between HIP versions are passed through as they are; redirect.h makes it known, or header_version.c of the installed tree, which the CMake targets add",
            );
        });
    }
}

fn decision(rule: &Rule) -> Decision {
    match rule.action {
        Action::Direct => Decision::Direct,
        Action::Translate(number) => Decision::Translate(number),
        Action::Refuse(start) => Decision::Refuse(what(start)),
    }
}

fn exactly(rules: &[Rule], headers: Version, runtime: Version) -> Decision {
    let fits = |range: [Version; 2], version| (range[0]..=range[1]).contains(&version);
    let rule = rules.iter().find(|rule| {
        let known = if headers == 0 {
            is_for_all(rule)
        } else {
            fits(rule.headers, headers)
        };
        known && fits(rule.runtimes, runtime)
    });
    rule.map_or(Decision::Direct, decision)
}

/// The decision if it is the same for every runtime of this major.
fn by_major(rules: &[Rule], headers: Version, major: u32) -> Decision {
    let Ok(major) = Version::try_from(major) else {
        return Decision::AskVersion;
    };
    let first = exactly(rules, headers, major.saturating_mul(100));
    // Where a rule begins or ends within the major, the answer may change.
    let bounds = rules
        .iter()
        .flat_map(|rule| [rule.runtimes[0], rule.runtimes[1].saturating_add(1)]);
    for version in bounds.filter(|version| version / 100 == major) {
        if exactly(rules, headers, version) != first {
            return Decision::AskVersion;
        }
    }
    first
}

/// The decision for the version that the runtime says it is.
fn by_version(rules: &[Rule], headers: Version, runtime: &Loaded) -> Decision {
    let Some(number) = runtime.version() else {
        return Decision::Refuse(
            c"what it means differs within this major of HIP, and the runtime is being asked for its version on this thread; a later call works",
        );
    };
    let version = version_of(number);
    if version == 0 {
        return Decision::Refuse(
            c"what it means differs within this major of HIP, and the runtime does not say its version",
        );
    }
    if u32::from(version / 100) != runtime.major {
        return Decision::Refuse(
            c"what it means differs between versions of HIP, and the runtime's version is of another major than its SONAME",
        );
    }
    exactly(rules, headers, version)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: [Rule; 3] = [
        rule([500, 599], [600, Version::MAX], Action::Translate(1)),
        rule([700, 700], [701, Version::MAX], Action::Translate(2)),
        rule([701, Version::MAX], [700, 700], Action::Direct),
    ];

    const fn rule(headers: [Version; 2], runtimes: [Version; 2], action: Action) -> Rule {
        Rule {
            headers,
            runtimes,
            action,
        }
    }

    #[test]
    fn what_a_major_decides_is_not_asked() {
        assert!(by_major(&RULES, 507, 5) == Decision::Direct);
        assert!(by_major(&RULES, 507, 6) == Decision::Translate(1));
        assert!(by_major(&RULES, 507, 7) == Decision::Translate(1));
        assert!(by_major(&RULES, 700, 6) == Decision::Direct);
        assert!(by_major(&RULES, 700, 7) == Decision::AskVersion);
        assert!(exactly(&RULES, 700, 700) == Decision::Direct);
        assert!(exactly(&RULES, 700, 714) == Decision::Translate(2));
    }

    #[test]
    fn unknown_headers_are_served_by_rules_for_all_only() {
        assert!(exactly(&RULES, 0, 700) == Decision::Direct);
        let all = [rule(
            [0, Version::MAX],
            [600, Version::MAX],
            Action::Translate(7),
        )];
        assert!(exactly(&all, 0, 602) == Decision::Translate(7));
        assert!(exactly(&all, 0, 507) == Decision::Direct);
    }

    /// Versions that no header of the manifest has, each with the nearest one.
    const NEAREST: [(Version, Version); 7] = [
        (405, 500),
        (499, 500),
        (508, 507),
        (609, 604),
        (799, 714),
        (800, 714),
        (1200, 714),
    ];

    #[test]
    fn unknown_versions_have_the_decisions_and_entries_of_the_nearest() {
        let mut decided = 0;
        for index in 0..functions::COUNT {
            let rules = functions::rules(index);
            for (odd, nearest) in NEAREST {
                let entries = [odd, nearest].map(|headers| functions::entry_for(index, headers));
                assert_eq!(entries[0], entries[1], "{:?}", functions::name(index));
                for runtime in [502, 503, 507, 600, 604, 700, 701, 702, 714] {
                    let name = functions::name(index);
                    let by_headers = exactly(rules, odd, runtime);
                    let known = exactly(rules, nearest, runtime);
                    assert!(by_headers == known, "{name:?}, headers {odd} on {runtime}");
                    decided += usize::from(known != Decision::Direct);
                }
                let by_runtime = exactly(rules, 604, odd);
                assert!(by_runtime == exactly(rules, 604, nearest), "runtime {odd}");
            }
        }
        assert!(decided > 1000, "{decided}");
    }

    #[test]
    fn versions_are_told_without_their_patch() {
        assert_eq!(version_of(50_221_153), 502);
        assert_eq!(version_of(71_460_850), 714);
        assert_eq!(version_of(0), 0);
        assert_eq!(version_of(-1), 0);
    }
}
