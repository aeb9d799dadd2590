//! The picture for Graphviz.

use std::fmt::Write;

use super::Report;
use super::picture::{Edge, Kind, Node, Picture};
use super::plain::plain;
use crate::finding::Severity;

/// How long a name may be; the tooltip has all of it.
const WIDTH: usize = 60;

/// The graph of a report: `dot -Tsvg`.
pub(super) fn render(report: &Report) -> String {
    let picture = Picture::of(report);
    let mut text = String::from("digraph hiplazy {\n");
    let _ = writeln!(text, "  label={};", quoted(&plain(&report.subject)));
    text.push_str("  rankdir=LR;\n  labelloc=t;\n  fontname=\"sans-serif\";\n");
    text.push_str("  node [shape=box, style=\"rounded,filled\", fillcolor=\"#ffffff\", fontname=\"sans-serif\"];\n");
    text.push_str("  edge [fontname=\"sans-serif\", color=\"#6b7280\"];\n");
    for (number, group) in picture.groups.iter().enumerate() {
        let _ = writeln!(text, "  subgraph cluster_{number} {{");
        let _ = writeln!(
            text,
            "    label={};\n    color=\"#9ca3af\";",
            quoted(&plain(group))
        );
        let nodes = picture.nodes.iter().enumerate();
        for (at, node) in nodes.filter(|(_, node)| node.group == number) {
            let _ = writeln!(text, "    n{at} [{}];", attributes(node));
        }
        text.push_str("  }\n");
    }
    for edge in &picture.edges {
        let _ = writeln!(text, "  n{} -> n{} [{}];", edge.from, edge.to, style(edge));
    }
    text.push_str("}\n");
    text
}

fn attributes(node: &Node) -> String {
    let path = plain(&node.path);
    let name = shortened(path.rsplit('/').next().unwrap_or(&path));
    let label = match plain(&node.caption) {
        caption if caption.is_empty() => name,
        caption => format!("{name}\n{caption}"),
    };
    let mut text = format!("label={}, tooltip={}", quoted(&label), quoted(&path));
    let fill = match (node.severity, node.kind) {
        (Some(Severity::Conflict), _) => "#fecaca",
        (Some(Severity::Warning), _) => "#fde68a",
        (_, Kind::Runtime) => "#bbf7d0",
        (_, Kind::Missing) => "#e5e7eb",
        _ => return text,
    };
    let _ = write!(text, ", fillcolor=\"{fill}\"");
    text
}

fn style(edge: &Edge) -> String {
    let mut text = match edge.need {
        true => "label=\"needs\", style=dotted".to_string(),
        false => format!("label=\"{}\"", edge.names.len()),
    };
    if edge.wrong > 0 {
        let _ = write!(
            text,
            ", color=\"#dc2626\", fontcolor=\"#dc2626\", penwidth=2"
        );
    } else if edge.lazy == edge.names.len() {
        text.push_str(", style=dashed");
    }
    text
}

/// A name of bearable width: both ends tell libraries apart.
fn shortened(name: &str) -> String {
    let characters: Vec<char> = name.chars().collect();
    if characters.len() <= WIDTH {
        return name.to_string();
    }
    let end = (WIDTH - 1) / 2;
    let begin = &characters[..WIDTH - 1 - end];
    let rest = &characters[characters.len() - end..];
    begin.iter().chain(&['…']).chain(rest).collect()
}

/// A quoted string of the dot language: paths may hold anything.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            // Graphviz reads entities in labels, as HTML does.
            '&' => quoted.push_str("&amp;"),
            control if control.is_control() => quoted.push('\u{fffd}'),
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::Names;
    use crate::report::Runtime;

    #[test]
    fn names_do_not_turn_the_text_around() {
        let mut report = Report::new("lint", "a\u{202e}b", &Names::default());
        report.runtimes.push(Runtime {
            path: "/lib/x\u{2067}\u{1b}[2J.so".into(),
            ..Runtime::default()
        });
        let text = render(&report);
        let steers = ['\u{202e}', '\u{2067}', '\u{1b}'];
        assert!(!text.contains(steers), "{text:?}");
        assert!(text.contains("x\\\\u{2067}"), "{text}");
    }

    #[test]
    fn long_names_keep_both_ends() {
        let name = format!("lib{}-00ca863d.so.7", "x".repeat(100));
        let short = shortened(&name);
        assert_eq!(short.chars().count(), WIDTH);
        assert!(short.starts_with("libxxx") && short.ends_with("x-00ca863d.so.7"));
        assert_eq!(shortened("libä.so"), "libä.so");
    }

    #[test]
    fn hostile_names_stay_inside_their_quotes() {
        assert_eq!(quoted("a\"];x [\\"), r#""a\"];x [\\""#);
        assert_eq!(quoted("a\nb\0&lt;"), "\"a\\nb\u{fffd}&amp;lt;\"");
    }
}
