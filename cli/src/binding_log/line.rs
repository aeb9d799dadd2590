//! The text of a log: lines, and the statements in them.

use std::mem;

use memchr::memchr_iter;

/// No line that ld.so writes is longer; longer ones are skipped.
pub(super) const LONGEST_LINE: usize = 64 << 10;

/// How a binding begins, after the number of its process.
const BINDING: &str = ":\tbinding file ";

/// One statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line<'a> {
    /// A reference was bound.
    Binding {
        /// The object that refers, and its namespace.
        from: (&'a str, u32),
        /// The object that has it, and its namespace.
        to: (&'a str, u32),
        /// The link name.
        name: &'a str,
        /// The node that was asked for.
        node: Option<&'a str>,
    },
    /// Nobody has the name.
    Undefined {
        /// The object that refers.
        from: &'a str,
        /// The link name.
        name: &'a str,
        /// The node that was asked for.
        node: Option<&'a str>,
    },
    /// An object's constructors are called: it is loaded, with all that it needs.
    Init {
        /// The object; its namespace is not written.
        path: &'a str,
    },
    /// An object's destructors are called: it is closed, or the program ends.
    Fini {
        /// The object; empty for the program itself.
        path: &'a str,
        /// Its namespace.
        namespace: u32,
    },
    /// The program with all that it needs is loaded.
    Program {
        /// What the program was started as.
        path: &'a str,
    },
}

impl<'a> Line<'a> {
    /// Reads a statement: the number of its process, and what it says. `None` for all
    /// other output, which a program's own may be mixed with.
    pub fn parse(line: &'a str) -> Option<(u32, Line<'a>)> {
        let (pid, text) = numbered(line)?;
        if let Some(rest) = text.strip_prefix("binding file ") {
            return Some((pid, binding(rest)?));
        }
        if let Some(path) = text.strip_prefix("calling init: ") {
            return Some((pid, Line::Init { path }));
        }
        if let Some(path) = text.strip_prefix("initialize program: ") {
            return Some((pid, Line::Program { path }));
        }
        if let Some(rest) = text.strip_prefix("calling fini: ") {
            let numbered = rest.strip_suffix(']').and_then(|rest| {
                let (path, namespace) = rest.rsplit_once(" [")?;
                Some((path, namespace.parse().ok()?))
            });
            // Before 2.26, glibc wrote no namespace.
            let (path, namespace) = numbered.unwrap_or((rest, 0));
            return Some((pid, Line::Fini { path, namespace }));
        }
        let (from, rest) = text.split_once(": error: symbol lookup error: undefined symbol: ")?;
        let rest = rest.split_once(" (").map_or(rest, |(rest, _)| rest);
        let (name, node) = match rest.split_once(", version ") {
            Some((name, node)) => (name, Some(node)),
            None => (rest, None),
        };
        Some((pid, Line::Undefined { from, name, node }))
    }

    /// Whether it ends with a path, the end of which is that of the line.
    pub(super) fn ends_with_path(&self) -> bool {
        matches!(
            self,
            Line::Init { .. } | Line::Fini { .. } | Line::Program { .. }
        )
    }
}

/// The number of the process that a statement is of, and the statement.
fn numbered(line: &str) -> Option<(u32, &str)> {
    let (before, text) = line.split_once(":\t")?;
    // What a program prints without an end of its own may stand before it.
    let pid = before.rsplit(' ').next()?.parse().ok()?;
    Some((pid, text))
}

fn binding(rest: &str) -> Option<Line<'_>> {
    // Paths may hold nearly anything; a name in quotes ends the line.
    let (files, symbol) = rest.rsplit_once(" symbol `")?;
    let (files, _kind) = files.rsplit_once(": ")?;
    let (from, to) = files.split_once("] to ")?;
    let (from, from_namespace) = from.rsplit_once(" [")?;
    let (to, to_namespace) = to.strip_suffix(']')?.rsplit_once(" [")?;
    let (name, node) = symbol.trim_end().split_once('\'')?;
    let node = node.trim_start().strip_prefix('[');
    Some(Line::Binding {
        from: (from, from_namespace.parse().ok()?),
        to: (to, to_namespace.parse().ok()?),
        name,
        node: node.and_then(|node| node.strip_suffix(']')),
    })
}

/// Whether text is a binding as far as it goes, and goes no further.
pub(super) fn is_part_of_binding(text: &str) -> bool {
    numbered(text).is_some_and(|(_, text)| text.starts_with("binding file "))
        && Line::parse(text).is_none()
}

/// Whether the last line of a log, which nobody has ended, is one of ld.so's that was to
/// go on.
pub(super) fn is_cut(text: &str) -> bool {
    let text = text.trim_start();
    let after = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let begins = after.len() < text.len() && (after.is_empty() || after.starts_with(':'));
    begins && !text.ends_with(['\'', ']'])
}

/// Whether a binding stands here whose tab has become spaces.
pub(super) fn is_spaced(line: &[u8]) -> bool {
    let Some(at) = memchr::memmem::find(line, b"binding file ") else {
        return false;
    };
    let before = line[..at].trim_ascii_end();
    before.len() < at && before.ends_with(b":") && memchr::memmem::find(line, b"] to ").is_some()
}

/// Cuts text that comes in pieces into lines.
#[derive(Debug, Default)]
pub struct Lines {
    pub(super) rest: Vec<u8>,
    too_long: bool,
    /// A statement that a name with a line's end in it may have cut in two.
    pub(super) held: Option<String>,
}

impl Lines {
    /// Takes another piece, and gives every line that it ends.
    pub fn feed(&mut self, piece: &[u8], mut each: impl FnMut(&[u8])) {
        let mut from = 0;
        for end in memchr_iter(b'\n', piece) {
            let line = &piece[from..end];
            from = end + 1;
            if self.rest.is_empty() && !self.too_long {
                if line.len() <= LONGEST_LINE {
                    each(line);
                }
            } else {
                self.keep(line);
                if !mem::take(&mut self.too_long) {
                    each(&self.rest);
                }
                self.rest.clear();
            }
        }
        self.keep(&piece[from..]);
    }

    /// What there is of a line that nobody will end any more.
    pub fn finish(&mut self, each: impl FnOnce(&[u8])) {
        if !mem::take(&mut self.too_long) && !self.rest.is_empty() {
            each(&self.rest);
        }
        self.rest.clear();
    }

    fn keep(&mut self, part: &[u8]) {
        if self.too_long || self.rest.len() + part.len() > LONGEST_LINE {
            self.too_long = true;
            self.rest.clear();
        } else {
            self.rest.extend_from_slice(part);
        }
    }
}

/// The statements in a line: more than one where threads of a process write at once. The
/// nodes of all but the last stand elsewhere then.
pub(super) fn statements(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        // The number before the first mark is this statement's own.
        let after = rest
            .find(BINDING)
            .map_or(rest.len(), |at| at + BINDING.len());
        let next = rest[after..].find(BINDING).map(|at| {
            let before = rest[..after + at].trim_end_matches(|c: char| c.is_ascii_digit());
            before.len()
        });
        let (statement, others) = rest.split_at(next.unwrap_or(rest.len()).max(after));
        rest = others;
        Some(statement.trim_end())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_may_hold_spaces_and_brackets() {
        let line = "    99:\tbinding file /a b [x]/c.so [0] to ./d to e.so [1]: normal symbol `hipInit' [hip_4.2]";
        let expected = Line::Binding {
            from: ("/a b [x]/c.so", 0),
            to: ("./d to e.so", 1),
            name: "hipInit",
            node: Some("hip_4.2"),
        };
        assert_eq!(Line::parse(line), Some((99, expected)));
        let line = "    99:\tcalling fini: /a b [x]/c.so [2]";
        let expected = Line::Fini {
            path: "/a b [x]/c.so",
            namespace: 2,
        };
        assert_eq!(Line::parse(line), Some((99, expected)));
    }

    #[test]
    fn references_without_a_node_and_undefined_ones_are_read() {
        let line = "1:\tbinding file a [0] to b [0]: protected symbol `hsa_init'";
        let Some((1, Line::Binding { node: None, .. })) = Line::parse(line) else {
            panic!("{:?}", Line::parse(line));
        };
        let line = "7:\tc.so: error: symbol lookup error: undefined symbol: hipNew, version hip_9.0 (fatal)";
        let expected = Line::Undefined {
            from: "c.so",
            name: "hipNew",
            node: Some("hip_9.0"),
        };
        assert_eq!(Line::parse(line), Some((7, expected)));
        for other in ["", "hello", "12:\tfile=x.so [0];", "x:\tbinding file a"] {
            assert_eq!(Line::parse(other), None, "{other}");
        }
    }

    #[test]
    fn a_last_line_is_cut_where_more_was_to_come() {
        for cut in [
            "      12",
            "  12:",
            "  12:\tbind",
            "12:\tbinding file a [0] to b [0]: normal symbol `hipI",
            "12:\tbinding file a [0] to b [0]: normal symbol `hipInit' [hip",
        ] {
            assert!(is_cut(cut), "{cut}");
        }
        for whole in [
            "12:\tbinding file a [0] to b [0]: normal symbol `hipInit' [hip_4.2]",
            "done",
            "took 12 s",
            "",
        ] {
            assert!(!is_cut(whole), "{whole}");
        }
    }

    #[test]
    fn a_line_that_is_too_long_is_left_out_as_a_whole() {
        let mut lines = Lines::default();
        for _ in 0..64 {
            lines.feed(&[b'x'; LONGEST_LINE], |_| panic!("no line has ended"));
            assert!(lines.rest.capacity() <= 2 * LONGEST_LINE);
        }
        lines.finish(|_| panic!("too long"));
    }
}
