//! The report for people: three lines, then a tree.

use std::fmt::Write;

use super::{Printing, Report, Styles};
use crate::finding::Finding;

pub(super) fn render(report: &Report, printing: Printing) -> String {
    let styles = Styles::new(printing.color);
    let mut text = String::new();
    for line in &report.preface {
        let _ = writeln!(text, "{line}");
    }
    summary(&mut text, report, &styles);
    tree(&mut text, &findings(report, &styles));
    text
}

fn summary(text: &mut String, report: &Report, styles: &Styles) {
    let verdict = match report.worst() {
        Some(severity) => styles.paint(styles.of(severity), severity.as_str()),
        None => styles.paint(styles.good, "clean"),
    };
    let _ = writeln!(text, "{}: {verdict}", report.subject);
}

fn findings(report: &Report, _styles: &Styles) -> Vec<Node> {
    let one = |finding: &Finding| Node::leaf(format!("{}: {}", finding.rule.id, finding.detail));
    report.findings.iter().map(one).collect()
}

/// A line of a tree and what hangs below it.
pub(super) struct Node {
    line: String,
    below: Vec<Node>,
}

impl Node {
    pub(super) fn leaf(line: String) -> Node {
        Node {
            line,
            below: Vec::new(),
        }
    }
}

/// The tree as `libtree` draws it.
pub(super) fn tree(text: &mut String, nodes: &[Node]) {
    fn draw(text: &mut String, nodes: &[Node], indent: &str) {
        for (index, node) in nodes.iter().enumerate() {
            let last = index + 1 == nodes.len();
            let (branch, below) = if last {
                ("└── ", "    ")
            } else {
                ("├── ", "│   ")
            };
            let _ = writeln!(text, "{indent}{branch}{}", node.line);
            draw(text, &node.below, &format!("{indent}{below}"));
        }
    }
    draw(text, nodes, "");
}
