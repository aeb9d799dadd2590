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
            Error::Zombie(pid) => write!(
                f,
                "process {pid} has exited and only waits for its parent to notice: nothing is mapped any more"
            ),
            Error::KernelThread(pid) => write!(
                f,
                "process {pid} is a thread of the kernel: it has no program and no libraries"
            ),
            Error::NotPermitted { pid, reading, user } => {
                write!(f, "process {pid} may not be read ({reading}): ")?;
                // SAFETY: takes nothing and cannot fail.
                let own = unsafe { libc::getuid() };
                match user {
                    Some(user) if *user != own => write!(
                        f,
                        "it belongs to user {user}, and this is user {own}; run this as that user (sudo -u '#{user}' hiplazy doctor --pid {pid}) or as root"
                    ),
                    _ if yama_restricts() => write!(
                        f,
                        "kernel.yama.ptrace_scope lets a user read only processes that were started from here; use sudo, or `sysctl kernel.yama.ptrace_scope=0`, or start the program with `hiplazy run -- COMMAND`"
                    ),
                    _ => write!(
                        f,
                        "it has more rights than its user, or has made itself unreadable (prctl PR_SET_DUMPABLE); run this as root"
                    ),
                }
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

/// Whether the Yama module keeps a user from reading the memory of their own processes.
pub(super) fn yama_restricts() -> bool {
    std::fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope")
        .is_ok_and(|scope| scope.trim() != "0")
}
