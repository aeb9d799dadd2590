//! Signals that are sent to `hiplazy run` and meant for its command.
//!
//! The terminal sends Ctrl-C to the command as well, so that is left to the command
//! alone, which may go on after it. What `kill` sends here is passed on.

use std::io;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::time::{Duration, Instant};

/// Those that ask a program to end.
const ENDING: [libc::c_int; 4] = [libc::SIGTERM, libc::SIGHUP, libc::SIGINT, libc::SIGQUIT];

/// Those that mean something to programs which know them: batch systems announce the end
/// of a job's time by them, and ask for a checkpoint.
const OTHER: [libc::c_int; 5] = [
    libc::SIGUSR1,
    libc::SIGUSR2,
    libc::SIGCONT,
    libc::SIGALRM,
    libc::SIGWINCH,
];

/// All that are passed on.
fn passed() -> impl Iterator<Item = libc::c_int> {
    ENDING.into_iter().chain(OTHER)
}

/// Which of them were sent since they were last looked at.
static SENT: [AtomicBool; ENDING.len() + OTHER.len()] =
    [const { AtomicBool::new(false) }; ENDING.len() + OTHER.len()];

/// The command, once there is one.
static COMMAND: AtomicI32 = AtomicI32::new(0);

/// One who asks twice within this time has asked once: `timeout` sends a signal to its
/// child and then to the whole group.
const ONCE: Duration = Duration::from_millis(500);

/// Keeps the signals from ending this process. The command gets the dispositions that
/// were there before: a handler does not survive `exec`, and what was ignored stays so.
pub(super) struct Signals {
    caught: Vec<(libc::c_int, libc::sigaction)>,
    first: Option<Instant>,
}

impl Signals {
    pub(super) fn catch() -> Signals {
        let mut caught = Vec::new();
        for signal in passed() {
            let mut before = MaybeUninit::<libc::sigaction>::uninit();
            // SAFETY: only asks, and fills `before`, which has room for the answer.
            let before = unsafe {
                if libc::sigaction(signal, ptr::null(), before.as_mut_ptr()) != 0 {
                    continue;
                }
                before.assume_init()
            };
            // nohup, and jobs in the background of a shell without job control.
            if before.sa_sigaction == libc::SIG_IGN {
                continue;
            }
            // SAFETY: zeroes are a valid value: no flags, an empty mask.
            let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
            action.sa_sigaction = note as extern "C" fn(_, _, _) as libc::sighandler_t;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
            // SAFETY: `note` has the form that SA_SIGINFO asks for, and does only what a
            // handler may: it stores into atomics.
            unsafe { libc::sigaction(signal, &action, ptr::null_mut()) };
            caught.push((signal, before));
        }
        Signals {
            caught,
            first: None,
        }
    }

    /// Who gets them from now on.
    pub(super) fn pass_to(&self, command: u32) {
        COMMAND.store(command as libc::pid_t, Ordering::Relaxed);
    }

    /// Passes on what was sent meanwhile. The second time, whose signal is returned, the
    /// sender does not want to wait for the command.
    pub(super) fn pass_on(&mut self) -> Option<libc::c_int> {
        let command = COMMAND.load(Ordering::Relaxed);
        for (signal, sent) in passed().zip(&SENT) {
            if !sent.swap(false, Ordering::Relaxed) {
                continue;
            }
            if command > 0 {
                // SAFETY: the command is a child that has not been waited for, so the
                // number is its own.
                unsafe { libc::kill(command, signal) };
            }
            match self.first {
                _ if OTHER.contains(&signal) => {}
                Some(first) if first.elapsed() > ONCE => return Some(signal),
                Some(_) => {}
                None => self.first = Some(Instant::now()),
            }
        }
        None
    }
}

/// What SIGPIPE did when this process began: the standard library has it ignored since.
static PIPE_IGNORED: AtomicBool = AtomicBool::new(false);

#[used]
#[unsafe(link_section = ".init_array")]
static BEFORE_MAIN: extern "C" fn() = note_pipe;

extern "C" fn note_pipe() {
    let mut action = MaybeUninit::<libc::sigaction>::uninit();
    // SAFETY: only asks, and fills `action`, which has room for the answer.
    unsafe {
        if libc::sigaction(libc::SIGPIPE, ptr::null(), action.as_mut_ptr()) == 0 {
            let ignored = action.assume_init().sa_sigaction == libc::SIG_IGN;
            PIPE_IGNORED.store(ignored, Ordering::Relaxed);
        }
    }
}

/// Gives the command the SIGPIPE that this process was started with. To be called before
/// `exec`, where the standard library has made it the default.
pub(super) fn restore_pipe() -> io::Result<()> {
    if PIPE_IGNORED.load(Ordering::Relaxed) {
        // SAFETY: no handler is installed.
        unsafe { libc::signal(libc::SIGPIPE, libc::SIG_IGN) };
    }
    Ok(())
}

impl Drop for Signals {
    fn drop(&mut self) {
        COMMAND.store(0, Ordering::Relaxed);
        for (signal, before) in &self.caught {
            // SAFETY: puts back what was there.
            unsafe { libc::sigaction(*signal, before, ptr::null_mut()) };
        }
    }
}

extern "C" fn note(signal: libc::c_int, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    // SAFETY: with SA_SIGINFO the kernel passes a valid one.
    let (code, sender) = unsafe { ((*info).si_code, (*info).si_pid()) };
    let command = COMMAND.load(Ordering::Relaxed);
    // The terminal's went to the command as well; a command that signals its group knows.
    // (A sender from outside of this container has the number 0.)
    if code == libc::SI_KERNEL || (command > 0 && sender == command) {
        return;
    }
    for (known, sent) in passed().zip(&SENT) {
        if known == signal {
            sent.store(true, Ordering::Relaxed);
        }
    }
}
