//! Why a process could not be looked at, and what helps.

use std::fmt;
use std::io;

/// Why there is no report.
#[derive(Debug)]
pub enum Error {
    /// No process has this number.
    NoSuchProcess(u32),
    /// It ended while it was being read.
    Exited(u32),
    /// It started another program while it was being read.
    OtherProgram(u32),
    /// It has ended and waits for its parent.
    Zombie(u32),
    /// A thread of the kernel: it has no program.
    KernelThread(u32),
    /// It belongs to somebody else, or hides its memory.
    NotPermitted {
        /// The process.
        pid: u32,
        /// What was being read.
        reading: &'static str,
        /// Whose process it is.
        user: Option<u32>,
    },
    /// A 32-bit program.
    ThirtyTwoBit(String),
    /// No dynamic linker is in it.
    Static(String),
    /// The dynamic linker has not got so far.
    NotStarted(String),
    /// Its memory does not look as it should.
    Unexpected {
        /// The process.
        pid: u32,
        /// What was being read, and why that failed.
        why: String,
    },
}

impl Error {
    /// What an error of the system means when `reading` something of process `pid`.
    pub fn reading(pid: u32, reading: &'static str, error: &io::Error) -> Error {
        Error::of(pid, reading, error)
    }

    /// Whether the same question may have another answer in a moment, though the process
    /// is the same: an object was unloaded, the dynamic linker was not yet ready, or the
    /// memory was exchanged for that of a new program.
    pub fn may_pass(&self) -> bool {
        matches!(
            self,
            Error::Exited(_)
                | Error::OtherProgram(_)
                | Error::NotStarted(_)
                | Error::Unexpected { .. }
        )
    }

    pub(super) fn of(pid: u32, reading: &'static str, error: &io::Error) -> Error {
        match error.raw_os_error() {
            Some(libc::ESRCH | libc::ENOENT) => Error::Exited(pid),
            Some(libc::EPERM | libc::EACCES) => Error::NotPermitted {
                pid,
                reading,
                user: super::proc_folder::ProcFolder::of(pid).user(),
            },
            _ => Error::Unexpected {
                pid,
                why: format!("{reading}: {error}"),
            },
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::NoSuchProcess(pid) => write!(
                f,
                "there is no process {pid} (in a container, numbers are those that the container sees)"
            ),
            Error::Exited(pid) => write!(
                f,
                "process {pid} exited while it was read; `hiplazy run -- COMMAND` reports on a command that is over soon"
            ),
            Error::OtherProgram(pid) => write!(
                f,
                "process {pid} runs another program than when reading it began; ask again when it does not start programs in its own place (exec), or start it with `hiplazy run -- COMMAND`"
            ),
            Error::Zombie(pid) => write!(
                f,
                "process {pid} has exited and only waits for its parent to notice: nothing is mapped any more"
            ),
            Error::KernelThread(pid) => write!(
                f,
                "process {pid} is a thread of the kernel: it has no program and no libraries"
            ),
            Error::NotPermitted { pid, reading, user } => {
                // SAFETY: takes nothing and cannot fail.
                let own = unsafe { libc::getuid() };
                let why = refusal(*pid, *user, own, may_trace(), yama_scope());
                write!(f, "process {pid} may not be read ({reading}): {why}")
            }
            Error::ThirtyTwoBit(program) => write!(
                f,
                "{program} is a 32-bit program, and HIP exists for 64-bit processes only"
            ),
            Error::Static(program) => write!(
                f,
                "{program} is linked statically: there is no dynamic linker in the process, and no name is bound at run time"
            ),
            Error::NotStarted(program) => write!(
                f,
                "the dynamic linker has not yet loaded what {program} needs; try again in a moment"
            ),
            Error::Unexpected { pid, why } => write!(f, "process {pid} cannot be read: {why}"),
        }
    }
}

impl std::error::Error for Error {}

/// Why user `own` may not read a process of `user`, and what helps.
fn refusal(pid: u32, user: Option<u32>, own: u32, may_trace: bool, yama: u32) -> String {
    match (user, yama) {
        (_, 3..) => "kernel.yama.ptrace_scope is 3: nobody may read another process until the next boot; start the program with `hiplazy run -- COMMAND`".into(),
        _ if may_trace => "this has CAP_SYS_PTRACE, so the process is in another user namespace, or a security module (SELinux, AppArmor, seccomp) forbids it; run this where the process was started, or on the host".into(),
        _ if own == 0 => "this is root without CAP_SYS_PTRACE, as in most containers; start the container with --cap-add=SYS_PTRACE, or run this on the host".into(),
        (Some(user), _) if user != own => format!(
            "it belongs to user {user}, and this is user {own}; run this as that user (sudo -u '#{user}' hiplazy doctor --pid {pid}) or as root (CAP_SYS_PTRACE)"
        ),
        (_, 2) => "kernel.yama.ptrace_scope is 2: only CAP_SYS_PTRACE may read processes; use sudo, or start the program with `hiplazy run -- COMMAND`".into(),
        (_, 1) => "kernel.yama.ptrace_scope lets a user read only processes that were started from here; use sudo, or `sysctl kernel.yama.ptrace_scope=0`, or start the program with `hiplazy run -- COMMAND`".into(),
        _ => "it has more rights than its user, or has made itself unreadable (prctl PR_SET_DUMPABLE); run this as root (CAP_SYS_PTRACE)".into(),
    }
}

/// `kernel.yama.ptrace_scope`: from 1 on, a user may not read all of their own processes.
fn yama_scope() -> u32 {
    let text = std::fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope");
    text.ok()
        .and_then(|text| text.trim().parse().ok())
        .unwrap_or(0)
}

/// Whether this process has `CAP_SYS_PTRACE`.
fn may_trace() -> bool {
    const CAP_SYS_PTRACE: u64 = 19;
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let set = line.and_then(|line| u64::from_str_radix(line.trim(), 16).ok());
    set.is_some_and(|set| set >> CAP_SYS_PTRACE & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_names_what_forbids_it() {
        let why = |user, own, may_trace, yama| refusal(1, Some(user), own, may_trace, yama);
        assert!(why(0, 1000, false, 0).contains("sudo -u '#0' hiplazy doctor --pid 1"));
        assert!(why(1000, 1000, false, 0).contains("PR_SET_DUMPABLE"));
        assert!(why(1000, 1000, false, 1).contains("ptrace_scope=0"));
        assert!(why(1000, 1000, false, 2).contains("ptrace_scope is 2"));
        assert!(why(1000, 0, true, 3).contains("until the next boot"));
        // "Run this as root" is no advice for root.
        assert!(why(1000, 0, false, 0).contains("--cap-add=SYS_PTRACE"));
        assert!(why(1000, 0, true, 0).contains("another user namespace"));
    }
}
