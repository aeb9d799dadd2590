//! What was found, by which rule.

use serde::{Serialize, Serializer};

/// How bad a finding is; reports are as bad as their worst finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Nothing to do; worth knowing.
    Note,
    /// Works by luck, order or configuration.
    Warning,
    /// Wrong now, or wrong as soon as the object meets the process it was made for.
    Conflict,
}

impl Severity {
    /// The word in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Conflict => "conflict",
        }
    }
}

/// One kind of finding. All of them are in [`crate::rules`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Rule {
    /// Lower case with hyphens; stable, because CI suppresses by it.
    pub id: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// A few words.
    pub title: &'static str,
    /// What it means, in one sentence.
    pub meaning: &'static str,
    /// What who runs the program can do now: a command, the environment, an order.
    pub now: &'static str,
    /// What the owner of the library should change.
    pub owner: &'static str,
    /// Public threads about it.
    pub threads: &'static [&'static str],
}

/// A rule that applies to an object.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// Which rule; in JSON its id, and the rule itself once, in `rules`.
    #[serde(serialize_with = "rule_id")]
    pub rule: &'static Rule,
    /// The object's path, or what else it is about (a wheel, a variable).
    pub object: String,
    /// What applies here, in one line: names, counts, versions.
    pub detail: String,
    /// What proves it, a line each: symbols, search paths, maps.
    pub evidence: Vec<String>,
}

fn rule_id<S: Serializer>(rule: &&'static Rule, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(rule.id)
}

impl Finding {
    /// A finding without evidence yet.
    pub fn new(
        rule: &'static Rule,
        object: impl Into<String>,
        detail: impl Into<String>,
    ) -> Finding {
        Finding {
            rule,
            object: object.into(),
            detail: detail.into(),
            evidence: Vec::new(),
        }
    }

    /// The same with evidence.
    #[must_use]
    pub fn with<I: IntoIterator<Item = String>>(mut self, evidence: I) -> Finding {
        self.evidence.extend(evidence);
        self
    }
}
