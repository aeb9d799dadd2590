//! What ld.so writes with `LD_DEBUG=bindings`, a line per binding:
//!
//! ```text
//!   4711:    binding file client.so [0] to /lib/libamdhip64.so.7 [0]: normal symbol `hipInit' [hip_4.2]
//! ```
//!
//! (with a tab before "binding"), and one whenever it calls constructors, destructors
//! and the program. Logs are read as a stream, and of the text only what matters is
//! kept, each string once: those of Python programs have hundreds of megabytes.
//!
//! ld.so writes a line in two pieces, the second with the node and the end of the line.
//! So a line that has no end yet may be about to get a node, and between the pieces of
//! two threads of one process anything may stand. Paths are written as they are, also
//! with a line's end in them.
//!
//! Libraries have paths with a slash. The program is called what its first argument is now,
//! which it may change.
//!
//! A child that was forked goes on writing where its parent writes, under its own number
//! and without a beginning. A program begins with the names of the vdso, which ld.so
//! looks up before all others.

mod image;
mod line;
mod strings;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::io::{self, BufRead};

use memchr::memchr;

use crate::names::Names;
use image::{Beginning, Image, Kept, Moment, Place};
use line::{LONGEST_LINE, is_cut, is_part_of_binding, is_spaced, statements};
pub use line::{Line, Lines};
use strings::Strings;

/// How many bytes of paths and names, and how many objects and references, a log may have
/// that matter. Real ones have a thousandth of that; it bounds what a hostile one costs.
const MOST_TEXT: usize = 256 << 20;
const MOST_KEPT: usize = 16 << 20;

/// Among how many programs the parent of a fork is looked for, the last ones first.
const MOST_PARENTS: usize = 1024;

/// What it is called that the kernel maps into every process, on all architectures.
fn is_vdso(path: &str) -> bool {
    !path.contains('/') && (path.starts_with("linux-vdso") || path.starts_with("linux-gate"))
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

/// What a log says of processes that it says the same of, at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alike {
    /// Their numbers.
    pub pids: Vec<u32>,
    /// The objects that are loaded, with their namespaces.
    pub objects: Vec<(String, usize)>,
    /// Which of the processes were taken for forks.
    pub forks: Vec<u32>,
    /// Which of the objects is the program, if the log has its beginning.
    pub program: Option<usize>,
    /// Those that were there before the first constructor was called.
    pub early: Vec<usize>,
    /// The bindings that matter, each once.
    pub bindings: Vec<Logged>,
}

/// What a log does not tell, and what was understood by it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Story {
    /// Whether any process has a beginning.
    pub has_beginning: bool,
    /// Processes that ran one program after another, and which.
    pub programs: BTreeMap<u32, Vec<String>>,
    /// Processes that were taken for forks, with their parents.
    pub forks: BTreeMap<u32, u32>,
    /// Processes that begin in the middle.
    pub middle: BTreeSet<u32>,
    /// Processes in which ld.so did not come as far as the program.
    pub not_started: BTreeSet<u32>,
    /// Processes in which it is not clear where one program ends and the next begins.
    pub unclear: BTreeSet<u32>,
    /// How many statements could not be read.
    pub unread: usize,
    /// How many lines have spaces in place of their tab.
    pub spaced: usize,
    /// Whether the last line is not whole.
    pub cut: bool,
}

/// What a log says.
#[derive(Debug, Clone, Default)]
pub struct BindingLog {
    /// How many bindings there were in all.
    pub lines: usize,
    images: BTreeMap<u32, Image>,
    /// The processes of the images that have a program, in order.
    parents: Vec<u32>,
    /// What has passed, with the processes of which.
    passed: Vec<(Moment, u32)>,
    /// What is in `passed` already.
    seen: HashSet<(u32, Vec<Place>, Vec<Kept>)>,
    programs: BTreeMap<u32, Vec<u32>>,
    story: Story,
    objects: HashSet<u32>,
    strings: Strings,
    kept: usize,
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
            self.feed(&mut lines, piece, names)?;
            from.consume(length);
        }
        self.finish(&mut lines, names);
        Ok(())
    }

    /// Reads the next piece of a log, and keeps what `names` cover.
    ///
    /// # Errors
    ///
    /// If there is more to keep than any real log has.
    pub fn feed(&mut self, lines: &mut Lines, piece: &[u8], names: &Names) -> io::Result<()> {
        let mut held = lines.held.take();
        lines.feed(piece, |line| self.line(line, &mut held, names));
        lines.held = held;
        if self.strings.bytes > MOST_TEXT || self.kept > MOST_KEPT {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "it names more objects and functions than a log of ld.so can; --prefix with longer prefixes keeps fewer",
            ));
        }
        Ok(())
    }

    /// Ends a log: what there is of its last line counts if it can be read.
    pub fn finish(&mut self, lines: &mut Lines, names: &Names) {
        let mut held = lines.held.take();
        let mut cut = false;
        lines.finish(|line| {
            cut = is_cut(&String::from_utf8_lossy(line));
            self.line(line, &mut held, names);
        });
        self.story.cut |= cut;
        // It is what was cut.
        if cut && held.as_deref().is_some_and(is_part_of_binding) {
            held = None;
        }
        self.release(&mut held, names);
    }

    fn line(&mut self, line: &[u8], held: &mut Option<String>, names: &Names) {
        // Every line that counts has this, and most of a program's own do not.
        if memchr(b'\t', line).is_none() {
            match held {
                Some(_) => self.rejoin(line, held, names),
                None if is_spaced(line) => self.story.spaced += 1,
                None => {}
            }
            return;
        }
        self.release(held, names);
        let text = String::from_utf8_lossy(line);
        for statement in statements(&text) {
            // What another process's statement cut in two is no path with two lines.
            self.release(held, names);
            match Line::parse(statement) {
                Some((_, line)) if line.ends_with_path() => *held = Some(statement.to_string()),
                Some((pid, line)) => self.add(pid, &line, names),
                None if is_part_of_binding(statement) => *held = Some(statement.to_string()),
                None => {}
            }
        }
    }

    /// Takes the next line of a statement that is in more than one.
    fn rejoin(&mut self, line: &[u8], held: &mut Option<String>, names: &Names) {
        let Some(text) = held else { return };
        text.push('\n');
        text.push_str(&String::from_utf8_lossy(line));
        match Line::parse(text) {
            Some((pid, line)) if !line.ends_with_path() => {
                self.add(pid, &line, names);
                *held = None;
            }
            _ if text.len() > LONGEST_LINE => self.release(held, names),
            _ => {}
        }
    }

    /// Gives up waiting for more of a statement.
    fn release(&mut self, held: &mut Option<String>, names: &Names) {
        let Some(text) = held.take() else { return };
        match Line::parse(&text) {
            Some((pid, line)) => self.add(pid, &line, names),
            None => self.story.unread += 1,
        }
    }

    fn add(&mut self, pid: u32, line: &Line<'_>, names: &Names) {
        let is_binding = matches!(line, Line::Binding { .. } | Line::Undefined { .. });
        self.lines += usize::from(is_binding);
        if let Line::Binding { from, to, name, .. } = line
            && is_vdso(from.0)
            && from == to
        {
            self.begin(pid, name);
            return;
        }
        if !self.images.contains_key(&pid) {
            let image = self.copy(line);
            self.kept += image.size();
            self.images.insert(pid, image);
        }
        let Some(image) = self.images.get_mut(&pid) else {
            return;
        };
        (image.in_vdso, image.is_new, image.in_libc) = (None, false, false);
        let passed = match *line {
            Line::Init { path } if !is_vdso(path) => {
                let file = path.rsplit('/').next().unwrap_or(path);
                image.in_libc = file.starts_with("libc.so") || file.starts_with("libc-2.");
                let place = self.strings.place(path);
                self.objects.insert(place);
                image.init(place)
            }
            Line::Fini { path, namespace } => {
                let place = self.strings.place(path);
                // Those of the program are called first when it ends, and then nothing is
                // unloaded any more.
                image.ended |= path.is_empty() || image.is_of_program(place);
                if !image.ended {
                    image.fini((place, namespace));
                }
                None
            }
            Line::Program { path } => {
                self.program(pid, path);
                return;
            }
            Line::Binding {
                from,
                to,
                name,
                node,
            } => self.bound(pid, from, Some(to), (name, node), names),
            Line::Undefined { from, name, node } => {
                self.bound(pid, (from, 0), None, (name, node), names)
            }
            Line::Init { .. } => None,
        };
        self.keep(pid, passed);
        if let Line::Binding { name, .. } | Line::Undefined { name, .. } = line
            && names.cover(name)
        {}
    }

    /// ld.so has looked a name up in the vdso: it begins with a program if it looks several
    /// up, and if it was dlsym that did, libraries of the runtime ask for one.
    fn begin(&mut self, pid: u32, name: &str) {
        let name = self.strings.place(name);
        if let Some(image) = self.images.get_mut(&pid) {
            let before = image.in_vdso.replace(name);
            let goes_on = image.is_new || image.in_libc;
            if goes_on || before.is_none_or(|before| before == name) {
                return;
            }
        }
        self.end(pid);
        let mut image = Image::new(Beginning::Program);
        image.in_vdso = Some(name);
        self.images.insert(pid, image);
    }

    /// ld.so has loaded a program.
    fn program(&mut self, pid: u32, path: &str) {
        if self.images.get(&pid).is_some_and(|image| image.started) {
            // Nothing has told that another began.
            self.story.unclear.insert(pid);
            self.end(pid);
        }
        let place = self.strings.place(path);
        self.objects.insert(place);
        self.programs.entry(pid).or_default().push(place);
        self.parents.push(pid);
        let image = self.images.entry(pid);
        let passed = image
            .or_insert_with(|| Image::new(Beginning::Program))
            .start(place);
        self.keep(pid, passed);
    }

    /// What an image was that is no more.
    fn end(&mut self, pid: u32) {
        let Some(image) = self.images.remove(&pid) else {
            return;
        };
        let last = image.now();
        tell(&mut self.story, pid, &image);
        self.keep(pid, last);
    }

    fn keep(&mut self, pid: u32, moment: Option<Moment>) {
        let Some(moment) = moment else { return };
        // Some programs open and close the same file all the time.
        let mut objects = moment.objects.clone();
        objects.sort_unstable();
        if self.seen.insert((pid, objects, moment.references.clone())) {
            self.kept += 2 * moment.size();
            self.passed.push((moment, pid));
        }
    }

    /// What a process begins with that has no beginning of its own: all that its parent
    /// has, if there is one only that it can be.
    fn copy(&mut self, line: &Line<'_>) -> Image {
        let (from, to) = match *line {
            Line::Binding { from, to, .. } => (from.0, to.0),
            Line::Undefined { from, .. } => (from, from),
            Line::Init { path } | Line::Fini { path, .. } | Line::Program { path } => (path, path),
        };
        let (from, to) = (self.strings.place(from), self.strings.place(to));
        let parents: BTreeSet<u32> = self
            .parents
            .iter()
            .rev()
            .take(MOST_PARENTS)
            .copied()
            .collect();
        let named = |image: &Image| image.is_of_program(from) || image.is_of_program(to);
        let has = |image: &Image| image.has((from, 0)) || image.has((to, 0));
        let images = |ended| {
            let images = parents
                .iter()
                .filter_map(|pid| Some((*pid, self.images.get(pid)?)));
            let images: Vec<(u32, &Image)> = images
                .filter(|(_, image)| image.started && image.ended == ended)
                .collect();
            let some = |is_it: &dyn Fn(&Image) -> bool| {
                let some = images.iter().copied().filter(|(_, image)| is_it(image));
                Some(some.collect::<Vec<_>>()).filter(|some| !some.is_empty())
            };
            some(&named)
                .or_else(|| some(&has))
                .unwrap_or(images.clone())
        };
        // A parent that has ended may have left it.
        let of_running = images(false);
        let found = if of_running.is_empty() {
            images(true)
        } else {
            of_running
        };
        match found[..] {
            [(pid, parent)] => parent.fork(pid),
            _ => Image::new(Beginning::Unknown),
        }
    }

    fn bound(
        &mut self,
        pid: u32,
        from: (&str, u32),
        to: Option<(&str, u32)>,
        (name, node): (&str, Option<&str>),
        names: &Names,
    ) -> Option<Moment> {
        let image = self.images.get_mut(&pid)?;
        let strings = &mut self.strings;
        let mut places = Vec::with_capacity(2);
        for (path, namespace) in [Some(from), to].into_iter().flatten() {
            if is_vdso(path) {
                continue;
            }
            let place = match image.program {
                // The title that it has given itself.
                Some(program) if namespace == 0 && !path.contains('/') => program,
                _ => strings.place(path),
            };
            self.objects.insert(place);
            places.push((place, namespace));
        }
        let passed = image.mention(&places);
        if names.cover(name)
            && places.len() == 1 + usize::from(to.is_some())
            && let [from, answer @ ..] = &places[..]
        {
            let kept = Kept {
                from: *from,
                to: answer.first().copied(),
                name: strings.place(name),
                node: node.map(|node| strings.place(node)),
            };
            self.kept += usize::from(image.refer(kept));
        }
        passed
    }

    /// How many processes it is of.
    pub fn processes(&self) -> usize {
        self.images.len()
    }

    /// How many objects it names in all.
    pub fn objects(&self) -> usize {
        self.objects.len()
    }

    /// What it does not tell, and what was understood by it.
    pub fn story(&self) -> Story {
        let mut story = self.story.clone();
        for (pid, image) in &self.images {
            tell(&mut story, *pid, image);
        }
        let strings = self.strings.by_place();
        for (pid, programs) in &self.programs {
            let text = |place: &u32| strings[*place as usize].to_string();
            if programs.len() > 1 {
                let texts = programs.iter().map(text).collect();
                story.programs.insert(*pid, texts);
            }
        }
        story
    }

    /// What it says of every process and moment, with those that have the same objects
    /// and bindings together.
    pub fn alike(&self) -> Vec<Alike> {
        let strings = self.strings.by_place();
        let last = self.images.iter();
        let last = last.filter_map(|(pid, image)| Some((image.now()?, *pid)));
        let last: Vec<(Moment, u32)> = last.collect();
        let mut moments: Vec<&(Moment, u32)> = self.passed.iter().chain(&last).collect();
        moments.sort_by_key(|(_, pid)| *pid);
        let mut places = HashMap::<(Vec<Place>, &[Kept]), usize>::new();
        let mut all: Vec<Alike> = Vec::new();
        for (moment, pid) in moments {
            let mut objects = moment.objects.clone();
            objects.sort_unstable();
            let next = all.len();
            let place = *places.entry((objects, &moment.references)).or_insert(next);
            if place == next {
                all.push(resolve(moment, &strings));
            }
            if all[place].pids.last() != Some(pid) {
                all[place].pids.push(*pid);
            }
            if moment.is_fork && all[place].forks.last() != Some(pid) {
                all[place].forks.push(*pid);
            }
        }
        all
    }
}

/// Takes note of how an image began, and of how far it came.
fn tell(story: &mut Story, pid: u32, image: &Image) {
    match image.beginning {
        Beginning::Program => {
            story.has_beginning = true;
            if !image.started {
                story.not_started.insert(pid);
            }
        }
        Beginning::Fork(parent) => {
            story.forks.insert(pid, parent);
        }
        Beginning::Unknown => {
            story.middle.insert(pid);
        }
    }
}

fn resolve(moment: &Moment, strings: &[&str]) -> Alike {
    let text = |place: u32| strings[place as usize].to_string();
    let indices: HashMap<Place, usize> = moment.objects.iter().copied().zip(0..).collect();
    let mut bindings: Vec<Logged> = moment
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
    let objects = moment.objects.iter();
    let program = moment.program.map(|path| (path, 0));
    Alike {
        pids: Vec::new(),
        forks: Vec::new(),
        objects: objects
            .map(|(path, namespace)| (text(*path), *namespace as usize))
            .collect(),
        program: program.and_then(|place| indices.get(&place).copied()),
        early: (0..moment.objects.len())
            .filter(|at| moment.early.contains(&moment.objects[*at]))
            .collect(),
        bindings,
    }
}
