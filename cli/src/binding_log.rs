//! What ld.so writes with `LD_DEBUG=bindings`, a line per binding:
//!
//! ```text
//!   4711:    binding file client.so [0] to /lib/libamdhip64.so.7 [0]: normal symbol `hipInit' [hip_4.2]
//! ```
//!
//! (with a tab before "binding"). Logs are read as a stream: those of Python programs have hundreds of megabytes.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::{self, BufRead, Read};

use crate::classify::LibraryName;
use crate::names::Names;

/// No line that ld.so writes is longer; more is skipped.
const LONGEST_LINE: u64 = 64 << 10;

/// One line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line<'a> {
    /// A reference was bound.
    Binding {
        /// The object that refers, and its namespace.
        from: (&'a str, usize),
        /// The object that has it, and its namespace.
        to: (&'a str, usize),
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
}

impl<'a> Line<'a> {
    /// Reads a line: the number of its process, and what it says. `None` for all other
    /// output, which a program's own may be mixed with.
    pub fn parse(line: &'a str) -> Option<(u32, Line<'a>)> {
        let (pid, text) = line.split_once(":\t")?;
        let pid = pid.trim().parse().ok()?;
        if let Some(rest) = text.strip_prefix("binding file ") {
            return Some((pid, binding(rest)?));
        }
        let (from, rest) = text.split_once(": error: symbol lookup error: undefined symbol: ")?;
        let rest = rest.split_once(" (").map_or(rest, |(rest, _)| rest);
        let (name, node) = match rest.split_once(", version ") {
            Some((name, node)) => (name, Some(node)),
            None => (rest, None),
        };
        Some((pid, Line::Undefined { from, name, node }))
    }
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

/// A reference of a process in a log.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Logged {
    /// The object that refers.
    pub from: usize,
    /// The object that has it; `None` if nobody has.
    pub to: Option<usize>,
    /// The link name.
    pub name: String,
    /// The node that was asked for.
    pub node: Option<String>,
}

/// What a log says of one process.
#[derive(Debug, Clone, Default)]
pub struct Process {
    /// The objects that matter, with their namespaces.
    pub objects: Vec<(String, usize)>,
    /// The bindings that matter, each once.
    pub bindings: Vec<Logged>,
    places: HashMap<(String, usize), usize>,
    seen: HashSet<Logged>,
}

/// What a log says.
#[derive(Debug, Clone, Default)]
pub struct BindingLog {
    /// By the number of the process.
    pub processes: BTreeMap<u32, Process>,
    /// How many bindings there were in all.
    pub lines: usize,
    /// How many objects refer or are referred to in all.
    pub objects: HashSet<String>,
}

impl BindingLog {
    /// Reads lines to the end, and keeps what `names` cover; `each` is told every kept
    /// one, with the number of its process.
    ///
    /// # Errors
    ///
    /// If reading fails.
    pub fn read(
        &mut self,
        from: &mut impl BufRead,
        names: &Names,
        mut each: impl FnMut(u32, &str),
    ) -> io::Result<()> {
        let mut line = Vec::new();
        loop {
            line.clear();
            let read = from
                .by_ref()
                .take(LONGEST_LINE)
                .read_until(b'\n', &mut line)?;
            if read == 0 {
                return Ok(());
            }
            let text = String::from_utf8_lossy(&line);
            if let Some((pid, line)) = Line::parse(text.trim_end_matches('\n')) {
                self.add(pid, &line, names, &mut each);
            }
        }
    }

    fn add(&mut self, pid: u32, line: &Line<'_>, names: &Names, each: &mut impl FnMut(u32, &str)) {
        self.lines += 1;
        let process = self.processes.entry(pid).or_default();
        match line {
            Line::Binding {
                from,
                to,
                name,
                node,
            } => {
                for (path, namespace) in [from, to] {
                    if !self.objects.contains(*path) {
                        self.objects.insert((*path).to_string());
                    }
                    // A runtime counts although nobody calls it.
                    let file = path.rsplit('/').next().unwrap_or(path);
                    if names.are_hip() && LibraryName::parse(file).is_some() {
                        process.place((path, *namespace));
                    }
                }
                if names.cover(name) {
                    let (from, to) = (process.place(*from), process.place(*to));
                    process.keep(from, Some(to), name, *node);
                    each(pid, name);
                }
            }
            Line::Undefined { from, name, node } => {
                if names.cover(name) {
                    let from = process.place((from, 0));
                    process.keep(from, None, name, *node);
                    each(pid, name);
                }
            }
        }
    }
}

impl Process {
    fn place(&mut self, (path, namespace): (&str, usize)) -> usize {
        let key = (path.to_string(), namespace);
        if let Some(place) = self.places.get(&key) {
            return *place;
        }
        self.objects.push(key.clone());
        self.places.insert(key, self.objects.len() - 1);
        self.objects.len() - 1
    }

    fn keep(&mut self, from: usize, to: Option<usize>, name: &str, node: Option<&str>) {
        let logged = Logged {
            from,
            to,
            name: name.to_string(),
            node: node.map(str::to_string),
        };
        if self.seen.insert(logged.clone()) {
            self.bindings.push(logged);
        }
    }
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
        for other in [
            "",
            "hello",
            "12:\tcalling init: /lib/x.so",
            "x:\tbinding file a",
        ] {
            assert_eq!(Line::parse(other), None, "{other}");
        }
    }

    #[test]
    fn interleaved_processes_are_kept_apart_and_repeats_counted_once() {
        let text = "1:\tbinding file a [0] to b [0]: normal symbol `hipInit' [hip_4.2]\n\
                    noise\n\
                    2:\tbinding file a [0] to stub [0]: normal symbol `hipInit' [hip_4.2]\n\
                    1:\tbinding file a [0] to b [0]: normal symbol `hipInit' [hip_4.2]\n\
                    1:\tbinding file a [0] to libc.so.6 [0]: normal symbol `malloc'\n";
        let mut log = BindingLog::default();
        let mut told = Vec::new();
        let each = |pid, name: &str| told.push((pid, name.to_string()));
        log.read(&mut text.as_bytes(), &Names::default(), each)
            .unwrap();
        assert_eq!(log.lines, 4);
        assert_eq!(log.objects.len(), 4);
        assert_eq!(told.len(), 3);
        let bound = |pid| log.processes[&pid].bindings.len();
        assert_eq!((bound(1), bound(2)), (1, 1));
        assert_eq!(log.processes[&1].objects.len(), 2, "libc does not matter");
    }

    #[test]
    fn a_line_without_end_does_not_fill_the_memory() {
        let endless = io::repeat(b'x').take(1 << 20);
        let mut log = BindingLog::default();
        let mut reader = io::BufReader::new(endless);
        log.read(&mut reader, &Names::default(), |_, _| {}).unwrap();
        assert_eq!(log.lines, 0);
    }
}
