//! `hiplazy run`: a command, with ld.so's own account of what it bound to what.
//!
//! `LD_DEBUG=bindings` rather than an auditing library: nothing of ours is loaded into
//! the program, addresses and scopes stay as they are, and child processes are covered.
//! The logs go to a private folder and are read, and their disk blocks freed, while the
//! program runs.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, ExitStatus};
use std::thread;
use std::time::Duration;

use super::outputs::Outputs;
use super::{Failure, log, process};
use crate::binding_log::{BindingLog, Lines};
use crate::cli::{Common, Run, colored};
use crate::names::Names;
use crate::report::{Exit, Printing, Report};

/// How often the logs are looked at.
const PAUSE: Duration = Duration::from_millis(20);

/// Runs the command and reports; the status is the command's own, or with `--fail` that
/// of a conflict.
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
    let outputs = Outputs::open(&run.pictures, run.output.as_deref())?;
    let folder = tempfile::Builder::new()
        .prefix("hiplazy-run-")
        .tempdir()
        .map_err(|error| {
            format!("cannot make a folder for ld.so's log: {error}; TMPDIR names another place")
        })?;
    let mut child = start(run, folder.path())?;
    // The terminal sends Ctrl-C to both; the report is still wanted.
    ignore_interrupts();
    let mut logs = Logs::new(folder.path());
    let mut asked = run.at_symbol.as_deref();
    let status = loop {
        let ended = child.try_wait()?;
        let bound = logs.read(&names, asked)?;
        if let Some(pid) = bound {
            asked = None;
            let live = process::report(pid, "run", names);
            let subject = subject(run, &child);
            let report = live.unwrap_or_else(|_| log::report(&logs.log, "run", &subject, names));
            show(&report, &outputs, common)?;
        }
        if let Some(status) = ended {
            break status;
        }
        thread::sleep(PAUSE);
    };
    let mut report = log::report(&logs.log, "run", &subject(run, &child), names);
    let environment: BTreeMap<String, String> = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect();
    report.hazards = process::of_environment(&environment);
    if logs.log.lines == 0 {
        report.preface.push(
            "ld.so wrote no log: the command is linked statically, is a 32-bit or set-user-ID program, or runs elsewhere (in a container)".to_string(),
        );
    }
    if let (Some(symbol), true) = (&run.at_symbol, asked.is_some()) {
        report.preface.push(format!(
            "{symbol} was never bound; this is the report at the end"
        ));
    }
    if run.at_symbol.is_none() || asked.is_some() {
        show(&report, &outputs, common)?;
    }
    Ok(match report.exit() {
        Exit::Conflict if run.fail => ExitCode::from(Exit::Conflict as u8),
        _ => ExitCode::from(code(status)),
    })
}

fn subject(run: &Run, child: &Child) -> String {
    let words: Vec<_> = run
        .command
        .iter()
        .map(|word| word.to_string_lossy())
        .collect();
    format!("{} (process {})", words.join(" "), child.id())
}

fn start(run: &Run, folder: &Path) -> Result<Child, Failure> {
    // The command line has at least one word.
    let (program, arguments) = run.command.split_first().ok_or("no command was given")?;
    let mut command = Command::new(program);
    command.args(arguments);
    let mut wanted = std::ffi::OsString::from("bindings");
    if let Some(before) = std::env::var_os("LD_DEBUG").filter(|before| !before.is_empty()) {
        wanted.push(",");
        wanted.push(before);
    }
    command.env("LD_DEBUG", wanted);
    command.env("LD_DEBUG_OUTPUT", folder.join("log"));
    command.spawn().map_err(|error| {
        let program = program.to_string_lossy();
        let help = match error.kind() {
            io::ErrorKind::NotFound => "; is it in PATH?",
            io::ErrorKind::PermissionDenied => "; is it executable?",
            _ => "",
        };
        format!("cannot start {program}: {error}{help}").into()
    })
}

fn ignore_interrupts() {
    for signal in [libc::SIGINT, libc::SIGQUIT] {
        // SAFETY: no handler is installed, and the child has its own disposition already.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
}

/// What a shell would say of the command's end.
fn code(status: ExitStatus) -> u8 {
    let code = status.code().or_else(|| Some(128 + status.signal()?));
    code.map_or(1, |code| code as u8)
}

/// Prints the report to standard error, which the command's output does not go to, or
/// writes it to a file.
fn show(report: &Report, outputs: &Outputs, common: &Common) -> Result<(), Failure> {
    outputs.write_pictures(report)?;
    let to_file = outputs.has_text();
    let printing = Printing {
        json: common.json,
        quiet: common.quiet,
        verbose: common.verbose,
        color: !to_file && colored(common.color, &io::stderr()),
    };
    let text = report.print(printing);
    if to_file {
        return outputs.write_text(&text);
    }
    // A reader that has gone away is no error.
    let _ = io::stderr().lock().write_all(text.as_bytes());
    Ok(())
}

/// The logs of the command and its children, one file per process.
struct Logs {
    folder: PathBuf,
    read: BTreeMap<PathBuf, u64>,
    lines: BTreeMap<PathBuf, Lines>,
    log: BindingLog,
}

impl Logs {
    fn new(folder: &Path) -> Logs {
        Logs {
            folder: folder.to_path_buf(),
            read: BTreeMap::new(),
            lines: BTreeMap::new(),
            log: BindingLog::default(),
        }
    }

    /// Reads what is new; the process that bound `asked`, if one did.
    fn read(&mut self, names: &Names, asked: Option<&str>) -> Result<Option<u32>, Failure> {
        let mut bound = None;
        let listed = fs::read_dir(&self.folder)
            .map_err(|error| format!("cannot read ld.so's logs: {error}"))?;
        for entry in listed.flatten() {
            let path = entry.path();
            let from = self.read.get(&path).copied().unwrap_or(0);
            let read = self.read_one(&path, from, names, |pid, name| {
                if Some(name) == asked && bound.is_none() {
                    bound = Some(pid);
                }
            });
            let to = read.map_err(|error| format!("cannot read ld.so's log: {error}"))?;
            self.read.insert(path, to);
        }
        Ok(bound)
    }

    /// Reads whole lines from a place on; returns where they end.
    fn read_one(
        &mut self,
        path: &Path,
        from: u64,
        names: &Names,
        mut each: impl FnMut(u32, &str),
    ) -> io::Result<u64> {
        let file = File::options().read(true).write(true).open(path)?;
        let length = file.metadata()?.len();
        if length <= from {
            return Ok(from);
        }
        let mut to = from;
        let mut piece = vec![0; 1 << 20];
        let lines = self.lines.entry(path.to_path_buf()).or_default();
        while to < length {
            let read = file.read_at(&mut piece, to)?;
            if read == 0 {
                break;
            }
            to += read as u64;
            self.log.feed(lines, &piece[..read], names, &mut each)?;
        }
        free(&file, to);
        Ok(to)
    }
}

/// Gives the disk blocks of what was read back: logs of large programs have gigabytes.
/// Not every file system can, and none has to.
fn free(file: &File, to: u64) {
    let Ok(length) = libc::off_t::try_from(to) else {
        return;
    };
    // SAFETY: takes numbers only; the file is ours and nobody reads that part again.
    unsafe {
        libc::fallocate(
            file.as_raw_fd(),
            libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE,
            0,
            length,
        );
    }
}
