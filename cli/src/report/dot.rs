//! The picture for Graphviz.

use std::fmt::Write;

use super::Report;
use super::picture::{Edge, Kind, Node, Picture};
use crate::finding::Severity;

/// The graph of a report: `dot -Tsvg`.
pub(super) fn render(report: &Report) -> String {
    let picture = Picture::of(report);
    let mut text = String::from("digraph hiplazy {\n");
    let _ = writeln!(text, "  label={};", quoted(&report.subject));
    text.push_str("  rankdir=LR;\n  labelloc=t;\n  fontname=\"sans-serif\";\n");
    text.push_str("  node [shape=box, style=\"rounded,filled\", fillcolor=\"#ffffff\", fontname=\"sans-serif\"];\n");
    text.push_str("  edge [fontname=\"sans-serif\", color=\"#6b7280\"];\n");
    for (number, group) in picture.groups.iter().enumerate() {
        let _ = writeln!(text, "  subgraph cluster_{number} {{");
        let _ = writeln!(text, "    label={};\n    color=\"#9ca3af\";", quoted(group));
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
    let name = node.path.rsplit('/').next().unwrap_or(&node.path);
    let label = match node.caption.as_str() {
        "" => name.to_string(),
        caption => format!("{name}\n{caption}"),
    };
    let mut text = format!("label={}, tooltip={}", quoted(&label), quoted(&node.path));
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
    use super::quoted;

    #[test]
    fn hostile_names_stay_inside_their_quotes() {
        assert_eq!(quoted("a\"];x [\\"), r#""a\"];x [\\""#);
        assert_eq!(quoted("a\nb\0&lt;"), "\"a\\nb\u{fffd}&amp;lt;\"");
    }
}
