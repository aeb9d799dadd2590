//! The process in which `hiplazy doctor` loads the runtime: a constructor that crashes,
//! hangs or changes the process is not the doctor's.

use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitCode, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Failure;

/// A real runtime takes milliseconds, on a slow network file system seconds.
const PATIENCE: Duration = Duration::from_secs(60);

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
    pub(super) loaded: Result<Loaded, String>,
    /// hiplazy's log of the search.
    pub(super) search: Vec<String>,
}

/// Has a child load the runtime, and has `look` look at it while it waits.
pub(super) fn ask(look: impl FnOnce(u32)) -> Result<Answer, Failure> {
    let own = std::env::current_exe()
        .map_err(|error| format!("cannot find the program of hiplazy itself: {error}"))?;
    let mut child = Command::new(own)
        .args(["doctor", "--probe"])
        .env("HIPLAZY_LOG", "debug")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("cannot start hiplazy itself: {error}"))?;
    let out = lines(child.stdout.take());
    let log = lines(child.stderr.take());
    // The runtime may write to standard output as well.
    let said = loop {
        match out.recv_timeout(PATIENCE) {
            Ok(line) => {
                if let Ok(loaded) = serde_json::from_str::<Loaded>(&line) {
                    break Some(loaded);
                }
            }
            Err(_) => break None,
        }
    };
    if said.is_some() {
        look(child.id());
    }
    let ended = end(&mut child, said.is_some())?;
    let search = log
        .iter()
        .filter_map(|line| line.strip_prefix("hiplazy: ").map(str::to_string))
        .collect();
    Ok(Answer {
        loaded: said.ok_or_else(|| how(ended)),
        search,
    })
}

/// Lets the child end; `None` if it has to be killed because it hangs.
fn end(child: &mut Child, waits: bool) -> io::Result<Option<ExitStatus>> {
    drop(child.stdin.take());
    if waits {
        // What the runtime does at its exit may hang, and is of no interest.
        for _ in 0..100 {
            if let Some(status) = child.try_wait()? {
                return Ok(Some(status));
            }
            thread::sleep(Duration::from_millis(10));
        }
    } else if let Some(status) = child.try_wait()? {
        return Ok(Some(status));
    }
    let _ = child.kill();
    let status = child.wait()?;
    Ok((status.signal() != Some(libc::SIGKILL)).then_some(status))
}

fn how(ended: Option<ExitStatus>) -> String {
    match ended {
        None => format!("it did not return within {} seconds", PATIENCE.as_secs()),
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
