//! What ld.so writes with `LD_DEBUG=bindings`, a line per binding:
//!
//! ```text
//!   4711:    binding file client.so [0] to /lib/libamdhip64.so.7 [0]: normal symbol `hipInit' [hip_4.2]
//! ```
//!
//! (with a tab before "binding"). Logs are read as a stream, and of the text only what
//! matters is kept, each string once: those of Python programs have hundreds of
//! megabytes.
//!
//! ld.so writes a line in two pieces, the second with the node and the end of the line.
//! So a line that has no end yet may be about to get a node, and between the pieces of
//! two threads of one process anything may stand.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::{self, BufRead};
use std::mem;

use memchr::{memchr, memchr_iter};

use crate::classify::LibraryName;
use crate::names::Names;

/// No line that ld.so writes is longer; longer ones are skipped.
const LONGEST_LINE: usize = 64 << 10;

/// How many bytes of paths and names, and how many references, a log may have that
/// matter. Real ones have a thousandth of that; it bounds what a hostile one costs.
const MOST_TEXT: usize = 256 << 20;
const MOST_REFERENCES: usize = 16 << 20;

/// How a statement begins, after the number of its process.
const BINDING: &str = ":\tbinding file ";

/// One line.
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
}

impl<'a> Line<'a> {
    /// Reads a statement: the number of its process, and what it says. `None` for all
    /// other output, which a program's own may be mixed with.
    pub fn parse(line: &'a str) -> Option<(u32, Line<'a>)> {
        let (before, text) = line.split_once(":\t")?;
        // What a program prints without an end of its own may stand before it.
        let pid = before.rsplit(' ').next()?.parse().ok()?;
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

/// Cuts text that comes in pieces into lines.
#[derive(Debug, Default)]
pub struct Lines {
    rest: Vec<u8>,
    too_long: bool,
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
fn statements(line: &str) -> impl Iterator<Item = &str> {
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

/// Each string once.
#[derive(Debug, Clone, Default)]
struct Strings {
    places: HashMap<Box<str>, u32>,
    bytes: usize,
}

impl Strings {
    fn place(&mut self, text: &str) -> u32 {
        if let Some(place) = self.places.get(text) {
            return *place;
        }
        let place = u32::try_from(self.places.len()).unwrap_or(u32::MAX);
        self.bytes += text.len();
        self.places.insert(text.into(), place);
        place
    }

    fn by_place(&self) -> Vec<&str> {
        let mut all = vec![""; self.places.len()];
        for (text, place) in &self.places {
            all[*place as usize] = text;
        }
        all
    }
}

/// A path and a namespace.
type Place = (u32, u32);

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Kept {
    from: Place,
    to: Option<Place>,
    name: u32,
    node: Option<u32>,
}

/// What is kept of one process.
#[derive(Debug, Clone, Default)]
struct Record {
    /// In the order in which the log names them: that of loading, nearly.
    objects: Vec<Place>,
    known: HashSet<Place>,
    references: HashSet<Kept>,
}

/// A reference of a process in a log.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Logged {
    /// The object that refers.
    pub from: usize,
    /// The object that has it; `None` if nobody has.
    pub to: Option<usize>,
    /// The link name.
    pub name: String,
    /// The node that was asked for, if the line has it.
    pub node: Option<String>,
}

/// What a log says of processes that it says the same of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alike {
    /// Their numbers.
    pub pids: Vec<u32>,
    /// The objects that matter, with their namespaces.
    pub objects: Vec<(String, usize)>,
    /// The bindings that matter, each once.
    pub bindings: Vec<Logged>,
}

/// What a log says.
#[derive(Debug, Clone, Default)]
pub struct BindingLog {
    /// How many bindings there were in all.
    pub lines: usize,
    processes: BTreeMap<u32, Record>,
    objects: HashSet<u32>,
    strings: Strings,
    references: usize,
}

impl BindingLog {
    /// Reads a whole log, and keeps what `names` cover.
    ///
    /// # Errors
    ///
    /// If reading fails, or if the log is no real one: see [`BindingLog::feed`].
    pub fn read(&mut self, from: &mut impl BufRead, names: &Names) -> io::Result<()> {
        let mut lines = Lines::default();
        loop {
            let piece = match from.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                piece => piece?,
            };
            let length = piece.len();
            if length == 0 {
                break;
            }
            self.feed(&mut lines, piece, names, &mut |_, _| {})?;
            from.consume(length);
        }
        self.finish(&mut lines, names, &mut |_, _| {});
        Ok(())
    }

    /// Reads the next piece of a log, and keeps what `names` cover; `each` is told every
    /// kept name, with the number of its process.
    ///
    /// # Errors
    ///
    /// If there is more to keep than any real log has.
    pub fn feed(
        &mut self,
        lines: &mut Lines,
        piece: &[u8],
        names: &Names,
        each: &mut impl FnMut(u32, &str),
    ) -> io::Result<()> {
        lines.feed(piece, |line| self.line(line, names, each));
        if self.strings.bytes > MOST_TEXT || self.references > MOST_REFERENCES {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "it names more objects and functions than a log of ld.so can; --prefix with longer prefixes keeps fewer",
            ));
        }
        Ok(())
    }

    /// Ends a log: what there is of its last line counts if it can be read.
    pub fn finish(&mut self, lines: &mut Lines, names: &Names, each: &mut impl FnMut(u32, &str)) {
        lines.finish(|line| self.line(line, names, each));
    }

    fn line(&mut self, line: &[u8], names: &Names, each: &mut impl FnMut(u32, &str)) {
        // Every line that counts has this, and most of a program's own do not.
        if memchr(b'\t', line).is_none() {
            return;
        }
        let text = String::from_utf8_lossy(line);
        for statement in statements(&text) {
            if let Some((pid, line)) = Line::parse(statement) {
                self.add(pid, &line, names, each);
            }
        }
    }

    fn add(&mut self, pid: u32, line: &Line<'_>, names: &Names, each: &mut impl FnMut(u32, &str)) {
        self.lines += 1;
        let strings = &mut self.strings;
        let process = self.processes.entry(pid).or_default();
        let (from, to, name, node) = match *line {
            Line::Binding {
                from,
                to,
                name,
                node,
            } => {
                for (path, namespace) in [from, to] {
                    let place = strings.place(path);
                    self.objects.insert(place);
                    // A runtime counts although nobody calls it.
                    let file = path.rsplit('/').next().unwrap_or(path);
                    if names.are_hip() && LibraryName::parse(file).is_some() {
                        process.add((place, namespace));
                    }
                }
                (from, Some(to), name, node)
            }
            Line::Undefined { from, name, node } => ((from, 0), None, name, node),
        };
        if !names.cover(name) {
            return;
        }
        let mut place = |(path, namespace): (&str, u32)| {
            let place = (strings.place(path), namespace);
            process.add(place);
            place
        };
        let (from, to) = (place(from), to.map(place));
        let kept = Kept {
            from,
            to,
            name: strings.place(name),
            node: node.map(|node| strings.place(node)),
        };
        if process.references.insert(kept) {
            self.references += 1;
        }
        each(pid, name);
    }

    /// How many processes it is of.
    pub fn processes(&self) -> usize {
        self.processes.len()
    }

    /// How many objects refer or are referred to in all.
    pub fn objects(&self) -> usize {
        self.objects.len()
    }

    /// The processes of which there is something to say, those with the same objects and
    /// bindings together.
    pub fn alike(&self) -> Vec<Alike> {
        let strings = self.strings.by_place();
        let mut places = HashMap::<(Vec<Place>, Vec<Kept>), usize>::new();
        let mut all: Vec<Alike> = Vec::new();
        for (pid, record) in &self.processes {
            if record.objects.is_empty() {
                continue;
            }
            let mut objects = record.objects.clone();
            objects.sort_unstable();
            let mut references: Vec<Kept> = record.references.iter().copied().collect();
            references.sort_unstable();
            let next = all.len();
            let place = *places.entry((objects, references)).or_insert(next);
            if place == next {
                all.push(record.resolve(&strings));
            }
            all[place].pids.push(*pid);
        }
        all
    }
}

impl Record {
    fn add(&mut self, place: Place) {
        if self.known.insert(place) {
            self.objects.push(place);
        }
    }

    fn resolve(&self, strings: &[&str]) -> Alike {
        let text = |place: u32| strings[place as usize].to_string();
        let indices: HashMap<Place, usize> = self.objects.iter().copied().zip(0..).collect();
        let mut bindings: Vec<Logged> = self
            .references
            .iter()
            .map(|kept| Logged {
                from: indices[&kept.from],
                to: kept.to.map(|to| indices[&to]),
                name: text(kept.name),
                node: kept.node.map(text),
            })
            .collect();
        bindings.sort_unstable();
        let objects = self.objects.iter();
        Alike {
            pids: Vec::new(),
            objects: objects
                .map(|(path, namespace)| (text(*path), *namespace as usize))
                .collect(),
            bindings,
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

    fn read(text: &str) -> BindingLog {
        let mut log = BindingLog::default();
        log.read(&mut text.as_bytes(), &Names::default()).unwrap();
        log
    }

    /// Every kept binding as `from name@node to`.
    fn bound(log: &BindingLog) -> Vec<String> {
        let file = |alike: &Alike, at: usize| alike.objects[at].0.clone();
        let text = |alike: &Alike, one: &Logged| {
            let to = one.to.map_or("nobody".into(), |to| file(alike, to));
            let node = one.node.as_deref().unwrap_or("?");
            format!("{} {}@{node} {to}", file(alike, one.from), one.name)
        };
        let all = log.alike();
        let of_one = |alike: &Alike| -> Vec<String> {
            let bindings = alike.bindings.iter();
            bindings.map(|one| text(alike, one)).collect()
        };
        all.iter().flat_map(of_one).collect()
    }

    #[test]
    fn interleaved_processes_are_kept_apart_and_repeats_counted_once() {
        let text = "1:\tbinding file a [0] to b [0]: normal symbol `hipInit' [hip_4.2]\n\
                    noise\n\
                    2:\tbinding file a [0] to stub [0]: normal symbol `hipInit' [hip_4.2]\n\
                    1:\tbinding file a [0] to b [0]: normal symbol `hipInit' [hip_4.2]\n\
                    1:\tbinding file a [0] to libc.so.6 [0]: normal symbol `malloc'\n";
        let log = read(text);
        assert_eq!((log.lines, log.objects(), log.processes()), (4, 4, 2));
        let expected = ["a hipInit@hip_4.2 b", "a hipInit@hip_4.2 stub"];
        assert_eq!(bound(&log), expected, "libc does not matter");
    }

    #[test]
    fn processes_with_the_same_bindings_are_put_together_whatever_their_order() {
        let init = "binding file a [0] to b [0]: normal symbol `hipInit' [hip_4.2]\n";
        let free = "binding file c [0] to b [0]: normal symbol `hipFree' [hip_4.2]\n";
        let of = |pid: u32, first: &str, second: &str| format!("{pid}:\t{first}{pid}:\t{second}");
        let text = of(7, init, free) + &of(3, free, init) + "5:\t" + init;
        let alike = read(&text).alike();
        let pids: Vec<&[u32]> = alike.iter().map(|alike| &alike.pids[..]).collect();
        assert_eq!(pids, [&[3, 7][..], &[5]]);
    }

    #[test]
    fn pieces_are_put_together_wherever_they_are_cut() {
        let text = "        12:\tbinding file a [0] to b [0]: normal symbol `hipInit' [hip_4.2]\n\
                    \u{20}       12:\tbinding file c [0] to d [0]: normal symbol `hipFree'\n";
        for at in 0..text.len() {
            let (mut log, mut lines) = (BindingLog::default(), Lines::default());
            let names = Names::default();
            for piece in [&text[..at], &text[at..]] {
                let piece = piece.as_bytes();
                log.feed(&mut lines, piece, &names, &mut |_, _| {}).unwrap();
            }
            let expected = ["a hipInit@hip_4.2 b", "c hipFree@? d"];
            assert_eq!(bound(&log), expected, "cut at {at}");
        }
    }

    #[test]
    fn a_last_line_without_end_counts_if_it_names_a_symbol() {
        let text = "1:\tbinding file a [0] to b [0]: normal symbol `hipInit' [hip_4.2]";
        assert_eq!(bound(&read(text)), ["a hipInit@hip_4.2 b"]);
        let cut = text.find(" [hip_").unwrap();
        assert_eq!(bound(&read(&text[..cut])), ["a hipInit@? b"]);
        assert_eq!(bound(&read(&text[..cut + 6])), ["a hipInit@? b"]);
        assert!(
            bound(&read(&text[..cut - 1])).is_empty(),
            "hipInit or hipInitNext"
        );
    }

    /// Two threads: the second writes between the two pieces of the first.
    #[test]
    fn statements_in_one_line_are_told_apart() {
        let text = "        12:\tbinding file a [0] to b [0]: normal symbol `hipInit'        12:\tbinding file c [0] to d [0]: normal symbol `hipFree' [hip_4.2]\n [hip_4.2]\n";
        let expected = ["a hipInit@? b", "c hipFree@hip_4.2 d"];
        assert_eq!(bound(&read(text)), expected);
        // What the program printed before, and a process that ended in the middle.
        let text = "Loading        12:\tbinding file a [0] to        13:\tbinding file c [0] to d [0]: normal symbol `hipFree'\n";
        assert_eq!(bound(&read(text)), ["c hipFree@? d"]);
        let text = "Loading        12:\tbinding file a [0] to b [0]: normal symbol `hipInit'\n";
        assert_eq!(bound(&read(text)), ["a hipInit@? b"]);
    }

    #[test]
    fn a_line_that_is_too_long_is_left_out_as_a_whole() {
        let line = "1:\tbinding file a [0] to b [0]: normal symbol `hipInit'\n";
        let long = "x".repeat(LONGEST_LINE) + line;
        assert_eq!(read(&long).lines, 0);
        assert_eq!(read(&(long + line)).lines, 1);
        let mut lines = Lines::default();
        for _ in 0..64 {
            lines.feed(&[b'x'; LONGEST_LINE], |_| panic!("no line has ended"));
            assert!(lines.rest.capacity() <= 2 * LONGEST_LINE);
        }
        lines.finish(|_| panic!("too long"));
    }

    #[test]
    fn a_log_of_more_names_than_there_are_is_refused() {
        let mut log = BindingLog::default();
        log.strings.bytes = MOST_TEXT;
        let line = "1:\tbinding file a [0] to b [0]: normal symbol `hipInit'\n";
        let error = log
            .read(&mut line.as_bytes(), &Names::default())
            .unwrap_err();
        assert!(error.to_string().contains("--prefix"), "{error}");
    }
}
