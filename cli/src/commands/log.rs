//! `hiplazy log`: a log of `LD_DEBUG=bindings`.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

use super::Failure;
use crate::binding_log::{BindingLog, Logged, Process};
use crate::cli::{Common, Log};
use crate::names::Names;
use crate::process::bindings::{Link, meant};
use crate::process::{Found, World};
use crate::report::{Bound, Report, Unreadable};

const BUFFER: usize = 1 << 20;

/// Makes the report.
pub(super) fn run(log: &Log, _: &Common, names: &Names) -> Result<Report, Failure> {
    let shown = log.file.display().to_string();
    let mut read = BindingLog::default();
    let done = if log.file == Path::new("-") {
        read.read(&mut io::stdin().lock(), names, |_, _| {})
    } else {
        let file =
            File::open(&log.file).map_err(|error| format!("cannot open {shown}: {error}"))?;
        let mut file = BufReader::with_capacity(BUFFER, file);
        read.read(&mut file, names, |_, _| {})
    };
    done.map_err(|error| format!("cannot read {shown}: {error}"))?;
    if read.lines == 0 {
        return Err(format!(
            "{shown} has no line that ld.so writes about bindings; make a log with LD_DEBUG=bindings LD_DEBUG_OUTPUT=FILE COMMAND (FILE.PID then has it), and give that"
        )
        .into());
    }
    Ok(report(&read, "log", &shown, names))
}

/// The report on a log, for `command`.
pub(super) fn report(log: &BindingLog, command: &str, subject: &str, names: &Names) -> Report {
    let processes = match log.processes.len() {
        1 => "1 process".to_string(),
        number => format!("{number} processes"),
    };
    let subject = format!("{subject} ({processes}, {} bindings)", log.lines);
    let mut report = Report::new(command, subject, names);
    report.objects = log.objects.len();
    for process in log.processes.values() {
        add(&mut report, process, names);
    }
    deduplicate(&mut report);
    report.sort();
    report
}

fn add(report: &mut Report, process: &Process, names: &Names) {
    if process.objects.is_empty() {
        return;
    }
    let found: Vec<Found> = process
        .objects
        .iter()
        .map(|(path, namespace)| Found::logged(file_of(path), *namespace))
        .collect();
    for (found, (path, _)) in found.iter().zip(&process.objects) {
        if !found.is_open() {
            report.unreadable.push(Unreadable {
                path: path.clone(),
                why: "is in the log, and not here: what it is and needs is guessed from its name"
                    .into(),
            });
        }
    }
    let world = World::new(&found, names);
    report.unreadable.extend(world.unreadable.iter().cloned());
    // A look-up by dlsym that finds nothing is logged like a reference, and is none.
    let refers = |binding: &&Logged| {
        let live = &world.objects[binding.from];
        let mut references = live.object.references.iter();
        binding.to.is_some()
            || live.definitions.is_none()
            || references.any(|reference| !reference.own && reference.name == binding.name)
    };
    let mut links: Vec<Link> = process
        .bindings
        .iter()
        .filter(refers)
        .map(|binding| Link {
            from: binding.from,
            name: binding.name.clone(),
            node: binding.node.clone(),
            own: world.objects[binding.from]
                .object
                .references
                .iter()
                .any(|reference| reference.own && reference.name == binding.name),
            state: match binding.to {
                Some(_) => Bound::Bound,
                None => Bound::Unresolved,
            },
            provider: binding.to,
            meant: None,
        })
        .collect();
    for link in &mut links {
        link.meant = meant(&world, link);
    }
    super::process::of_bindings(report, &world, &links, names);
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
fn deduplicate(report: &mut Report) {
    fn once<T>(items: &mut Vec<T>, key: impl Fn(&T) -> String) {
        let mut seen = BTreeSet::new();
        items.retain(|item| seen.insert(key(item)));
    }
    once(&mut report.runtimes, |runtime| runtime.path.clone());
    once(&mut report.exporters, |exporter| exporter.path.clone());
    once(&mut report.clients, |client| client.path.clone());
    once(&mut report.bindings, |binding| format!("{binding:?}"));
    once(&mut report.findings, |finding| format!("{finding:?}"));
    once(&mut report.unreadable, |unreadable| {
        format!("{unreadable:?}")
    });
}
