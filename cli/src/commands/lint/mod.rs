//! `hiplazy lint`: files, folders and wheels, without running anything.

mod archive;
mod breaks;
mod inputs;
mod missing;
mod object_rules;
mod package;
mod package_rules;
mod packed;
mod place;
mod progress;
mod search;
mod search_paths;
mod sections;
mod twice;

use rayon::prelude::*;

use super::Failure;
use crate::classify::Role;
use crate::cli::{Common, Lint};
use crate::contents::Contents;
use crate::elf::{Error, Keep, Object};
use crate::finding::Rule;
use crate::names::Names;
use crate::report::{Report, Unreadable};
use crate::rules;
use archive::{Archive, Limits};
use inputs::Input;
use package::Packages;
use place::Place;

pub use object_rules::findings as object_findings;
pub use sections::{client_of, exporter_of, runtime_of};

/// The rules that `lint` checks.
pub static RULES: [&Rule; 25] = [
    &rules::BARE_EXPORT,
    &rules::NODE_EXPORT,
    &rules::DISGUISED_RUNTIME,
    &rules::GLOBAL_EXPORTER,
    &rules::LEGACY_LITERAL,
    &rules::UNVERSIONED_REFERENCE,
    &rules::TWO_MAJORS,
    &rules::SEVERAL_MAJORS,
    &rules::BUNDLED_RUNTIME,
    &rules::UNIQUE_SYMBOL,
    &rules::OLD_STRUCT,
    &rules::NEW_STRUCT,
    &rules::MIXED_STRUCTS,
    &rules::BUILD_PATH,
    &rules::RELATIVE_PATH,
    &rules::EXECUTABLE_STACK,
    &rules::TEXT_RELOCATIONS,
    &rules::HIP_LIKE_EXPORT,
    &rules::STRUCT_GENERATION,
    &rules::RUNTIME_FILTER,
    &rules::MISSING_NODE,
    &rules::UNKNOWN_NODE,
    &rules::PROGRAM_EXPORT,
    &rules::OUTSIDE_NEED,
    &rules::DEFINED_TWICE,
];

/// One file that was looked at.
enum Looked {
    /// An object.
    Object {
        /// What was read.
        object: Box<Object>,
        /// Where it lies and what it belongs to.
        place: Place,
    },
    /// Nothing that a process maps; what it is.
    Passed(&'static str),
    /// Could not be looked at.
    Unreadable(Unreadable),
}

/// Makes the report.
pub(super) fn run(lint: &Lint, common: &Common, names: &Names) -> Result<Report, Failure> {
    for allowed in &lint.allow {
        if !RULES.iter().any(|rule| rule.id == allowed) {
            let known = RULES.map(|rule| rule.id).join(", ");
            return Err(
                format!("--allow {allowed}: there is no such rule; the rules are {known}").into(),
            );
        }
    }
    let mut looked = Vec::new();
    let inputs = inputs::find(&lint.paths, &mut looked);
    for picture in [&lint.pictures.html, &lint.pictures.dot] {
        let target = picture
            .as_deref()
            .filter(|path| inputs::would_end(path, &inputs));
        if let Some(target) = target {
            let path = target.display();
            let why = "is one of the files that are looked at; give the page another name";
            return Err(format!("cannot write {path}: it {why}").into());
        }
    }
    let progress = progress::Progress::new(common, inputs.len());
    let results: Vec<Vec<Looked>> = inputs
        .par_iter()
        .map(|input| {
            let results = look(input, names, &progress);
            progress.step();
            results
        })
        .collect();
    progress.done();
    looked.extend(results.into_iter().flatten());
    let subject: Vec<String> = lint
        .paths
        .iter()
        .map(|path| path.display().to_string())
        .collect();
    let mut report = report(subject.join(", "), looked, names);
    report
        .findings
        .retain(|finding| !lint.allow.iter().any(|id| id == finding.rule.id));
    Ok(report)
}

/// Looks at one input: a file is one result, a wheel has one per member of interest.
fn look(input: &Input, names: &Names, progress: &progress::Progress) -> Vec<Looked> {
    let path = input.path.display().to_string();
    let unreadable = |why: String| {
        vec![Looked::Unreadable(Unreadable {
            path: path.clone(),
            why,
        })]
    };
    match inputs::contents(&input.path) {
        Ok(Some(data)) => look_into(input, &data, names, progress),
        Ok(None) if input.place.named => unreadable("is empty".into()),
        Ok(None) => vec![Looked::Passed("empty")],
        Err(error) => unreadable(error),
    }
}

/// Looks at the contents of an input.
fn look_into(
    input: &Input,
    data: &Contents,
    names: &Names,
    progress: &progress::Progress,
) -> Vec<Looked> {
    let path = input.path.display().to_string();
    let looked = if archive::is_archive(&input.path, data) {
        Archive::new(Limits::USUAL, names, progress).look(&path, &input.place, data)
    } else {
        vec![look_at(&path, data, input.place.clone(), names)]
    };
    match data.cut() {
        // What was seen of it may be half of one file and half of another.
        Some(why) => vec![Looked::Unreadable(Unreadable {
            path,
            why: why.into(),
        })],
        None => looked,
    }
}

/// Looks at the bytes of one file.
fn look_at(path: &str, data: &[u8], place: Place, names: &Names) -> Looked {
    let named = place.named;
    if let Some(packed) = packed::kind(path, data) {
        return packed.looked(path, named);
    }
    let passed = match crate::elf::read(path, data, Keep::Of(names)) {
        Ok(object) => {
            return Looked::Object {
                object: Box::new(object),
                place,
            };
        }
        Err(_) if data.starts_with(b"!<arch>\n") || data.starts_with(b"!<thin>\n") => {
            if named {
                let why = "is a static library: no process loads it, so there is nothing to bind; lint the program or shared library that it is linked into";
                return Looked::Unreadable(Unreadable {
                    path: path.into(),
                    why: why.into(),
                });
            }
            "static libraries"
        }
        Err(error @ Error::Corrupt { .. }) => {
            return Looked::Unreadable(Unreadable {
                path: path.into(),
                why: error.to_string(),
            });
        }
        Err(error) if named => {
            return Looked::Unreadable(Unreadable {
                path: path.into(),
                why: error.to_string(),
            });
        }
        Err(Error::NotElf) => "other files",
        Err(Error::NotLoadable) => "object files and debug information",
        Err(Error::NotForTheHost) => "device code",
        Err(Error::NotSixtyFourBit) => "32-bit objects",
    };
    Looked::Passed(passed)
}

/// The report on all that was looked at.
fn report(subject: String, looked: Vec<Looked>, names: &Names) -> Report {
    let mut report = Report::new("lint", subject, names);
    let mut objects = Vec::new();
    for one in looked {
        match one {
            Looked::Object { object, place } => {
                report.objects += 1;
                objects.push((*object, place));
            }
            Looked::Passed(what) => *report.passed_over.entry(what.into()).or_default() += 1,
            Looked::Unreadable(unreadable) => report.unreadable.push(unreadable),
        }
    }
    let packages = Packages::new(objects, names);
    for package in packages.iter() {
        for number in packages.looked_at(package) {
            let member = packages.member(number);
            let object = &member.object;
            match &member.role {
                Role::Runtime(library) => {
                    let mut runtime = runtime_of(object, library);
                    runtime.needed_by = packages.needed_by(number);
                    report.runtimes.push(runtime);
                }
                Role::Exporter | Role::Disguised(..) => {
                    let mut exporter = exporter_of(object, names);
                    exporter.needed_by = packages.needed_by(number);
                    report.exporters.push(exporter);
                }
                Role::Filter(_) | Role::Client | Role::Other => {}
            }
            if !matches!(member.role, Role::Runtime(_))
                && let Some(client) = client_of(object, names)
            {
                report.clients.push(client);
            }
            report
                .findings
                .extend(object_rules::findings(object, &member.role, names));
        }
        report
            .findings
            .extend(package_rules::findings(&packages, package, names));
    }
    if names.are_hip() {
        breaks::fill(&mut report, &packages, names);
        report.findings.extend(missing::findings(&packages, names));
        report
            .findings
            .extend(package_rules::unique_clashes(&packages));
    } else {
        report.findings.extend(twice::findings(&packages, names));
    }
    report.sort();
    report
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With the guard of [`Contents`] taken out, this ends the test program with SIGBUS.
    #[test]
    fn a_file_that_is_cut_short_while_it_is_looked_at_is_an_error_line() {
        let folder = tempfile::tempdir().unwrap();
        let program = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        for name in ["program", "wheel.whl"] {
            let path = folder.path().join(name);
            std::fs::write(&path, &program).unwrap();
            let input = Input {
                path: path.clone(),
                place: Place::default(),
            };
            let data = inputs::contents(&path).unwrap().unwrap();
            let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
            file.set_len(4096).unwrap();
            let progress = progress::Progress::hidden();
            let looked = look_into(&input, &data, &Names::default(), &progress);
            let [Looked::Unreadable(line)] = &looked[..] else {
                panic!("{name}: {} results", looked.len());
            };
            assert!(line.why.contains("became shorter"), "{}", line.why);
            assert_eq!(line.path, path.display().to_string());
        }
    }
}
