//! `hiplazy run`: a command, with an account of what ld.so bound to what.
//!
//! By the auditing interface of ld.so rather than LD_DEBUG, which keeps its log open on
//! the lowest free descriptor and writes to whatever the program puts there. A module of
//! ours is loaded into each process (`audit/`), in a namespace of its own: the program's
//! scopes stay as they are, no call passes through it, and no descriptor stays open.

mod account;
mod descendants;
mod mapped;
mod module;
mod receiver;
mod record;
mod signals;
mod state;
// One file for both ends, of which each needs a part.
#[allow(dead_code)]
#[path = "../../../audit/src/wire.rs"]
mod wire;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Command, ExitCode, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

use super::outputs::Outputs;
use super::{Failure, process};
use crate::cli::{COULD_NOT_LOOK, Common, Run, colored};
use crate::names::Names;
use crate::report::{Exit, Printing, Report, Unreadable};
use descendants::{Descendants, adopt_orphans};
use module::{Listener, Module};
use receiver::Receiver;
use record::{Asked, Record};
use signals::Signals;

/// How often processes are looked at.
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
    let symbol = run.at_symbol.as_deref().map(Symbol::of);
    if let Some(symbol) = &symbol
        && !names.cover(symbol.name)
    {
        return Err(format!(
            "--at-symbol {}: the report is about {}; name another with --prefix",
            symbol.text,
            names.pattern()
        )
        .into());
    }
    let mut printed = Printed {
        outputs: Outputs::open(&run.pictures, run.output.as_deref())?,
        common,
        failed: false,
    };
    let listener = Listener::new()?;
    let module = Module::place(&listener, names)?;
    let record = Record::of(names, symbol.as_ref().map(|symbol| symbol.name));
    let receiver = Receiver::listen(&listener, record)
        .map_err(|error| format!("cannot listen to the auditing module: {error}"))?;
    adopt_orphans();
    let signals = Signals::catch();
    let pid = start(run, &module)?;
    signals.pass_to(pid);
    let mut running = Running {
        pid,
        shown: shown(run),
        names,
        signals,
        receiver,
        descendants: Descendants::of_this_process(module.path()),
        module: module.path().to_path_buf(),
        asked: symbol.as_ref(),
        before: None,
    };
    let status = match running.wait(&mut printed)? {
        End::Status(status) => status,
        End::AtOnce(signal) => {
            running.descendants.look();
            let alone = running.descendants.alive() == 0;
            drop(running);
            if alone {
                let _ = module.remove();
            } else {
                let folder = module.keep();
                let said = format!(
                    "hiplazy: {} stays, because processes that load the module in it are not waited for: remove it when they have ended\n",
                    folder.display()
                );
                let _ = io::stderr().lock().write_all(said.as_bytes());
            }
            return Ok(ExitCode::from(of_signal(signal)));
        }
    };
    running.wait_for_others(&mut printed);
    running.receiver.finish();
    // Of what was bound before, and came in the last moments.
    running.report_at_symbol(&mut printed);
    let not_seen = running.not_seen();
    let survivors = running.descendants.survivors();
    let mut preface = Vec::new();
    preface.extend(running.descendants.without_linker(pid));
    let Running {
        receiver,
        signals,
        asked,
        before,
        shown,
        ..
    } = running;
    // The programs that are left behind start would have a complaint of ld.so without it.
    if survivors.is_empty() {
        if let Err(error) = module.remove() {
            preface.push(format!("the folder of the auditing module stays: {error}"));
        }
    } else {
        preface.push(format!(
            "the folder of the auditing module stays, because processes that use it outlive the command: remove {} when they have ended",
            module.keep().display()
        ));
    }
    // From here on nothing is left that a signal could leave behind.
    drop(signals);
    let subject = format!("{shown} (process {pid})");
    let mut report = account::report(&receiver.record(), &subject, names);
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
            "{} was never bound; this is the report at the end",
            symbol.text
        ));
    }
    match &before {
        None => printed.print(&report),
        Some(before) if before.is_less_than(&report) => {
            report.preface.push(
                "this is the report at the end: it has more than the one that was asked for".into(),
            );
            printed.print(&report);
        }
        Some(_) => {}
    }
    let own = code(status);
    let conflict = report.exit() == Exit::Conflict || before.is_some_and(|before| before.conflict);
    Ok(ExitCode::from(match conflict {
        true if run.fail => Exit::Conflict as u8,
        _ if own == 0 && printed.failed => COULD_NOT_LOOK,
        _ if own == 0 && run.fail && !report.unreadable.is_empty() => Exit::Warnings as u8,
        _ => own,
    }))
}

/// The function at whose binding there is to be a report.
struct Symbol<'a> {
    text: &'a str,
    name: &'a str,
    node: Option<&'a str>,
}

impl<'a> Symbol<'a> {
    /// `name`, `name@node` or `name@@node`.
    fn of(text: &'a str) -> Symbol<'a> {
        let (name, node) = match text.split_once('@') {
            Some((name, node)) => (name, Some(node.trim_start_matches('@'))),
            None => (text, None),
        };
        Symbol { text, name, node }
    }
}

/// What a report has said.
struct Said {
    conflict: bool,
    /// Rules and objects, and what could not be looked at.
    points: BTreeSet<(&'static str, String)>,
}

impl Said {
    fn by(report: &Report) -> Said {
        let findings = report.findings.iter();
        let unreadable = report.unreadable.iter();
        Said {
            conflict: report.exit() == Exit::Conflict,
            points: findings
                .map(|finding| (finding.rule.id, finding.object.clone()))
                .chain(unreadable.map(|one| ("", one.path.clone())))
                .collect(),
        }
    }

    /// Whether another one says more.
    fn is_less_than(&self, report: &Report) -> bool {
        !Said::by(report).points.is_subset(&self.points)
    }
}

/// The command as it was given.
fn shown(run: &Run) -> String {
    let words = run.command.iter().map(|word| word.to_string_lossy());
    words.collect::<Vec<_>>().join(" ")
}

fn start(run: &Run, module: &Module) -> Result<u32, Failure> {
    // Who ignores it is not told how a child ended.
    // SAFETY: no handler is installed.
    unsafe { libc::signal(libc::SIGCHLD, libc::SIG_DFL) };
    // The command has at least one word.
    let (program, arguments) = run.command.split_first().ok_or("no command was given")?;
    let mut command = Command::new(program);
    command.args(arguments);
    command.env("LD_AUDIT", module.variable());
    // SAFETY: sets a disposition, which is allowed between fork and exec. (With this, the
    // standard library starts programs by `execvp`, which runs scripts that do not name
    // their interpreter as shells do.)
    unsafe { command.pre_exec(signals::restore_pipe) };
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
    receiver: Receiver,
    descendants: Descendants,
    module: PathBuf,
    /// The function at whose binding there is to be a report, until there is one.
    asked: Option<&'a Symbol<'a>>,
    /// What that report said.
    before: Option<Said>,
}

impl Running<'_> {
    fn wait(&mut self, printed: &mut Printed<'_>) -> Result<End, Failure> {
        loop {
            let pause = self.look();
            self.report_at_symbol(printed);
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

    /// Waits a moment for what the command has left behind and is about to end.
    fn wait_for_others(&mut self, printed: &mut Printed<'_>) {
        let until = Instant::now() + GRACE;
        loop {
            // There is no other child any more, or there is: that is seen in /proc.
            let _ = ended(self.pid);
            let pause = self.look();
            self.report_at_symbol(printed);
            let alone = self.descendants.alive() == 0;
            if alone || self.signals.pass_on().is_some() || Instant::now() > until {
                break;
            }
            thread::sleep(pause);
        }
    }

    /// Looks at who is there, and says how long to pause then.
    fn look(&mut self) -> Duration {
        let began = Instant::now();
        self.descendants.look();
        let receiver = &self.receiver;
        self.descendants.forget(&|pid| receiver.record().has(pid));
        (began.elapsed() * LOOKS_PER_PAUSE).clamp(PAUSE, LONGEST_PAUSE)
    }

    /// Reports if what was asked for has been bound: of the process itself if it still
    /// runs, which has more to tell.
    fn report_at_symbol(&mut self, printed: &mut Printed<'_>) {
        let Some(symbol) = self.asked else { return };
        let Some(pid) = self.bound(symbol) else {
            return;
        };
        self.asked = None;
        // Nobody is kept from telling meanwhile.
        let mut report = process::report(pid, "run", self.names).unwrap_or_else(|_| {
            // It is over already.
            let subject = format!("{} (process {pid})", self.shown);
            account::report(&self.receiver.record(), &subject, self.names)
        });
        account::without_module(&mut report, &self.module);
        self.before = Some(Said::by(&report));
        printed.print(&report);
    }

    /// The first process that has bound a function since the last time.
    fn bound(&self, symbol: &Symbol<'_>) -> Option<u32> {
        let mut record = self.receiver.record();
        let bound = record.asked_bound();
        let is_it = |asked: &&Asked| {
            symbol.node.is_none_or(|node| {
                account::is_of_node(&record, asked, symbol.name, node, self.names)
            })
        };
        bound.iter().find(is_it).map(|asked| asked.pid)
    }

    /// Processes whose bindings are not known, or not all of them.
    fn not_seen(&mut self) -> Vec<Unreadable> {
        let command = (self.pid, self.shown.as_str());
        let receiver = &self.receiver;
        let told = |pid| receiver.record().has(pid);
        let mut not_seen = self.descendants.silent(&told, command);
        not_seen.extend(receiver.record().lost(&self.shown));
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
