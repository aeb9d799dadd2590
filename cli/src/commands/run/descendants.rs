//! The processes that the command starts, and which of them tell nothing.
//!
//! LD_AUDIT reaches a process by its environment, and `env -i`, sudo and set-user-ID
//! programs drop it. So /proc is looked at while the command runs. What lives between two
//! looks is missed: nothing tells an ordinary user of every process.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::module::is_in;
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

/// Why a program tells nothing.
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
                "was not looked at: it was started without this LD_AUDIT in its environment, so nothing tells what was bound in it (env -i, sudo and some build systems clear the environment); have them start `hiplazy run -- COMMAND`, or look at it with `hiplazy doctor --pid` while it runs"
            }
            Why::Static => {
                "was not looked at: it is linked statically, and no dynamic linker binds anything in it"
            }
            Why::Privileged => {
                "was not looked at: it gets rights when it starts (set-user-ID, capabilities), and ld.so heeds no LD_AUDIT in such programs and in what they start; run hiplazy as the user that it becomes"
            }
            Why::Hidden => {
                "was not looked at: it told nothing, and its environment may not be read to say why (prctl PR_SET_DUMPABLE, or a container without CAP_SYS_PTRACE); run hiplazy as root"
            }
            Why::Silent => {
                "was not looked at: it was started with LD_AUDIT, and told nothing: it has another C library (musl), is a 32-bit program, cannot reach the module (a container, chroot, or a TMPDIR that other users may not enter), or has a network of its own; look at it with `hiplazy doctor --pid` while it runs"
            }
        }
    }
}

/// A program that was seen, in one process or in several that forked from it.
struct Program {
    first: u32,
    name: String,
    command: String,
    why: Option<Why>,
    /// First seen in a process that had forked: another, who was not seen, has told of it.
    forked: bool,
}

/// Processes of one program that told nothing.
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
    module: PathBuf,
    alive: HashMap<u32, Alive>,
    /// Alive, and none of ours.
    foreign: HashSet<u32>,
    /// What runs.
    programs: HashMap<Image, Program>,
    /// What runs, and could not be looked into, by number and start.
    hidden: HashMap<(u32, u64), Program>,
    /// What ran and told nothing: there may be many in a long time.
    silent: BTreeMap<(String, Why), Group>,
}

impl Descendants {
    /// Those of this process, which are to load `module`.
    pub(super) fn of_this_process(module: &Path) -> Descendants {
        Descendants {
            own: std::process::id(),
            proc: Path::new("/proc"),
            blind: None,
            module: module.to_path_buf(),
            alive: HashMap::new(),
            foreign: HashSet::new(),
            programs: HashMap::new(),
            hidden: HashMap::new(),
            silent: BTreeMap::new(),
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

    /// Puts what has ended together; `told` says whether a process has told anything.
    pub(super) fn forget(&mut self, told: &impl Fn(u32) -> bool) {
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
            let has_told = told(program.first);
            let why = match program.why {
                None | Some(Why::Hidden) if has_told => continue,
                None if program.forked => continue,
                why => why.unwrap_or(Why::Silent),
            };
            let group = self.silent.entry((program.name, why));
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
        let Ok(why) = why_silent(pid, &self.module) else {
            return false;
        };
        let (name, command) = (name(pid), command(pid));
        // All of it was of this program only if it runs that still.
        let is_same = Stat::of(pid)
            .is_some_and(|now| now.started == stat.started && now.image == Some(image));
        if is_same {
            let program = Program {
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
            first: pid,
            name: name(pid),
            command: command(pid),
            why: Some(why),
            forked: false,
        };
        self.hidden.insert((pid, started), program);
    }

    /// Those that have told nothing when all is over; the command itself is among them if
    /// it has not, whether it was seen or not.
    pub(super) fn silent(
        &mut self,
        told: &impl Fn(u32) -> bool,
        command: (u32, &str),
    ) -> Vec<Unreadable> {
        let survivors = std::mem::take(&mut self.alive);
        self.forget(told);
        self.alive = survivors;
        let mut all = Vec::new();
        if let Some(why) = &self.blind {
            all.push(Unreadable {
                path: self.proc.display().to_string(),
                why: format!("cannot be read ({why}): whether a process told nothing is not known"),
            });
        }
        let mut has_command = told(command.0);
        for ((_, why), group) in &self.silent {
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
                why: "was not looked at: it told nothing: it is linked statically, gets rights when it starts (set-user-ID), or has another C library".to_string(),
            });
        }
        all
    }

    /// A line about programs beside the command in which nothing is ever bound.
    pub(super) fn without_linker(&self, command: u32) -> Option<String> {
        let groups = self.silent.iter();
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

/// Why what a process runs tells nothing, or `None` if it should.
fn why_silent(pid: u32, module: &Path) -> io::Result<Option<Why>> {
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
    Ok(is_cleared(&environment, module).then_some(Why::Cleared))
}

/// Whether an environment has no LD_AUDIT with this module.
fn is_cleared(environment: &[u8], module: &Path) -> bool {
    let mut entries = environment.split(|byte| *byte == 0).peekable();
    // Programs that show a title of their own in `ps` write it over their environment.
    let is_title = |entry: &&[u8]| !entry.contains(&b'=');
    if !environment.is_empty() && entries.peek().is_some_and(is_title) {
        return false;
    }
    !entries
        .filter_map(|entry| entry.strip_prefix(b"LD_AUDIT="))
        .any(|variable| is_in(variable, module))
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
            first: pid,
            name: name.into(),
            command: format!("{name} --all"),
            why,
            forked: false,
        }
    }

    fn none() -> Descendants {
        Descendants::of_this_process(Path::new("/m.so"))
    }

    #[test]
    fn without_proc_the_report_says_that_processes_are_not_known() {
        let mut descendants = none();
        assert_eq!(descendants.silent(&|_| true, (7, "x")), []);
        descendants.proc = Path::new("/no/such/proc");
        descendants.look();
        let not_seen = descendants.silent(&|_| true, (7, "x"));
        assert_eq!(not_seen.len(), 1);
        assert!(not_seen[0].why.contains("is not known"), "{not_seen:?}");
    }

    #[test]
    fn a_command_that_was_never_seen_and_told_nothing_is_named() {
        let not_seen = none().silent(&|_| false, (7, "x"));
        assert_eq!(not_seen.len(), 1);
        assert_eq!(not_seen[0].path, "process 7 (x)");
    }

    #[test]
    fn what_forked_before_it_was_seen_is_known_by_its_parent() {
        let mut descendants = none();
        for (pid, forked) in [(100, false), (200, true)] {
            let mut seen = program(pid, "daemon", None);
            seen.forked = forked;
            descendants.programs.insert((1, u64::from(pid)), seen);
        }
        let not_seen = descendants.silent(&|pid| pid == 7, (7, "x"));
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
    fn an_environment_tells_whether_the_module_is_loaded() {
        for (environment, cleared) in [
            ("A=b\0LD_AUDIT=/m.so\0LD_DEBUG=all\0", false),
            ("LD_AUDIT=/other.so:/m.so\0", false),
            ("A=b\0LD_AUDIT=/other.so\0", true),
            ("LD_AUDIT=/m.so.2\0", true),
            ("MY_LD_AUDIT=/m.so\0", true),
            ("", true),
            // A title was written over it.
            ("\0\0\0", false),
            ("idle\0\0OLD=1\0", false),
        ] {
            let is = is_cleared(environment.as_bytes(), Path::new("/m.so"));
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
        let not_seen = descendants.silent(&|_| true, (7, "x"));
        let mut paths: Vec<&str> = not_seen.iter().map(|one| one.path.as_str()).collect();
        paths.sort_unstable();
        let expected = [
            "process 100 (cc --all) and 499 more of this program",
            "process 5100 (ssh-agent --all) and 999 more of this program",
        ];
        assert_eq!(
            paths, expected,
            "those that told something are no strangers"
        );
    }
}
