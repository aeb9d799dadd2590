//! The report for machines.

use serde::Serialize;

use super::Report;
use crate::finding::Rule;

#[derive(Serialize)]
pub(super) struct WithRules<'a> {
    #[serde(flatten)]
    report: &'a Report,
    /// The rules that the findings name.
    rules: Vec<&'static Rule>,
    /// The exit status.
    exit: u8,
}

impl WithRules<'_> {
    pub(super) fn of(report: &Report) -> WithRules<'_> {
        let mut rules: Vec<&'static Rule> =
            report.findings.iter().map(|found| found.rule).collect();
        rules.sort_by_key(|rule| rule.id);
        rules.dedup();
        WithRules {
            report,
            rules,
            exit: report.exit() as u8,
        }
    }
}

pub(super) fn render(report: &Report) -> String {
    // Strings, numbers and lists only: nothing in a report can fail to be written.
    let mut text = serde_json::to_string_pretty(&WithRules::of(report)).unwrap_or_default();
    text.push('\n');
    text
}
