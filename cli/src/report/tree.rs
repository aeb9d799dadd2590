//! A tree of lines, as `libtree` draws it.

/// A line of a tree and what hangs below it.
#[derive(Debug, Default)]
pub(super) struct Node {
    line: String,
    below: Vec<Node>,
}

impl Node {
    pub(super) fn new(line: impl Into<String>) -> Node {
        Node {
            line: line.into(),
            below: Vec::new(),
        }
    }

    /// With `below` hanging below it.
    pub(super) fn with(mut self, below: impl IntoIterator<Item = Node>) -> Node {
        self.below.extend(below);
        self
    }

    pub(super) fn push(&mut self, node: Node) {
        self.below.push(node);
    }
}

/// Draws the tree at the end of `text`.
pub(super) fn draw(text: &mut String, nodes: &[Node]) {
    below(text, nodes, "");
}

fn below(text: &mut String, nodes: &[Node], indent: &str) {
    for (index, node) in nodes.iter().enumerate() {
        let last = index + 1 == nodes.len();
        let (branch, further) = if last {
            ("└── ", "    ")
        } else {
            ("├── ", "│   ")
        };
        text.push_str(indent);
        text.push_str(branch);
        text.push_str(&node.line);
        text.push('\n');
        below(text, &node.below, &format!("{indent}{further}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_of_each_level_ends_its_branch() {
        let mut text = String::new();
        draw(
            &mut text,
            &[
                Node::new("a").with([Node::new("b"), Node::new("c")]),
                Node::new("d").with([Node::new("e")]),
            ],
        );
        assert_eq!(text, "├── a\n│   ├── b\n│   └── c\n└── d\n    └── e\n");
    }
}
