//! Messages that are not HIP's and have a cause of the kind that reports find: what
//! `docs/doctor.md` begins with.

use serde::Serialize;

use super::query;
use crate::finding::Rule;
use crate::rules;

/// A message that is known to have such a cause.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Symptom {
    /// The part of the message that is known.
    pub text: &'static str,
    /// What it comes from.
    pub means: &'static str,
    /// Where that is found out, step by step.
    pub section: &'static str,
    /// The rules that find it.
    pub rules: Vec<&'static Rule>,
}

struct Known {
    texts: &'static [&'static str],
    means: &'static str,
    section: &'static str,
    rules: &'static [&'static Rule],
}

static KNOWN: &[Known] = &[
    Known {
        texts: &[
            "free(): invalid size",
            "free(): invalid pointer",
            "munmap_chunk(): invalid pointer",
            "double free or corruption",
            "malloc(): corrupted",
            "corrupted size vs. prev_size",
        ],
        means: "the C library found memory that was freed by other code than allocated it: with HIP in the process, often two copies of the same C++ code, or an allocator that only some libraries see",
        section: "docs/doctor.md#free-invalid-size",
        rules: &[&rules::TAKEN_SYMBOLS, &rules::DEEPBIND_ALLOCATOR],
    },
    Known {
        texts: &["support is already registered"],
        means: "two copies of the compiler inside of two runtimes met in one process",
        section: "docs/doctor.md#error-709",
        rules: &[&rules::TWO_RUNTIMES],
    },
    Known {
        texts: &["ROCR_1"],
        means: "the version node of libhsa-runtime64: a library of that name is first in the search and is not the one that the HIP runtime was built with, or has no nodes (a stub)",
        section: "docs/doctor.md#undefined-symbol-hip",
        rules: &[&rules::BARE_EXPORT, &rules::TWO_RUNTIMES],
    },
    Known {
        texts: &["HSA_STATUS_"],
        means: "a status of libhsa-runtime64, below HIP, whose statuses hiplazy does not list: the driver or the device refuses, or another library answers hsa_init",
        section: "docs/doctor.md#no-rocm-capable-device",
        rules: &[&rules::WRONG_PROVIDER, &rules::CAPTURED_RUNTIME],
    },
];

/// The symptom that is in a text.
pub(super) fn of(text: &str) -> Option<Symptom> {
    let said = query::spaced(text).to_lowercase();
    KNOWN.iter().find_map(|known| {
        let is_said = |text: &&&str| said.contains(&text.to_lowercase());
        let text = known.texts.iter().find(is_said)?;
        Some(Symptom {
            text,
            means: known.means,
            section: known.section,
            rules: known.rules.to_vec(),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_see_leads_to_the_rule() {
        for (text, rule) in [
            ("free(): invalid size", "taken-symbols"),
            ("double free or  corruption (!prev)", "taken-symbols"),
            (
                "LLVM ERROR: support is already registered for analysis: AnalysisName",
                "two-runtimes",
            ),
            (
                "/x/libhsa-runtime64.so.1: version `ROCR_1' not found (required by /x/libamdhip64.so.7)",
                "bare-export",
            ),
            ("HSA_STATUS_ERROR_OUT_OF_RESOURCES: ...", "wrong-provider"),
        ] {
            let found = super::super::look_up(text).unwrap_or_else(|| panic!("{text}"));
            assert_eq!(found.symptom.unwrap().rules[0].id, rule, "{text}");
        }
        assert_eq!(of("hipMalloc"), None);
    }

    /// The sections are those of the page.
    #[test]
    fn sections_exist() {
        let page = include_str!("../../../docs/doctor.md");
        for known in KNOWN {
            let (_, anchor) = known.section.split_once('#').unwrap();
            assert!(page.contains(&format!("](#{anchor})")), "{anchor}");
        }
    }
}
