//! `hiplazy log`: a log of `LD_DEBUG=bindings`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, BufReader};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use super::Failure;
use crate::binding_log::{Alike, BindingLog};
use crate::cli::{Common, Log};
use crate::names::Names;
use crate::process::bindings::{Link, meant};
use crate::process::logged::{Files, Objects};
use crate::report::{Bound, Report, Unreadable};

const BUFFER: usize = 1 << 20;

/// Makes the report.
pub(super) fn run(log: &Log, _: &Common, names: &Names) -> Result<Report, Failure> {
    let shown = log.file.display().to_string();
    let mut read = BindingLog::default();
    let done = if log.file == Path::new("-") {
        read.read(&mut io::stdin().lock(), names)
    } else {
        let mut file = BufReader::with_capacity(BUFFER, open(&log.file)?);
        read.read(&mut file, names)
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

/// The report on a log, for `command`.
pub(super) fn report(log: &BindingLog, command: &str, subject: &str, names: &Names) -> Report {
    let processes = match log.processes() {
        1 => "1 process".to_string(),
        number => format!("{number} processes"),
    };
    let subject = format!("{subject} ({processes}, {} bindings)", log.lines);
    let mut report = Report::new(command, subject, names);
    report.objects = log.objects();
    let all = log.alike();
    let paths = all.iter().flat_map(|alike| &alike.objects);
    let files = Files::open(paths.map(|(path, _)| path.clone()), file_of);
    let objects = files.read(names);
    report.unreadable.extend(files.missing.iter().cloned());
    report.unreadable.extend(objects.unreadable.iter().cloned());
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

/// The first numbers.
fn few(pids: &[u32]) -> String {
    const SHOWN: usize = 8;
    let shown: Vec<String> = pids.iter().take(SHOWN).map(u32::to_string).collect();
    let more = if pids.len() > SHOWN { ", ..." } else { "" };
    shown.join(", ") + more
}

fn add(report: &mut Report, process: &Alike, objects: &Objects<'_>, names: &Names) {
    let mut world = objects.world(&process.objects);
    // The environment of a log that somebody else made is not known.
    if report.command == "run" {
        world.preloaded = super::process::of_own_environment(&world);
    }
    let mut in_vain = BTreeMap::<usize, Vec<String>>::new();
    let mut links: Vec<Link> = Vec::new();
    for binding in &process.bindings {
        let live = &world.objects[binding.from];
        let of_name = || {
            let references = live.object.references.iter();
            references.filter(|reference| reference.name == binding.name)
        };
        // A look-up by dlsym that finds nothing is logged like a reference, and is none.
        if binding.to.is_none() && !of_name().any(|reference| !reference.own) {
            if live.definitions.is_none() {
                in_vain
                    .entry(binding.from)
                    .or_default()
                    .push(binding.name.clone());
            }
            continue;
        }
        // The log has the node on a line of its own if threads wrote at once.
        let mut nodes = of_name().map(|reference| &reference.node);
        let node = match (&binding.node, nodes.next(), nodes.next()) {
            (None, Some(only), None) => only.clone(),
            (node, ..) => node.clone(),
        };
        let mut link = Link {
            from: binding.from,
            name: binding.name.clone(),
            node,
            own: of_name().any(|reference| reference.own),
            state: match binding.to {
                Some(_) => Bound::Bound,
                None => Bound::Unresolved,
            },
            provider: binding.to,
            meant: None,
        };
        link.meant = meant(&world, &link);
        // The same reference may be there with its node.
        let filled = binding.node.is_none() && link.node.is_some();
        if !filled || !links.contains(&link) {
            links.push(link);
        }
    }
    for (from, looked_for) in in_vain {
        report.unreadable.push(Unreadable {
            path: process.objects[from].0.clone(),
            why: format!(
                "looked in vain for {}: if these are references and no questions by dlsym, the first call ends the program",
                looked_for.join(", ")
            ),
        });
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
