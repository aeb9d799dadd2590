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
    /// It runs what its parent did.
    forked: bool,
}

impl Stat {
    fn of(pid: u32) -> Option<Stat> {
        /// `PF_FORKNOEXEC` of the kernel's sched.h.
        const FORKED: u64 = 0x40;
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
            forked: number(6)? & FORKED != 0,
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
    /// The numbers that its log may have.
    numbers: BTreeSet<u32>,
    first: u32,
    name: String,
    command: String,
    why: Option<Why>,
    /// First seen in a process that had forked: the log is another's, who was not seen.
    forked: bool,
}

/// Processes of one program without a log.
struct Group {
    first: u32,
    command: String,
    number: usize,
}

/// A process that is there.
#[derive(Clone, Copy)]
struct Alive {
    started: u64,
    image: Option<Image>,
    /// Whether it could be looked into once.
    known: bool,
}

/// The processes that were started so far.
pub(super) struct Descendants {
    own: u32,
    proc: &'static Path,
    /// Why processes could not be listed.
    blind: Option<String>,
    output: PathBuf,
    alive: HashMap<u32, Alive>,
    /// Alive, and none of ours.
    foreign: HashSet<u32>,
    /// What runs.
    programs: HashMap<Image, Program>,
    /// What runs, and could not be looked into, by number and start.
    hidden: HashMap<(u32, u64), Program>,
    /// What ran and had no log: there may be many in a long time.
    without_log: BTreeMap<(String, Why), Group>,
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
            without_log: BTreeMap::new(),
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
            let before = self.alive.get(&pid).copied();
            let before = before.filter(|before| before.started == stat.started);
            if before.is_none() && !self.is_ours(pid, stat.parent) {
                continue;
            }
            if stat.has_ended() {
                self.alive.remove(&pid);
                continue;
            }
            if stat.image.is_some() && before.is_some_and(|before| before.image == stat.image) {
                continue;
            }
            // What is just being made is not kept, and so looked at again.
            let image = stat
                .image
                .filter(|image| self.look_into(pid, &stat, *image));
            let known = image.is_some() || before.is_some_and(|before| before.known);
            if stat.image.is_none() {
                self.look_from_outside(pid, stat.started, known);
            }
            let now = Alive {
                started: stat.started,
                image,
                known,
            };
            self.alive.insert(pid, now);
        }
    }

    /// Puts what has ended together; `logged` are the numbers of the logs now.
    pub(super) fn forget(&mut self, logged: &impl Fn(u32) -> bool) {
        let images: HashSet<Image> = self.alive.values().filter_map(|one| one.image).collect();
        let alive = &self.alive;
        let ended = self
            .programs
            .extract_if(|image, _| !images.contains(image))
            .map(|(_, program)| program);
        let hidden = self.hidden.extract_if(|(pid, started), _| {
            alive.get(pid).is_none_or(|one| one.started != *started)
        });
        for program in ended.chain(hidden.map(|(_, program)| program)) {
            let has_log = program.numbers.iter().any(|number| logged(*number));
            let why = match program.why {
                None | Some(Why::Hidden) if has_log => continue,
                None if program.forked => continue,
                why => why.unwrap_or(Why::Silent),
            };
            let group = self.without_log.entry((program.name, why));
            group
                .and_modify(|group| group.number += 1)
                .or_insert(Group {
                    first: program.first,
                    command: program.command,
                    number: 1,
                });
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
        if self.programs.contains_key(&image) {
            return true;
        }
        let Ok(why) = why_no_log(pid, &self.output) else {
            return false;
        };
        let (numbers, name, command) = (own_numbers(pid), name(pid), command(pid));
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
                forked: stat.forked,
            };
            self.programs.insert(image, program);
        }
        is_same
    }

    /// What can be told of a process that may not be looked into.
    fn look_from_outside(&mut self, pid: u32, started: u64, known: bool) {
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
            // Told before it hid itself.
            _ if known => return,
            _ => Why::Hidden,
        };
        let program = Program {
            numbers: own_numbers(pid),
            first: pid,
            name: name(pid),
            command: command(pid),
            why: Some(why),
            forked: false,
        };
        self.hidden.insert((pid, started), program);
    }

    /// Those without a log when all is over; the command itself is among them if it has
    /// none, whether it was seen or not.
    pub(super) fn without_log(
        &mut self,
        logged: &impl Fn(u32) -> bool,
        command: (u32, &str),
    ) -> Vec<Unreadable> {
        let survivors = std::mem::take(&mut self.alive);
        self.forget(logged);
        self.alive = survivors;
        let mut all = Vec::new();
        if let Some(why) = &self.blind {
            all.push(Unreadable {
                path: self.proc.display().to_string(),
                why: format!("cannot be read ({why}): whether a process had no log is not known"),
            });
        }
        let mut has_command = logged(command.0);
        for ((_, why), group) in &self.without_log {
            // There is nothing that could be missed, unless that is all there is.
            if *why == Why::Static && group.first != command.0 {
                continue;
            }
            has_command |= group.first == command.0;
            let others = match group.number {
                1 => String::new(),
                number => format!(" and {} more of this program", number - 1),
            };
            all.push(Unreadable {
                path: format!("process {} ({}){others}", group.first, group.command),
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

    /// A line about programs beside the command in which nothing is ever bound.
    pub(super) fn without_linker(&self, command: u32) -> Option<String> {
        let groups = self.without_log.iter();
        let names: Vec<&str> = groups
            .filter(|((_, why), group)| *why == Why::Static && group.first != command)
            .map(|((name, _), _)| name.as_str())
            .collect();
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
    Ok(is_cleared(&environment, output).then_some(Why::Cleared))
}

/// Whether an environment has no LD_DEBUG that leads to this log.
fn is_cleared(environment: &[u8], output: &Path) -> bool {
    let mut entries = environment.split(|byte| *byte == 0).peekable();
    // Programs that show a title of their own in `ps` write it over their environment.
    let is_title = |entry: &&[u8]| !entry.contains(&b'=');
    if !environment.is_empty() && entries.peek().is_some_and(is_title) {
        return false;
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
    !bindings || !ours
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

    fn program(pid: u32, name: &str, why: Option<Why>) -> Program {
        Program {
            numbers: BTreeSet::from([pid]),
            first: pid,
            name: name.into(),
            command: format!("{name} --all"),
            why,
            forked: false,
        }
    }

    fn none() -> Descendants {
        Descendants::of_this_process(Path::new("/log"))
    }

    #[test]
    fn without_proc_the_report_says_that_processes_are_not_known() {
        let mut descendants = none();
        assert_eq!(descendants.without_log(&|_| true, (7, "x")), []);
        descendants.proc = Path::new("/no/such/proc");
        descendants.look();
        let not_seen = descendants.without_log(&|_| true, (7, "x"));
        assert_eq!(not_seen.len(), 1);
        assert!(not_seen[0].why.contains("is not known"), "{not_seen:?}");
    }

    #[test]
    fn a_command_that_was_never_seen_and_has_no_log_is_named() {
        let not_seen = none().without_log(&|_| false, (7, "x"));
        assert_eq!(not_seen.len(), 1);
        assert_eq!(not_seen[0].path, "process 7 (x)");
    }

    #[test]
    fn what_forked_before_it_was_seen_has_the_log_of_its_parent() {
        let mut descendants = none();
        for (pid, forked) in [(100, false), (200, true)] {
            let mut seen = program(pid, "daemon", None);
            seen.forked = forked;
            descendants.programs.insert((1, u64::from(pid)), seen);
        }
        let not_seen = descendants.without_log(&|pid| pid == 7, (7, "x"));
        let paths: Vec<&str> = not_seen.iter().map(|one| one.path.as_str()).collect();
        assert_eq!(paths, ["process 100 (daemon --all)"]);
    }

    #[test]
    fn a_process_is_told_from_its_forks_by_exec() {
        let own = Stat::of(std::process::id()).unwrap();
        assert!(!own.forked && own.image.is_some() && !own.has_ended());
        // SAFETY: the child calls nothing but `pause`, until it is killed.
        let child = unsafe { libc::fork() };
        if child == 0 {
            loop {
                // SAFETY: takes nothing.
                unsafe { libc::pause() };
            }
        }
        let fork = Stat::of(child.try_into().unwrap()).unwrap();
        // SAFETY: ends a child of this process, and waits for it.
        unsafe {
            libc::kill(child, libc::SIGKILL);
            libc::waitpid(child, std::ptr::null_mut(), 0);
        }
        assert!(fork.forked && fork.image == own.image);
        assert_eq!(fork.parent, std::process::id());
    }

    #[test]
    fn an_environment_tells_whether_there_is_a_log() {
        for (environment, cleared) in [
            (
                "A=b\0LD_DEBUG=bindings,files\0LD_DEBUG_OUTPUT=/log\0",
                false,
            ),
            ("LD_DEBUG_OUTPUT=/log\0LD_DEBUG=all\0", false),
            ("A=b\0LD_DEBUG=libs\0LD_DEBUG_OUTPUT=/log\0", true),
            ("LD_DEBUG=bindings\0LD_DEBUG_OUTPUT=/other\0", true),
            ("LD_DEBUG=bindings\0", true),
            ("", true),
            // A title was written over it.
            ("\0\0\0", false),
            ("idle\0\0OLD=1\0", false),
        ] {
            let is = is_cleared(environment.as_bytes(), Path::new("/log"));
            assert_eq!(is, cleared, "{environment:?}");
        }
    }

    /// As many as a build starts in an hour.
    #[test]
    fn what_has_ended_is_counted_and_not_kept() {
        let mut descendants = none();
        for pid in 100..1100 {
            let image = (1, u64::from(pid));
            let why = (pid % 2 == 0).then_some(Why::Cleared);
            descendants.programs.insert(image, program(pid, "cc", why));
            let unread = program(pid + 5000, "ssh-agent", Some(Why::Hidden));
            descendants.hidden.insert((pid, 1), unread);
            descendants.forget(&|pid| pid < 1100);
            assert!(descendants.programs.is_empty() && descendants.hidden.is_empty());
        }
        let not_seen = descendants.without_log(&|_| true, (7, "x"));
        let mut paths: Vec<&str> = not_seen.iter().map(|one| one.path.as_str()).collect();
        paths.sort_unstable();
        let expected = [
            "process 100 (cc --all) and 499 more of this program",
            "process 5100 (ssh-agent --all) and 999 more of this program",
        ];
        assert_eq!(paths, expected, "those with a log are no strangers");
    }
}
