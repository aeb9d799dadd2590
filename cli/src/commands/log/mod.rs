//! `hiplazy log`: a log of `LD_DEBUG=bindings`.

mod links;
mod told;

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use super::Failure;
use crate::binding_log::{Alike, BindingLog};
use crate::cli::{Common, Log};
use crate::names::Names;
use crate::process::logged::{Files, Objects};
use crate::report::Report;
use links::Process;
pub(super) use told::few;

const BUFFER: usize = 1 << 20;

/// How compressed files begin, and what makes text of them.
const COMPRESSED: [(&[u8], &str); 4] = [
    (b"\x1f\x8b", "zcat"),
    (b"\x28\xb5\x2f\xfd", "zstdcat"),
    (b"\xfd7zXZ\0", "xzcat"),
    (b"BZh", "bzcat"),
];

/// Makes the report.
pub(super) fn run(log: &Log, _: &Common, names: &Names) -> Result<Report, Failure> {
    let shown = log.file.display().to_string();
    let read = if log.file == Path::new("-") {
        read(&mut io::stdin().lock(), &shown, names)
    } else {
        let mut file = BufReader::with_capacity(BUFFER, open(&log.file)?);
        read(&mut file, &shown, names)
    }?;
    Ok(report(&read, &shown, names))
}

/// Reads a log that has something.
fn read(from: &mut impl BufRead, shown: &str, names: &Names) -> Result<BindingLog, Failure> {
    let failed = |error: io::Error| format!("cannot read {shown}: {error}");
    let start = from.fill_buf().map_err(failed)?;
    let packed = COMPRESSED
        .iter()
        .find(|(magic, _)| start.starts_with(magic));
    if let Some((_, command)) = packed {
        let file = if shown == "-" { "FILE" } else { shown };
        return Err(format!("{shown} is compressed: {command} {file} | hiplazy log -").into());
    }
    let mut log = BindingLog::default();
    log.read(from, names).map_err(failed)?;
    if log.lines > 0 {
        return Ok(log);
    }
    let why = if log.story().spaced > 0 {
        "has lines that ld.so writes about bindings, with spaces in place of the tab after the number of the process; give the log as ld.so wrote it, not a copy from a terminal"
    } else {
        "has no line that ld.so writes about bindings; make a log with LD_DEBUG=bindings LD_DEBUG_OUTPUT=FILE COMMAND (FILE.PID then has it), and give that"
    };
    Err(format!("{shown} {why}").into())
}

/// Opens a file or a pipe, which have an end.
fn open(path: &Path) -> Result<File, Failure> {
    let failed = |error: io::Error| format!("cannot open {}: {error}", path.display());
    // Before it is opened: that alone rewinds tapes and waits for terminals.
    let kind = fs::metadata(path).map_err(failed)?.file_type();
    if !kind.is_file() && !kind.is_fifo() {
        let what = if kind.is_dir() {
            "a folder: name one of the FILE.PID in it, or give all to `hiplazy log -` (cat FILE.* | hiplazy log -)"
        } else if kind.is_socket() {
            "a socket"
        } else {
            "a device"
        };
        return Err(format!("{} is no log, but {what}", path.display()).into());
    }
    Ok(File::open(path).map_err(failed)?)
}

/// The report on a log.
fn report(log: &BindingLog, subject: &str, names: &Names) -> Report {
    let processes = match log.processes() {
        1 => "1 process".to_string(),
        number => format!("{number} processes"),
    };
    let subject = format!("{subject} ({processes}, {} bindings)", log.lines);
    let mut report = Report::new("log", subject, names);
    report.objects = log.objects();
    let mut all = log.alike();
    let paths = all.iter().flat_map(|alike| &alike.objects);
    let files = Files::open(paths.map(|(path, _)| path.clone()), file_of);
    let objects = files.read(names);
    told::missing(&mut report, &files, &all, names);
    report.unreadable.extend(objects.unreadable.iter().cloned());
    // Of many processes there is nothing to say.
    all.retain(|alike| !alike.bindings.is_empty() || objects.matter(&alike.objects));
    told::story(&mut report, &log.story(), &all);
    told::places(&mut report, &files, &all);
    told::not_called(&mut report, &objects, &all, names);
    for alike in &all {
        if let [first, others @ ..] = &alike.pids[..]
            && !others.is_empty()
        {
            report.preface.push(format!(
                "process {first}, and {} like it with the same objects and bindings: {}",
                others.len(),
                few(others)
            ));
        }
        add(&mut report, alike, &objects, names);
    }
    deduplicate(&mut report);
    report.sort();
    report
}

fn add(report: &mut Report, alike: &Alike, objects: &Objects<'_>, names: &Names) {
    let process = Process::of(alike, objects);
    report.unreadable.extend(process.in_vain());
    report.hazards.extend(process.hazards(names));
    super::process::of_bindings(report, &process.world, &process.links, names);
}

/// The file of an object; the program goes by what it was started as.
fn file_of(path: &str) -> PathBuf {
    let path = PathBuf::from(path);
    if path.components().count() > 1 || path.is_absolute() {
        return path;
    }
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&folders)
        .map(|folder| folder.join(&path))
        .find(|file| file.is_file());
    found.unwrap_or(path)
}

/// Processes of one log have much in common: children begin as copies.
pub(super) fn deduplicate(report: &mut Report) {
    fn once<T>(items: &mut Vec<T>, key: impl Fn(&T) -> String) {
        let mut seen = BTreeSet::new();
        items.retain(|item| seen.insert(key(item)));
    }
    once(&mut report.loaded, |loaded| format!("{loaded:?}"));
    // One file in two namespaces is two runtimes.
    once(&mut report.runtimes, |runtime| {
        format!("{} {:?}", runtime.path, runtime.scope)
    });
    once(&mut report.exporters, |exporter| exporter.path.clone());
    once(&mut report.clients, |client| client.path.clone());
    once(&mut report.hazards, |hazard| format!("{hazard:?}"));
    once(&mut report.bindings, |binding| format!("{binding:?}"));
    once(&mut report.findings, |finding| format!("{finding:?}"));
    once(&mut report.unreadable, |unreadable| {
        format!("{unreadable:?}")
    });
}
