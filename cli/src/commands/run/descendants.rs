//! The processes that the command starts, and which of them ld.so writes no log of.
//!
//! LD_DEBUG reaches a process by its environment, and `env -i`, sudo and set-user-ID
//! programs drop it. So /proc is looked at while the command runs. What lives between two
//! looks is missed: nothing tells an ordinary user of every process.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::report::Unreadable;

/// Longer lines of ancestors are no real ones.
const MOST_ANCESTORS: usize = 4096;

/// Orphans of the command become children of this process, not of the first one: its
/// descendants stay its descendants.
pub(super) fn adopt_orphans() {
    // SAFETY: takes numbers only. If it fails, orphans are not seen.
    unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) };
}

/// What `execve` has put into a process, and `fork` copies: the addresses of its code and
/// its stack, which are chosen anew for each.
type Image = (u64, u64);

/// `/proc/PID/stat`.
struct Stat {
    state: char,
    parent: u32,
    started: u64,
    image: Option<Image>,
}

impl Stat {
    fn of(pid: u32) -> Option<Stat> {
        let text = fs::read(format!("/proc/{pid}/stat")).ok()?;
        let text = String::from_utf8_lossy(&text);
        // The name in brackets may hold anything.
        let (_, rest) = text.rsplit_once(')')?;
        let fields: Vec<&str> = rest.split_whitespace().collect();
        let number = |at: usize| fields.get(at)?.parse::<u64>().ok();
        let image = (number(23)?, number(25)?);
        Some(Stat {
            state: fields.first()?.chars().next()?,
            parent: number(1)?.try_into().ok()?,
            started: number(19)?,
            // Zero, or one in some kernels, for who may not know, and while it is made.
            image: (image.0 > 1 && image.1 > 1).then_some(image),
        })
    }

    fn has_ended(&self) -> bool {
        matches!(self.state, 'Z' | 'X')
    }
}

/// Why ld.so writes no log of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Why {
    Cleared,
    Static,
    Privileged,
    Hidden,
    Silent,
}

impl Why {
    fn text(self) -> &'static str {
        match self {
            Why::Cleared => {
                "was not looked at: it was started without this LD_DEBUG in its environment, so ld.so wrote no log of it (env -i, sudo and some build systems clear the environment); have them start `hiplazy run -- COMMAND`, or look at it with `hiplazy doctor --pid` while it runs"
            }
            Why::Static => {
                "was not looked at: it is linked statically, and no dynamic linker binds anything in it"
            }
            Why::Privileged => {
                "was not looked at: it gets rights when it starts (set-user-ID, capabilities), and ld.so writes no log of such programs and of what they start; run hiplazy as the user that it becomes"
            }
            Why::Hidden => {
                "was not looked at: ld.so wrote no log under its number, and its environment may not be read to tell why (prctl PR_SET_DUMPABLE, or a container without CAP_SYS_PTRACE); run hiplazy as root"
            }
            Why::Silent => {
                "was not looked at: it was started with LD_DEBUG, and ld.so wrote no log: it has another C library (musl), or cannot reach the folder of the log (a container, or a TMPDIR that other users may not enter) and writes to its standard output instead"
            }
        }
    }
}

/// A program that was seen, in one process or in several that forked from it.
struct Program {
    /// The numbers that logs of it may have.
    numbers: BTreeSet<u32>,
    first: u32,
    name: String,
    command: String,
    why: Option<Why>,
}

/// The processes that were started so far.
pub(super) struct Descendants {
    own: u32,
    proc: &'static Path,
    /// Why processes could not be listed.
    blind: Option<String>,
    output: PathBuf,
    /// Alive: when they started, and what they run.
    alive: HashMap<u32, (u64, Option<Image>)>,
    /// Alive, and none of ours.
    foreign: HashSet<u32>,
    programs: HashMap<Image, Program>,
    /// Those that could not be looked into, by number and start.
    hidden: HashMap<(u32, u64), Program>,
}

impl Descendants {
    /// Those of this process, whose logs are to go to `output`.
    pub(super) fn of_this_process(output: &Path) -> Descendants {
        Descendants {
            own: std::process::id(),
            proc: Path::new("/proc"),
            blind: None,
            output: output.to_path_buf(),
            alive: HashMap::new(),
            foreign: HashSet::new(),
            programs: HashMap::new(),
            hidden: HashMap::new(),
        }
    }

    /// Looks at who is there now.
    pub(super) fn look(&mut self) {
        let listed = match fs::read_dir(self.proc) {
            Ok(listed) => listed,
            Err(error) => {
                self.blind = Some(error.to_string());
                return;
            }
        };
        let listed: HashSet<u32> = listed
            .flatten()
            .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
            .collect();
        self.foreign.retain(|pid| listed.contains(pid));
        self.alive.retain(|pid, _| listed.contains(pid));
        for pid in listed {
            if pid == self.own || self.foreign.contains(&pid) {
                continue;
            }
            let Some(stat) = Stat::of(pid) else { continue };
            let known = self.alive.get(&pid).copied();
            let is_same = known.is_some_and(|(started, _)| started == stat.started);
            if !is_same && !self.is_ours(pid, stat.parent) {
                continue;
            }
            if stat.has_ended() {
                self.alive.remove(&pid);
                continue;
            }
            if is_same
                && stat.image.is_some()
                && known.is_some_and(|(_, image)| image == stat.image)
            {
                continue;
            }
            // What is just being made is not kept, and so looked at again.
            let image = stat
                .image
                .filter(|image| self.look_into(pid, &stat, *image));
            if stat.image.is_none() {
                self.look_from_outside(pid, stat.started);
            }
            self.alive.insert(pid, (stat.started, image));
        }
    }

    /// How many are still there.
    pub(super) fn alive(&self) -> usize {
        self.alive.len()
    }

    fn is_ours(&mut self, pid: u32, parent: u32) -> bool {
        let mut line = vec![pid];
        let mut at = parent;
        loop {
            if at == self.own || self.alive.contains_key(&at) {
                return true;
            }
            if at == 0 || self.foreign.contains(&at) || line.len() > MOST_ANCESTORS {
                self.foreign.extend(line);
                return false;
            }
            line.push(at);
            // One that ended meanwhile left its children to somebody: the next look.
            let Some(stat) = Stat::of(at) else {
                return false;
            };
            at = stat.parent;
        }
    }

    /// Notes what a process runs; whether that could be told.
    fn look_into(&mut self, pid: u32, stat: &Stat, image: Image) -> bool {
        let numbers = own_numbers(pid);
        if let Some(program) = self.programs.get_mut(&image) {
            program.numbers.extend(numbers);
            return true;
        }
        let Ok(why) = why_no_log(pid, &self.output) else {
            return false;
        };
        let (name, command) = (name(pid), command(pid));
        // All of it was of this program only if it runs that still.
        let is_same = Stat::of(pid)
            .is_some_and(|now| now.started == stat.started && now.image == Some(image));
        if is_same {
            let program = Program {
                numbers,
                first: pid,
                name,
                command,
                why,
            };
            self.programs.insert(image, program);
        }
        is_same
    }

    /// What can be told of a process that may not be looked into.
    fn look_from_outside(&mut self, pid: u32, started: u64) {
        if self.hidden.contains_key(&(pid, started)) {
            return;
        }
        match fs::read(format!("/proc/{pid}/environ")) {
            Err(error) if error.kind() == ErrorKind::PermissionDenied => {}
            // It is being made, or has ended.
            _ => return,
        }
        // What has other rights than an ordinary user has got them; root's may have given
        // them up.
        // SAFETY: takes nothing and cannot fail.
        let is_root = unsafe { libc::geteuid() } == 0;
        let why = match (rights(pid), rights(self.own)) {
            (Some(its), Some(own)) if its != own && !is_root => Why::Privileged,
            _ => Why::Hidden,
        };
        let program = Program {
            numbers: own_numbers(pid),
            first: pid,
            name: name(pid),
            command: command(pid),
            why: Some(why),
        };
        self.hidden.insert((pid, started), program);
    }

    /// Those without a log, of which `logged` are the numbers; the command itself is
    /// among them if it has none, whether it was seen or not.
    pub(super) fn without_log(
        &self,
        logged: &BTreeSet<u32>,
        command: (u32, &str),
    ) -> Vec<Unreadable> {
        let has_log =
            |program: &Program| program.numbers.iter().any(|number| logged.contains(number));
        let mut groups = BTreeMap::<(&str, Why), Vec<&Program>>::new();
        for program in self.programs.values().chain(self.hidden.values()) {
            let why = match program.why {
                None | Some(Why::Hidden) if has_log(program) => continue,
                // Told before it was hidden.
                Some(Why::Hidden) if self.has_told(program.first) => continue,
                None => Why::Silent,
                // There is nothing that could be missed, unless that is all there is.
                Some(Why::Static) if program.first != command.0 => continue,
                Some(why) => why,
            };
            groups
                .entry((&program.name, why))
                .or_default()
                .push(program);
        }
        let mut all = Vec::new();
        if let Some(why) = &self.blind {
            all.push(Unreadable {
                path: self.proc.display().to_string(),
                why: format!("cannot be read ({why}): whether a process had no log is not known"),
            });
        }
        let mut has_command = logged.contains(&command.0);
        for ((_, why), mut programs) in groups {
            programs.sort_by_key(|program| program.first);
            let first = programs[0];
            has_command |= programs.iter().any(|program| program.first == command.0);
            let others = match programs.len() {
                1 => String::new(),
                number => format!(" and {} more of this program", number - 1),
            };
            all.push(Unreadable {
                path: format!("process {} ({}){others}", first.first, first.command),
                why: why.text().to_string(),
            });
        }
        if !has_command {
            all.push(Unreadable {
                path: format!("process {} ({})", command.0, command.1),
                why: "was not looked at: ld.so wrote no log of it: it is linked statically, gets rights when it starts (set-user-ID), or has another C library".to_string(),
            });
        }
        all
    }

    fn has_told(&self, pid: u32) -> bool {
        let mut programs = self.programs.values();
        programs.any(|program| program.first == pid)
    }

    /// A line about programs beside the command in which nothing is ever bound.
    pub(super) fn without_linker(&self, command: u32) -> Option<String> {
        let programs = self.programs.values();
        let names: BTreeSet<&str> = programs
            .filter(|program| program.why == Some(Why::Static) && program.first != command)
            .map(|program| program.name.as_str())
            .collect();
        let names: Vec<&str> = names.into_iter().collect();
        (!names.is_empty()).then(|| {
            format!(
                "linked statically, so that nothing is bound in them: {}",
                names.join(", ")
            )
        })
    }

    /// Those that are still there.
    pub(super) fn survivors(&self) -> Vec<Unreadable> {
        let mut alive: Vec<u32> = self.alive.keys().copied().collect();
        alive.sort_unstable();
        let text = |pid: u32| {
            Unreadable {
            path: format!("process {pid} ({})", command(pid)),
            why: "outlives the command: what it binds from now on is not in this report; `hiplazy doctor --pid` looks at it".to_string(),
        }
        };
        alive.into_iter().map(text).collect()
    }
}

/// Why ld.so writes no log of what a process runs, or `None` if it does so.
fn why_no_log(pid: u32, output: &Path) -> io::Result<Option<Why>> {
    let environment = fs::read(format!("/proc/{pid}/environ"))?;
    let auxiliary = fs::read(format!("/proc/{pid}/auxv"))?;
    let program = fs::read_link(format!("/proc/{pid}/exe"))?;
    let (words, _) = auxiliary.as_chunks::<8>();
    let (pairs, _) = words.as_chunks::<2>();
    let word = |wanted: u64| {
        let mut pairs = pairs.iter();
        let [_, value] = pairs.find(|[kind, _]| u64::from_ne_bytes(*kind) == wanted)?;
        Some(u64::from_ne_bytes(*value))
    };
    if word(libc::AT_SECURE).is_some_and(|secure| secure != 0) {
        return Ok(Some(Why::Privileged));
    }
    // No dynamic linker beside the program, and it is none itself.
    let name = program.file_name().unwrap_or_default().as_bytes();
    if word(libc::AT_BASE) == Some(0) && !name.starts_with(b"ld-") && !name.starts_with(b"ld.so") {
        return Ok(Some(Why::Static));
    }
    let mut entries = environment.split(|byte| *byte == 0).peekable();
    // Programs that show a title of their own in `ps` write it over their environment.
    let is_title = |entry: &&[u8]| !entry.contains(&b'=');
    if !environment.is_empty() && entries.peek().is_some_and(is_title) {
        return Ok(None);
    }
    let (mut bindings, mut ours) = (false, false);
    for entry in entries {
        if let Some(value) = entry.strip_prefix(b"LD_DEBUG=") {
            let mut words = value.split(|byte| b" ,:".contains(byte));
            bindings = words.any(|word| word == b"bindings" || word == b"all");
        } else if let Some(value) = entry.strip_prefix(b"LD_DEBUG_OUTPUT=") {
            ours = value == output.as_os_str().as_bytes();
        }
    }
    Ok((!bindings || !ours).then_some(Why::Cleared))
}

/// The numbers that a process knows itself by: another one in a container.
fn own_numbers(pid: u32) -> BTreeSet<u32> {
    let status = status(pid);
    let numbers = field(&status, "NSpid:").unwrap_or_default();
    let numbers = numbers.split_whitespace();
    numbers
        .filter_map(|number| number.parse().ok())
        .chain([pid])
        .collect()
}

/// The users that a process is, and its capabilities.
fn rights(pid: u32) -> Option<(String, String)> {
    let status = status(pid);
    Some((field(&status, "Uid:")?, field(&status, "CapPrm:")?))
}

fn status(pid: u32) -> String {
    let text = fs::read(format!("/proc/{pid}/status")).unwrap_or_default();
    String::from_utf8_lossy(&text).into_owned()
}

fn field(status: &str, name: &str) -> Option<String> {
    let mut lines = status.lines();
    let value = lines.find_map(|line| line.strip_prefix(name))?;
    Some(value.trim().to_string())
}

fn name(pid: u32) -> String {
    let text = fs::read(format!("/proc/{pid}/comm")).unwrap_or_default();
    String::from_utf8_lossy(&text).trim_end().to_string()
}

/// The command line, as far as it fits into a report.
fn command(pid: u32) -> String {
    const SHOWN: usize = 120;
    let text = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let words: Vec<_> = text
        .split(|byte| *byte == 0)
        .map(String::from_utf8_lossy)
        .collect();
    let line = words.join(" ");
    let line = line.trim_end();
    if line.is_empty() {
        return name(pid);
    }
    match line.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}...", &line[..end]),
        None => line.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_proc_the_report_says_that_processes_are_not_known() {
        let mut descendants = Descendants::of_this_process(Path::new("/log"));
        let logged = BTreeSet::from([7]);
        assert_eq!(descendants.without_log(&logged, (7, "x")), []);
        descendants.proc = Path::new("/no/such/proc");
        descendants.look();
        let not_seen = descendants.without_log(&logged, (7, "x"));
        assert_eq!(not_seen.len(), 1);
        assert!(not_seen[0].why.contains("is not known"), "{not_seen:?}");
    }

    #[test]
    fn a_command_that_was_never_seen_and_has_no_log_is_named() {
        let descendants = Descendants::of_this_process(Path::new("/log"));
        let not_seen = descendants.without_log(&BTreeSet::new(), (7, "x"));
        assert_eq!(not_seen.len(), 1);
        assert_eq!(not_seen[0].path, "process 7 (x)");
    }
}
