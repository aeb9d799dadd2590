//! What the child and the dynamic linker in it write to standard error. The runtime writes
//! there as well, whatever it likes and as much as it likes: all of it is read, so that
//! nobody waits, and little of it is kept.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// How much is kept of the beginning of the search, and as much of its end.
const KEPT: usize = 64 * 1024;

/// How much is kept of a line: a path is shorter, whatever it is escaped to.
const LINE: usize = 16 * 1024;

/// The levels of hiplazy's log.
const LEVELS: [&str; 4] = ["error: ", "warn: ", "info: ", "debug: "];

/// The log of a child, while it is written.
pub(super) struct Log {
    said: Arc<Mutex<Said>>,
    ended: Receiver<()>,
}

/// What was said until now.
#[derive(Default)]
pub(super) struct Said {
    /// hiplazy's log of the search.
    first: Vec<String>,
    first_bytes: usize,
    last: VecDeque<String>,
    last_bytes: usize,
    left_out: usize,
    /// The library whose constructor is running.
    pub(super) starting: Option<String>,
}

impl Log {
    /// Reads what the process `pid` writes to `pipe`, in a thread of its own.
    pub(super) fn of(pid: u32, pipe: impl Read + Send + 'static) -> Log {
        let said = Arc::new(Mutex::new(Said::default()));
        let (end, ended) = mpsc::channel();
        let shared = Arc::clone(&said);
        thread::spawn(move || {
            let linker = format!("{pid}:\t");
            each_line(BufReader::with_capacity(LINE, pipe), |line| {
                locked(&shared).line(&String::from_utf8_lossy(line), &linker);
            });
            // Nobody is waiting any more if this fails.
            let _ = end.send(());
        });
        Log { said, ended }
    }

    /// What was said until now.
    pub(super) fn now(&self) -> MutexGuard<'_, Said> {
        locked(&self.said)
    }

    /// Waits for the end of what is written, or for `patience`: what the child started may
    /// have its standard error as well, and go on.
    pub(super) fn to_the_end(&self, patience: Duration) {
        let _ = self.ended.recv_timeout(patience);
    }
}

// A thread that panicked has not left half a line.
fn locked(said: &Mutex<Said>) -> MutexGuard<'_, Said> {
    said.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Said {
    /// A line; `linker` is what ld.so begins its lines with. The runtime may have written
    /// something without an end of line before.
    fn line(&mut self, line: &str, linker: &str) {
        if let Some((_, said)) = line.split_once(linker) {
            if let Some(path) = said.strip_prefix("calling init: ") {
                self.starting = Some(path.to_string());
            } else if !(said.trim().is_empty() || said.starts_with("calling fini: ")) {
                // Anything else comes when the constructor has returned, or opens more
                // itself. Destructors run within it if it calls exit.
                self.starting = None;
            }
        } else if let Some(said) = of_hiplazy(line) {
            self.starting = None;
            self.keep(said);
        }
    }

    fn keep(&mut self, line: &str) {
        if self.last.is_empty() && self.first_bytes + line.len() <= KEPT {
            self.first_bytes += line.len();
            self.first.push(line.to_string());
            return;
        }
        self.last_bytes += line.len();
        self.last.push_back(line.to_string());
        while self.last_bytes > KEPT {
            let Some(gone) = self.last.pop_front() else {
                break;
            };
            self.last_bytes -= gone.len();
            self.left_out += 1;
        }
    }

    /// The last line of the search.
    pub(super) fn last(&self) -> Option<&str> {
        let last = self.last.back().or(self.first.last());
        last.map(String::as_str)
    }

    /// The search; what was too much is a line that says so.
    pub(super) fn search(&self) -> Vec<String> {
        let gone = self.left_out;
        let gone = (gone > 0).then(|| format!("info: {gone} lines are left out here"));
        let all = self.first.iter().cloned().chain(gone);
        all.chain(self.last.iter().cloned()).collect()
    }

    /// For the user, who has waited for a while.
    pub(super) fn waits_for(&self, timeout: Duration) -> String {
        let what = match (&self.starting, self.last()) {
            (Some(library), _) => format!("the constructor of {library} to return"),
            (None, Some(line)) => format!("the runtime to be loaded, since \"{line}\""),
            (None, None) => "the runtime to be loaded".to_string(),
        };
        let seconds = timeout.as_secs();
        format!("waiting for {what}, {seconds} seconds at most (--timeout)")
    }
}

/// What hiplazy says in a line of its log.
fn of_hiplazy(line: &str) -> Option<&str> {
    let begins = |at: usize| {
        let said = &line[at + "hiplazy: ".len()..];
        let leveled = LEVELS.iter().any(|level| said.starts_with(level));
        leveled.then_some(said)
    };
    line.match_indices("hiplazy: ")
        .find_map(|(at, _)| begins(at))
}

/// Calls `each` with the lines of `from`, of long ones with the beginning, and stops where
/// it ends or cannot be read.
fn each_line(mut from: impl BufRead, mut each: impl FnMut(&[u8])) {
    let mut line = Vec::new();
    loop {
        let read = match from.fill_buf() {
            Ok([]) => break,
            Ok(read) => read,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(_) => break,
        };
        let end = memchr::memchr(b'\n', read);
        let part = &read[..end.unwrap_or(read.len())];
        line.extend_from_slice(&part[..part.len().min(LINE - line.len())]);
        let used = end.map_or(read.len(), |end| end + 1);
        from.consume(used);
        if end.is_some() {
            each(&line);
            line.clear();
        }
    }
    if !line.is_empty() {
        each(&line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(lines: &[&str]) -> Said {
        let mut said = Said::default();
        lines.iter().for_each(|line| said.line(line, "4711:\t"));
        said
    }

    #[test]
    fn the_constructor_that_runs_is_the_one_that_was_called_last() {
        let starting = |lines: &[&str]| said(lines).starting;
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
        // A process that it started is not it.
        let other = "      4712:\tcalling init: /lib/b.so";
        assert_eq!(starting(&[a, other]).as_deref(), Some("/lib/a.so"));
    }

    #[test]
    fn destructors_that_a_constructor_has_run_do_not_hide_it() {
        let a = "      4711:\tcalling init: /lib/a.so";
        let fini = "      4711:\tcalling fini: /lib/c.so [0]";
        let starting = said(&[a, "      4711:\t", fini]).starting;
        assert_eq!(starting.as_deref(), Some("/lib/a.so"));
    }

    #[test]
    fn a_line_is_found_behind_half_a_line_of_the_runtimes() {
        let a = "ROCr starts...      4711:\tcalling init: /lib/a.so";
        assert_eq!(said(&[a]).starting.as_deref(), Some("/lib/a.so"));
        let found = said(&["done. hiplazy: debug: ld.so: no such file"]);
        assert_eq!(found.search(), ["debug: ld.so: no such file"]);
    }

    /// ld.so names the program where a name is not found: this one.
    #[test]
    fn what_the_linker_says_of_the_program_is_not_the_search() {
        let line =
            "      4711:\t/bin/hiplazy: error: symbol lookup error: undefined symbol: hipInit";
        assert!(said(&[line]).search().is_empty());
    }

    #[test]
    fn of_a_flood_the_beginning_and_the_end_are_kept() {
        let mut said = Said::default();
        let lines = 100_000;
        for number in 0..lines {
            said.line(&format!("hiplazy: debug: line {number:0100}"), "4711:\t");
        }
        let search = said.search();
        let bytes: usize = search.iter().map(String::len).sum();
        assert!((KEPT..2 * KEPT + 100).contains(&bytes), "{bytes}");
        assert_eq!(search[0], format!("debug: line {:0100}", 0));
        assert_eq!(said.last(), search.last().map(String::as_str));
        let last = format!("debug: line {:0100}", lines - 1);
        assert_eq!(said.last(), Some(last.as_str()));
        let gone = lines + 1 - search.len();
        let line = format!("info: {gone} lines are left out here");
        assert!(search.contains(&line), "{line}");
    }

    #[test]
    fn of_a_line_without_end_the_beginning_is_kept() {
        let mut lengths = Vec::new();
        let endless = std::io::repeat(b'x').take(10 * LINE as u64);
        let then = &b"\nshort\nlast"[..];
        each_line(BufReader::new(endless.chain(then)), |line| {
            lengths.push(line.len());
        });
        assert_eq!(lengths, [LINE, 5, 4]);
    }
}
