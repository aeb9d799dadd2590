//! What a log does not tell, and what was understood by it.

use std::collections::{BTreeMap, BTreeSet};

use crate::binding_log::{Alike, Story};
use crate::classify::{self, LibraryName};
use crate::names::Names;
use crate::process::logged::{Files, Objects};
use crate::report::{Report, Unreadable};

/// How many of a list are shown.
const SHOWN: usize = 8;

/// The first of them.
pub(in crate::commands) fn few<T: ToString>(all: &[T]) -> String {
    let shown: Vec<String> = all.iter().take(SHOWN).map(T::to_string).collect();
    let more = if all.len() > SHOWN { ", ..." } else { "" };
    shown.join(", ") + more
}

/// `process 1`, `processes 1, 2`.
fn processes(pids: &BTreeSet<u32>) -> String {
    let pids: Vec<u32> = pids.iter().copied().collect();
    let word = if pids.len() == 1 {
        "process"
    } else {
        "processes"
    };
    format!("{word} {}", few(&pids))
}

/// Objects that are not here: those that matter by their names or bindings each, the
/// others in one line.
pub(super) fn missing(report: &mut Report, files: &Files, all: &[Alike], names: &Names) {
    let mut matter = BTreeSet::new();
    for alike in all {
        for binding in &alike.bindings {
            let ends = [Some(binding.from), binding.to];
            matter.extend(ends.into_iter().flatten().map(|at| &alike.objects[at].0));
        }
    }
    let is_runtime = |path: &str| {
        let file = path.rsplit('/').next().unwrap_or(path);
        names.are_hip() && LibraryName::parse(file).is_some()
    };
    let mut others = Vec::new();
    for (path, missing) in &files.missing {
        if matter.contains(path) || is_runtime(path) {
            report.unreadable.push(missing.clone());
        } else {
            others.push((path, missing));
        }
    }
    match &others[..] {
        [] => {}
        [(path, missing)] => report.unreadable.push(Unreadable {
            path: path.to_string(),
            why: missing.why.clone(),
        }),
        [(first, _), rest @ ..] => {
            let rest: Vec<&str> = rest.iter().map(|(path, _)| path.as_str()).collect();
            report.unreadable.push(Unreadable {
                path: format!("{first} and {} more", rest.len()),
                why: format!(
                    "are in the log, and cannot be read here ({}): whether they have or need such names is not known",
                    few(&rest)
                ),
            });
        }
    }
}

/// What the log does not tell of its processes.
pub(super) fn story(report: &mut Report, story: &Story, all: &[Alike]) {
    let subject = report.subject.clone();
    let mut not_read = |path: &str, why: String| {
        report.unreadable.push(Unreadable {
            path: path.to_string(),
            why,
        });
    };
    if !story.not_started.is_empty() {
        not_read(
            &processes(&story.not_started),
            "did not come as far as its program, whose name the log does not have: ld.so ended it where a library or a symbol is missing (and said on standard error which), was not to start it (ldd), or was still loading".to_string(),
        );
    }
    if !story.middle.is_empty() {
        let why = if story.has_beginning {
            "begins in the middle: it is the fork of a process that cannot be told from the log; what that had loaded and bound before is not known"
        } else {
            "begins in the middle, as in a part of a log: what was loaded and bound before is not known"
        };
        not_read(&processes(&story.middle), why.to_string());
    }
    if !story.unclear.is_empty() {
        not_read(
            &processes(&story.unclear),
            "ran one program after another, and the log does not tell where the next one begins: what ld.so bound while it loaded that is taken for the first one's".to_string(),
        );
    }
    let lines = |number| match number {
        1 => "1 line".to_string(),
        _ => format!("{number} lines"),
    };
    if story.unread > 0 {
        let why = format!(
            "{} of it about bindings could not be read: processes that write to one file cut each other's lines (LD_DEBUG_OUTPUT gives each program a file)",
            lines(story.unread)
        );
        not_read(&subject, why);
    }
    if story.spaced > 0 {
        let why = format!(
            "{} of it about bindings have spaces in place of the tab, as in copies from a terminal, and were passed over",
            lines(story.spaced)
        );
        not_read(&subject, why);
    }
    if story.cut {
        not_read(
            &subject,
            "its last line is not whole: the log goes on, or its end was lost".to_string(),
        );
    }
    let of_interest: BTreeSet<u32> = all.iter().flat_map(|alike| alike.pids.clone()).collect();
    for (pid, programs) in &story.programs {
        if of_interest.contains(pid) {
            report.preface.push(format!(
                "process {pid} ran {}: looked at one by one",
                few_then(programs)
            ));
        }
    }
    let mut forks = BTreeMap::<u32, BTreeSet<u32>>::new();
    for pid in all.iter().flat_map(|alike| &alike.forks) {
        if let Some(parent) = story.forks.get(pid) {
            forks.entry(*parent).or_default().insert(*pid);
        }
    }
    for (parent, pids) in forks {
        report.preface.push(format!(
            "{} without a beginning: taken for a fork of process {parent}, with all that this had loaded",
            processes(&pids)
        ));
    }
}

fn few_then(programs: &[String]) -> String {
    let more = if programs.len() > SHOWN { ", ..." } else { "" };
    let shown = &programs[..programs.len().min(SHOWN)];
    shown.join(", then ") + more
}

/// Where the files were taken from: a log has names, and not what they meant to the
/// process.
pub(super) fn places(report: &mut Report, files: &Files, all: &[Alike]) {
    if all.is_empty() || !files.any() {
        return;
    }
    report.preface.push(
        "What the objects are was read from the files that have their names here and now; if the log is older, of another machine or of a container, they may be others".to_string(),
    );
    let relative = files.relative();
    if !relative.is_empty() {
        let named: Vec<String> = relative
            .iter()
            .map(|(path, file)| match file.to_str() {
                Some(file) if file == *path => path.to_string(),
                _ => format!("{path} ({})", file.display()),
            })
            .collect();
        report.preface.push(format!(
            "Named without a whole path, and guessed to be in this folder or in PATH: {}",
            few(&named)
        ));
    }
}

/// References that no log has.
pub(super) fn not_called(report: &mut Report, objects: &Objects<'_>, all: &[Alike], names: &Names) {
    let mut bound = BTreeMap::<&str, BTreeSet<&str>>::new();
    for alike in all {
        for (path, _) in &alike.objects {
            bound.entry(path).or_default();
        }
        for binding in &alike.bindings {
            let of_object = bound.entry(&alike.objects[binding.from].0).or_default();
            of_object.insert(&binding.name);
        }
    }
    let mut waiting = Vec::new();
    for (path, bound) in bound {
        let Some(live) = objects.get(path) else {
            continue;
        };
        let wanted: BTreeSet<&str> = classify::references(&live.object, names)
            .map(|reference| reference.name.as_str())
            .collect();
        let missing = wanted.difference(&bound).count();
        if missing > 0 {
            waiting.push(format!("{path} ({missing} of {})", wanted.len()));
        }
    }
    if !waiting.is_empty() {
        report.preface.push(format!(
            "References that were not called are in no log: {}; `hiplazy doctor --pid` has those of a running process",
            few(&waiting)
        ));
    }
}
