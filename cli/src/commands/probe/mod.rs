//! The process in which `hiplazy doctor` loads the runtime: a constructor that crashes,
//! hangs, floods its output or changes the process is not the doctor's.

mod log;

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::Shutdown;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitCode, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::Failure;
use log::Log;

/// When the user is told what is waited for: a real runtime takes milliseconds, on a slow
/// network file system seconds.
const NOTICE: Duration = Duration::from_secs(5);

/// How long a child that has ended, or was killed, may keep its log open: what it started
/// itself may have it as well.
const REST: Duration = Duration::from_secs(2);

/// How often is looked whether the child has ended without an answer: what it started may
/// keep the line open.
const LOOK: Duration = Duration::from_millis(50);

/// Where the line between the two is in the child, if it may have so many descriptors:
/// above those that a program that closes or reuses some by number is about.
const LINE: RawFd = 900;

/// No answer is longer.
const ANSWER: u64 = 1 << 20;

/// What loading the runtime gave.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Loaded {
    /// The runtime's path, if one was bound.
    pub(super) path: Option<String>,
    /// `hiplazy_runtime_version`.
    pub(super) version: i32,
    /// Why none was bound.
    pub(super) error: String,
}

/// The child's part: load, say on the line what happened, and wait to be looked at.
/// Standard output is the runtime's.
pub(super) fn run(line: RawFd) -> Result<ExitCode, Failure> {
    let mut line = own_line(line)?;
    let mut loaded = Loaded::default();
    match hiplazy::load() {
        Ok(()) => {
            let path = hiplazy::runtime_path();
            loaded.path = path.map(|path| {
                let path = std::ffi::OsStr::from_bytes(path.to_bytes());
                path.to_string_lossy().into_owned()
            });
            loaded.version = hiplazy::runtime_version();
        }
        Err(_) => loaded.error = hiplazy::last_error(str::to_string),
    }
    writeln!(line, "{}", serde_json::to_string(&loaded)?)?;
    let mut rest = Vec::new();
    line.read_to_end(&mut rest)?;
    Ok(ExitCode::SUCCESS)
}

/// The line that the doctor gave this process; programs that the runtime starts do not
/// get it.
fn own_line(number: RawFd) -> Result<UnixStream, Failure> {
    let refused = |error: io::Error| {
        format!("descriptor {number} is not the doctor's: {error}; use hiplazy doctor")
    };
    // SAFETY: fcntl with F_SETFD touches no memory, and fails for a number that is not open.
    let set = unsafe { libc::fcntl(number, libc::F_SETFD, libc::FD_CLOEXEC) };
    if number <= libc::STDERR_FILENO || set < 0 {
        return Err(refused(io::Error::last_os_error()).into());
    }
    // SAFETY: the descriptor is open, and the parent opened it for this: nobody else in this
    // process knows its number.
    let line = UnixStream::from(unsafe { OwnedFd::from_raw_fd(number) });
    line.peer_addr().map_err(refused)?;
    Ok(line)
}

/// What the parent learned.
pub(super) struct Answer {
    /// What the child said, or how it ended instead.
    pub(super) loaded: Result<Loaded, Ended>,
    /// hiplazy's log of the search.
    pub(super) search: Vec<String>,
}

/// How a child ended that did not say anything.
pub(super) struct Ended {
    /// Whether it hung and was killed.
    pub(super) hung: bool,
    /// In words.
    pub(super) how: String,
    /// The library whose constructor was running.
    pub(super) starting: Option<String>,
}

/// Has a child load the runtime, and has `look` look at it while it waits. After
/// `timeout` it is killed; before that, `notice` is given a line for the user.
pub(super) fn ask(
    timeout: Duration,
    notice: impl FnOnce(String),
    look: impl FnOnce(u32),
) -> Result<Answer, Failure> {
    let own = std::env::current_exe()
        .map_err(|error| format!("cannot find the program of hiplazy itself: {error}"))?;
    let (mut child, line) = start(Command::new(own))?;
    let answer = answers(line.try_clone()?);
    let pipe = child.stderr.take().ok_or("no standard error")?;
    let log = Log::of(child.id(), pipe);
    let began = Instant::now();
    let until = |limit: Duration| limit.saturating_sub(began.elapsed());
    let mut notice = Some(notice);
    let said = loop {
        let limit = match notice {
            Some(_) => NOTICE.min(timeout / 2),
            None => timeout,
        };
        match answer.recv_timeout(until(limit).min(LOOK)) {
            Ok(loaded) => break Ok(loaded),
            Err(RecvTimeoutError::Disconnected) => break Err(false),
            Err(RecvTimeoutError::Timeout) if child.try_wait()?.is_some() => {
                // It may have answered before it ended.
                break answer.try_recv().map_err(|_| false);
            }
            Err(RecvTimeoutError::Timeout) if !until(limit).is_zero() => {}
            Err(RecvTimeoutError::Timeout) => match notice.take() {
                Some(notice) => notice(log.now().waits_for(timeout)),
                None => break Err(true),
            },
        }
    };
    if said.is_ok() {
        look(child.id());
    }
    let patience = match said {
        // What the runtime does at its exit may hang, and is of no interest.
        Ok(_) => Duration::from_secs(1),
        // Its line is closed, so it is about to end, and may still write its core.
        Err(false) => until(timeout),
        Err(true) => Duration::ZERO,
    };
    // Fails if the child has gone.
    let _ = line.shutdown(Shutdown::Both);
    let ended = end(&mut child, patience)?;
    log.to_the_end(REST);
    let log = log.now();
    Ok(Answer {
        loaded: said.map_err(|_| Ended {
            hung: ended.is_none(),
            how: how(ended, timeout),
            starting: log.starting.clone(),
        }),
        search: log.search(),
    })
}

/// Starts the child with a line to it.
fn start(mut own: Command) -> Result<(Child, UnixStream), Failure> {
    let (line, theirs) = UnixStream::pair()?;
    // SAFETY: fcntl with F_DUPFD_CLOEXEC touches no memory; `theirs` is open.
    let high = match unsafe { libc::fcntl(theirs.as_raw_fd(), libc::F_DUPFD_CLOEXEC, LINE) } {
        // There may not be so many.
        -1 => theirs.try_clone()?.into(),
        // SAFETY: the call gave this process a new descriptor, which nobody else has.
        high => unsafe { OwnedFd::from_raw_fd(high) },
    };
    let number = high.as_raw_fd();
    own.args(["doctor", "--probe", &number.to_string()])
        .env("HIPLAZY_LOG", "debug")
        // ld.so says whose constructor it calls.
        .env("LD_DEBUG", "files")
        .env_remove("LD_DEBUG_OUTPUT")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    // SAFETY: between fork and exec, this makes one system call, which is safe there, and
    // neither allocates nor takes a lock.
    unsafe {
        own.pre_exec(move || match libc::fcntl(number, libc::F_SETFD, 0) {
            -1 => Err(io::Error::last_os_error()),
            _ => Ok(()),
        });
    }
    let child = own
        .spawn()
        .map_err(|error| format!("cannot start hiplazy itself: {error}"))?;
    Ok((child, line))
}

/// Lets the child end; `None` if it has to be killed because it hangs.
fn end(child: &mut Child, patience: Duration) -> io::Result<Option<ExitStatus>> {
    let began = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if began.elapsed() >= patience {
            break;
        }
        thread::sleep(Duration::from_millis(10));
    }
    let _ = child.kill();
    let status = child.wait()?;
    Ok((status.signal() != Some(libc::SIGKILL)).then_some(status))
}

fn how(ended: Option<ExitStatus>, timeout: Duration) -> String {
    match ended {
        None => format!(
            "it did not return within {} seconds (--timeout)",
            timeout.as_secs()
        ),
        Some(status) => match status.signal() {
            Some(signal) => format!("it ended the process with signal {signal}"),
            None => format!("it ended the process ({status})"),
        },
    }
}

/// The answer, when it comes, read by a thread so that the time can be limited.
fn answers(line: UnixStream) -> Receiver<Loaded> {
    let (send, receive) = mpsc::channel();
    thread::spawn(move || {
        let mut text = String::new();
        let read = BufReader::new(line.take(ANSWER)).read_line(&mut text);
        if read.is_ok()
            && let Ok(loaded) = serde_json::from_str(&text)
        {
            // Nobody is waiting any more if this fails.
            let _ = send.send(loaded);
        }
    });
    receive
}
