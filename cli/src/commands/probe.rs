//! The process in which `hiplazy doctor` loads the runtime: a constructor that crashes,
//! hangs or changes the process is not the doctor's.

use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitCode, ExitStatus, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::Failure;

/// When the user is told what is waited for: a real runtime takes milliseconds, on a slow
/// network file system seconds.
const NOTICE: Duration = Duration::from_secs(5);

/// How long a child that has ended, or was killed, may keep its log open: what it started
/// itself may have it as well.
const REST: Duration = Duration::from_secs(2);

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

/// The child's part: load, say what happened, and wait to be looked at.
pub(super) fn run() -> Result<ExitCode, Failure> {
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
    let mut out = io::stdout().lock();
    writeln!(out, "{}", serde_json::to_string(&loaded)?)?;
    out.flush()?;
    let mut rest = Vec::new();
    io::stdin().lock().read_to_end(&mut rest)?;
    Ok(ExitCode::SUCCESS)
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
    let mut child = Command::new(own)
        .args(["doctor", "--probe"])
        .env("HIPLAZY_LOG", "debug")
        // ld.so says whose constructor it calls.
        .env("LD_DEBUG", "files")
        .env_remove("LD_DEBUG_OUTPUT")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("cannot start hiplazy itself: {error}"))?;
    let out = lines(child.stdout.take());
    let mut log = Log {
        receive: lines(child.stderr.take()),
        search: Vec::new(),
        starting: None,
    };
    let began = Instant::now();
    let until = |limit: Duration| limit.saturating_sub(began.elapsed());
    let mut notice = Some(notice);
    // The runtime may write to standard output as well.
    let said = loop {
        let limit = match notice {
            Some(_) => NOTICE.min(timeout / 2),
            None => timeout,
        };
        match out.recv_timeout(until(limit)) {
            Ok(line) => {
                if let Ok(loaded) = serde_json::from_str::<Loaded>(&line) {
                    break Ok(loaded);
                }
            }
            Err(RecvTimeoutError::Timeout) => match notice.take() {
                Some(notice) => {
                    log.take(Duration::ZERO);
                    notice(log.waits_for(timeout));
                }
                None => break Err(true),
            },
            Err(RecvTimeoutError::Disconnected) => break Err(false),
        }
    };
    if said.is_ok() {
        look(child.id());
    }
    let patience = match said {
        // What the runtime does at its exit may hang, and is of no interest.
        Ok(_) => Duration::from_secs(1),
        // Its output is closed, so it is about to end, and may still write its core.
        Err(false) => until(timeout),
        Err(true) => Duration::ZERO,
    };
    let ended = end(&mut child, patience)?;
    log.take(REST);
    Ok(Answer {
        loaded: said.map_err(|_| Ended {
            hung: ended.is_none(),
            how: how(ended, timeout),
            starting: log.starting,
        }),
        search: log.search,
    })
}

/// What the child and the dynamic linker in it write to standard error.
struct Log {
    receive: mpsc::Receiver<String>,
    search: Vec<String>,
    starting: Option<String>,
}

impl Log {
    /// Takes what is there, and what comes without a pause of `patience`.
    fn take(&mut self, patience: Duration) {
        while let Ok(line) = self.receive.recv_timeout(patience) {
            self.line(&line);
        }
    }

    fn line(&mut self, line: &str) {
        if let Some(line) = line.strip_prefix("hiplazy: ") {
            self.starting = None;
            self.search.push(line.to_string());
        } else if let Some((process, said)) = line.split_once(":\t")
            && process.trim().parse::<u32>().is_ok()
        {
            // Anything else that ld.so says comes when the constructor has returned, or
            // opens more itself.
            let path = said.strip_prefix("calling init: ");
            self.starting = path.map(str::to_string).or_else(|| {
                let nothing = said.trim().is_empty();
                self.starting.take().filter(|_| nothing)
            });
        }
    }

    /// For the user, who has waited for a while.
    fn waits_for(&self, timeout: Duration) -> String {
        let what = match (&self.starting, self.search.last()) {
            (Some(library), _) => format!("the constructor of {library} to return"),
            (None, Some(line)) => format!("the runtime to be loaded, since \"{line}\""),
            (None, None) => "the runtime to be loaded".to_string(),
        };
        let seconds = timeout.as_secs();
        format!("waiting for {what}, {seconds} seconds at most (--timeout)")
    }
}

/// Lets the child end; `None` if it has to be killed because it hangs.
fn end(child: &mut Child, patience: Duration) -> io::Result<Option<ExitStatus>> {
    drop(child.stdin.take());
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

/// The lines of a pipe, read by a thread so that neither side waits for the other.
fn lines<R: Read + Send + 'static>(pipe: Option<R>) -> mpsc::Receiver<String> {
    let (send, receive) = mpsc::channel();
    if let Some(pipe) = pipe {
        thread::spawn(move || {
            use io::BufRead;
            for line in io::BufReader::new(pipe).split(b'\n').map_while(Result::ok) {
                if send
                    .send(String::from_utf8_lossy(&line).into_owned())
                    .is_err()
                {
                    return;
                }
            }
        });
    }
    receive
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_constructor_that_runs_is_the_one_that_was_called_last() {
        let starting = |lines: &[&str]| {
            let mut log = Log {
                receive: mpsc::channel().1,
                search: Vec::new(),
                starting: None,
            };
            lines.iter().for_each(|line| log.line(line));
            log.starting
        };
        let a = "      4711:\tcalling init: /lib/a.so";
        let b = "      4711:\tcalling init: /lib/b.so";
        let empty = "      4711:\t";
        let opened = "      4711:\topening file=/lib/b.so [0]; direct_opencount=1";
        assert_eq!(starting(&[a, empty]).as_deref(), Some("/lib/a.so"));
        assert_eq!(
            starting(&[a, empty, b, "noise"]).as_deref(),
            Some("/lib/b.so")
        );
        assert_eq!(starting(&[a, b, empty, opened]), None);
        assert_eq!(starting(&[a, "hiplazy: info: bound HIP runtime"]), None);
    }
}
