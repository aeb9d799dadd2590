//! `hiplazy run`: a command, with ld.so's own account of what it bound to what.
//!
//! `LD_DEBUG=bindings` rather than an auditing library: nothing of ours is loaded into
//! the program, addresses and scopes stay as they are, and child processes are covered.

mod descendants;
mod logs;
mod signals;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitCode, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

use super::outputs::Outputs;
use super::{Failure, log, process};
use crate::cli::{COULD_NOT_LOOK, Common, Run, colored};
use crate::names::Names;
use crate::report::{Exit, Printing, Report, Unreadable};
use descendants::{Descendants, adopt_orphans};
use logs::{Folder, Logs};
use signals::Signals;

/// How often logs and processes are looked at.
const PAUSE: Duration = Duration::from_millis(20);
/// Where there are thousands of processes, most of the time stays free of that; the
/// command's end is still seen at once.
const LOOKS_PER_PAUSE: u32 = 9;
const LONGEST_PAUSE: Duration = Duration::from_millis(200);

/// How long those that the command leaves behind may take to end.
const GRACE: Duration = Duration::from_secs(1);

/// Runs the command and reports; the status is the command's own, or with `--fail` that
/// of the report.
pub(super) fn run(run: &Run, common: &Common, names: &Names) -> Result<ExitCode, Failure> {
    if let Some(symbol) = &run.at_symbol
        && !names.cover(symbol)
    {
        return Err(format!(
            "--at-symbol {symbol}: the report is about {}; name another with --prefix",
            names.pattern()
        )
        .into());
    }
    let mut printed = Printed {
        outputs: Outputs::open(&run.pictures, run.output.as_deref())?,
        common,
        failed: false,
    };
    let folder = Folder::make().map_err(|error| {
        format!("cannot make a folder for ld.so's log: {error}; TMPDIR names another place")
    })?;
    adopt_orphans();
    let signals = Signals::catch();
    let pid = start(run, &folder.output())?;
    signals.pass_to(pid);
    let mut running = Running {
        pid,
        shown: shown(run),
        names,
        signals,
        logs: Logs::of(&folder),
        descendants: Descendants::of_this_process(&folder.output()),
        asked: run.at_symbol.as_deref(),
    };
    let status = match running.wait(&mut printed)? {
        End::Status(status) => status,
        End::AtOnce(signal) => {
            let _ = folder.remove();
            return Ok(ExitCode::from(of_signal(signal)));
        }
    };
    running.wait_for_others();
    let not_seen = running.not_seen();
    let survivors = running.descendants.survivors();
    let mut preface = Vec::new();
    preface.extend(running.descendants.without_linker(pid));
    // What is left behind would write to its standard output without the folder.
    if survivors.is_empty() {
        if let Err(error) = folder.remove() {
            preface.push(format!("the folder of ld.so's logs stays: {error}"));
        }
    } else {
        preface.push(format!(
            "the folder of ld.so's logs stays, because processes that write to it outlive the command: remove {} when they have ended",
            folder.keep().display()
        ));
    }
    let Running {
        logs,
        signals,
        asked,
        shown,
        ..
    } = running;
    // From here on nothing is left that a signal could leave behind.
    drop(signals);
    let subject = format!("{shown} (process {pid})");
    let mut report = log::report(&logs.log, "run", &subject, names);
    let environment: BTreeMap<String, String> = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect();
    report.hazards = process::of_environment(&environment);
    report.unreadable.extend(not_seen);
    report.unreadable.extend(survivors);
    report.sort();
    report.preface.extend(preface);
    if let Some(symbol) = asked {
        report.preface.push(format!(
            "{symbol} was never bound; this is the report at the end"
        ));
    }
    if run.at_symbol.is_none() || asked.is_some() {
        printed.print(&report);
    }
    let own = code(status);
    Ok(ExitCode::from(match report.exit() {
        Exit::Conflict if run.fail => Exit::Conflict as u8,
        _ if own == 0 && printed.failed => COULD_NOT_LOOK,
        _ if own == 0 && run.fail && !report.unreadable.is_empty() => Exit::Warnings as u8,
        _ => own,
    }))
}

/// The command as it was given.
fn shown(run: &Run) -> String {
    let words = run.command.iter().map(|word| word.to_string_lossy());
    words.collect::<Vec<_>>().join(" ")
}

fn start(run: &Run, output: &Path) -> Result<u32, Failure> {
    // Who ignores it is not told how a child ended.
    // SAFETY: no handler is installed.
    unsafe { libc::signal(libc::SIGCHLD, libc::SIG_DFL) };
    // The command has at least one word.
    let (program, arguments) = run.command.split_first().ok_or("no command was given")?;
    let mut command = Command::new(program);
    command.args(arguments);
    let mut wanted = OsString::from("bindings");
    if let Some(before) = std::env::var_os("LD_DEBUG").filter(|before| !before.is_empty()) {
        wanted.push(",");
        wanted.push(before);
    }
    command.env("LD_DEBUG", wanted);
    command.env("LD_DEBUG_OUTPUT", output);
    let child = command.spawn().map_err(|error| {
        let program = program.to_string_lossy();
        let help = match error.kind() {
            io::ErrorKind::NotFound => "; is it in PATH?",
            io::ErrorKind::PermissionDenied => "; is it executable?",
            _ => "",
        };
        format!("cannot start {program}: {error}{help}")
    })?;
    Ok(child.id())
}

/// How the command's end was reached.
enum End {
    Status(ExitStatus),
    /// Somebody does not want to wait for it.
    AtOnce(libc::c_int),
}

/// The command while it runs.
struct Running<'a> {
    pid: u32,
    shown: String,
    names: &'a Names,
    signals: Signals,
    logs: Logs,
    descendants: Descendants,
    /// The function at whose binding there is to be a report, until there is one.
    asked: Option<&'a str>,
}

impl Running<'_> {
    fn wait(&mut self, printed: &mut Printed<'_>) -> Result<End, Failure> {
        loop {
            let (bound, pause) = self.look();
            if let Some(pid) = bound {
                self.asked = None;
                let report = process::report(pid, "run", self.names).unwrap_or_else(|_| {
                    // It is over already.
                    let subject = format!("{} (process {pid})", self.shown);
                    log::report(&self.logs.log, "run", &subject, self.names)
                });
                printed.print(&report);
            }
            if let Some(signal) = self.signals.pass_on() {
                return Ok(End::AtOnce(signal));
            }
            if let Some(status) = ended(self.pid)? {
                // Its number may be another's from now on.
                self.signals.pass_to(0);
                return Ok(End::Status(status));
            }
            thread::sleep(pause);
        }
    }

    /// Waits a moment for what the command has left behind and is about to end, and reads
    /// what all have written.
    fn wait_for_others(&mut self) {
        let until = Instant::now() + GRACE;
        loop {
            // There is no other child any more, or there is: that is seen in /proc.
            let _ = ended(self.pid);
            let (bound, pause) = self.look();
            if bound.is_some() {
                self.asked = None;
            }
            let alone = self.descendants.alive() == 0;
            if alone || self.signals.pass_on().is_some() || Instant::now() > until {
                break;
            }
            thread::sleep(pause);
        }
        self.logs.finish(self.names);
    }

    /// Reads what is new: who bound what was asked for, and how long to pause then.
    fn look(&mut self) -> (Option<u32>, Duration) {
        let began = Instant::now();
        self.descendants.look();
        let bound = self.logs.read(self.names, self.asked);
        self.descendants.forget(&|pid| self.logs.has(pid));
        let pause = (began.elapsed() * LOOKS_PER_PAUSE).clamp(PAUSE, LONGEST_PAUSE);
        (bound, pause)
    }

    /// Processes whose bindings are not known, or not all of them.
    fn not_seen(&mut self) -> Vec<Unreadable> {
        let command = (self.pid, self.shown.as_str());
        let logged = |pid| self.logs.has(pid);
        let mut not_seen = self.descendants.without_log(&logged, command);
        not_seen.extend(self.logs.lost());
        if self.logs.log.lines == 0 && not_seen.is_empty() {
            not_seen.push(Unreadable {
                path: format!("process {} ({})", self.pid, self.shown),
                why: "ld.so bound nothing in it: it could not load a library that it needs, and has said which".to_string(),
            });
        }
        not_seen
    }
}

/// How the command ended, if it has. Orphans that ended are taken note of as well.
fn ended(command: u32) -> io::Result<Option<ExitStatus>> {
    let mut found = None;
    loop {
        let mut status = 0;
        // SAFETY: `status` is an int, as it has to be.
        let pid = unsafe { libc::waitpid(-1, &mut status, libc::WNOHANG) };
        match u32::try_from(pid) {
            Ok(0) => return Ok(found),
            Ok(pid) if pid == command => found = Some(ExitStatus::from_raw(status)),
            Ok(_) => {}
            Err(_) if found.is_some() => return Ok(found),
            Err(_) => {
                let error = io::Error::last_os_error();
                if error.kind() != io::ErrorKind::Interrupted {
                    return Err(error);
                }
            }
        }
    }
}

/// What a shell would say of the command's end.
fn code(status: ExitStatus) -> u8 {
    match (status.code(), status.signal()) {
        (Some(code), _) => code as u8,
        (None, Some(signal)) => of_signal(signal),
        (None, None) => 1,
    }
}

fn of_signal(signal: libc::c_int) -> u8 {
    (128 + signal) as u8
}

/// Where reports go.
struct Printed<'a> {
    outputs: Outputs,
    common: &'a Common,
    /// Whether one could not be written where it should be.
    failed: bool,
}

impl Printed<'_> {
    /// Prints the report to standard error, which the command's output does not go to, or
    /// writes it to a file; if that fails, the report is not lost.
    fn print(&mut self, report: &Report) {
        let to_file = self.outputs.has_text();
        let printing = Printing {
            json: self.common.json,
            quiet: self.common.quiet,
            verbose: self.common.verbose,
            color: !to_file && colored(self.common.color, &io::stderr()),
        };
        let text = report.print(printing);
        let written = [
            self.outputs.write_pictures(report),
            self.outputs.write_text(&text),
        ];
        let mut said = String::new();
        for error in written.into_iter().filter_map(Result::err) {
            self.failed = true;
            said += &format!("hiplazy: {error}\n");
        }
        if !to_file || self.failed {
            said += &text;
        }
        // A reader that has gone away is no error.
        let _ = io::stderr().lock().write_all(said.as_bytes());
    }
}
