//! `hiplazy doctor --pid`: a running process, from outside.

pub(super) mod abi;
mod elsewhere;
mod forecast;
mod hazards;
mod preload;
mod sections;
mod taken;
mod verdicts;

use std::collections::BTreeSet;
use std::thread;
use std::time::Duration;

use super::Failure;
use super::lint::object_findings;
use crate::cli::Common;
use crate::finding::Finding;
use crate::names::Names;
use crate::process::bindings::Link;
use crate::process::{Capture, Error, Running, World, bindings};
use crate::report::{Report, Unreadable};
use crate::rules;

pub(super) use abi::is_felt;
pub(super) use hazards::of_environment;
pub(super) use preload::of_own_environment;

/// How often a process that is loading libraries is read again.
const ATTEMPTS: usize = 3;

/// How long a process is left alone that could not be read at this moment.
const PAUSE: Duration = Duration::from_millis(5);

/// Makes the report.
pub(super) fn run(pid: u32, _: &Common, names: &Names) -> Result<Report, Failure> {
    Ok(report(pid, "doctor", names)?)
}

/// The report on a process, for `command`.
///
/// # Errors
///
/// Why nothing can be said about it.
pub(super) fn report(pid: u32, command: &str, names: &Names) -> Result<Report, Error> {
    let mut made = Err(Error::NoSuchProcess(pid));
    let mut changed = None;
    let first = Running::of(pid);
    for _ in 0..ATTEMPTS {
        let before = Running::of(pid);
        let attempt = Capture::take(pid).and_then(|capture| {
            let report = of_capture(&capture, command, names)?;
            Ok((report, capture.changes()?))
        });
        match attempt {
            Ok((report, what)) => {
                made = Ok(report);
                changed = what;
                if changed.is_none() {
                    break;
                }
            }
            Err(error) => {
                let now = Running::of(pid);
                // Parts of two programs do not fit together, whatever does not fit first.
                let is_other = now != before || now != first;
                if !now.is_there() || (!is_other && !error.may_pass()) {
                    return Err(error);
                }
                if is_other {
                    made = Err(Error::OtherProgram(pid));
                } else if made.is_err() {
                    made = Err(error);
                }
                thread::sleep(PAUSE);
            }
        }
    }
    let mut report = made?;
    if let Some(what) = changed {
        report.unreadable.push(Unreadable {
            path: report.subject.clone(),
            why: format!("changed while it was read, {ATTEMPTS} times: {what}; ask again when it has loaded its libraries"),
        });
    }
    report.sort();
    Ok(report)
}

fn of_capture(capture: &Capture, command: &str, names: &Names) -> Result<Report, Error> {
    let memory = capture.memory();
    let mut world = capture.read(names);
    world.preloaded = preload::objects(capture, &world);
    let mut report = Report::new(command, capture.subject(), names);
    report.objects = world.objects.len();
    report.unreadable = world.unreadable.clone();
    if let Some(closed) = &capture.closed {
        report.unreadable.push(Unreadable {
            path: capture.subject(),
            why: format!("{closed}; without that there is only the list of mapped files, and no scopes and bindings"),
        });
    }
    if let Some(why) = &world.estimated {
        report.unreadable.push(Unreadable {
            path: capture.subject(),
            why: format!("its dynamic linker keeps scopes in a way that is not known here ({why}); they are estimated from DT_NEEDED, without RTLD_GLOBAL and RTLD_DEEPBIND"),
        });
    }
    let links = if capture.closed.is_some() {
        Vec::new()
    } else {
        bindings::read(&world, memory, names)
            .map_err(|error| Error::reading(capture.pid, "the words that are bound", &error))?
    };
    sections::fill(&mut report, &world, &links, names);
    objects(&mut report, &world, names);
    verdicts::fill(&mut report, &world, &links, names);
    elsewhere::fill(&mut report, &world, &links);
    if capture.closed.is_none() {
        forecast::fill(&mut report, &world, &links, names);
        hazards::fill(&mut report, capture, &world, names);
        if names.are_hip() {
            abi::of_process(&mut report, &world, &links);
            taken::fill(&mut report, &world, memory, names)
                .map_err(|error| Error::reading(capture.pid, "the runtime's words", &error))?;
        }
    }
    Ok(report)
}

/// What follows from objects and bindings alone, as a log has them; of what is preloaded
/// it takes what the world says.
pub(super) fn of_bindings(report: &mut Report, world: &World<'_>, links: &[Link], names: &Names) {
    sections::fill(report, world, links, names);
    objects(report, world, names);
    verdicts::fill(report, world, links, names);
    if names.are_hip() {
        abi::of_process(report, world, links);
    }
}

/// What the objects alone say. In a process it is known who answers whom, so the rules
/// about what an export might do are not asked.
fn objects(report: &mut Report, world: &World<'_>, names: &Names) {
    let asked: BTreeSet<&str> = [
        &rules::DISGUISED_RUNTIME,
        &rules::RUNTIME_FILTER,
        &rules::LEGACY_LITERAL,
        &rules::UNVERSIONED_REFERENCE,
        &rules::OLD_STRUCT,
        &rules::NEW_STRUCT,
        &rules::MIXED_STRUCTS,
        &rules::UNIQUE_SYMBOL,
    ]
    .iter()
    .map(|rule| rule.id)
    .collect();
    for live in &world.objects {
        let found = object_findings(&live.object, &live.role, names);
        let found = found.into_iter();
        report
            .findings
            .extend(found.filter(|finding: &Finding| asked.contains(finding.rule.id)));
    }
}
