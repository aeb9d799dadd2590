//! `hiplazy doctor`: this machine.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::io::{self, Write};
use std::time::Duration;

use hiplazy_abi as abi;

use super::{Failure, machine, probe, process};
use crate::cli::Common;
use crate::finding::Finding;
use crate::names::Names;
use crate::report::{Report, Unreadable};
use crate::rules;

/// Makes the report.
pub(super) fn run(timeout: u64, common: &Common, names: &Names) -> Result<Report, Failure> {
    if !names.are_hip() {
        return Err("without --pid the report is on HIP: --prefix means nothing there".into());
    }
    let mut looked = None;
    let notice = |line| {
        if !common.quiet {
            let _ = writeln!(io::stderr(), "hiplazy: {line}");
        }
    };
    let answer = probe::ask(Duration::from_secs(timeout), notice, |pid| {
        looked = Some(process::report(pid, "doctor", names));
    })?;
    let mut report = Report::new("doctor", "this machine", names);
    match looked {
        Some(Ok(live)) => {
            report.objects = live.objects;
            report.runtimes = live.runtimes;
            report.exporters = live.exporters;
            report.findings = live.findings;
            report.unreadable = live.unreadable;
        }
        Some(Err(error)) => report.unreadable.push(Unreadable {
            path: "the process that loaded the runtime".into(),
            why: error.to_string(),
        }),
        None => {}
    }
    told(&mut report, &answer);
    outcome(&mut report, &answer);
    search(&mut report, &answer);
    installed(&mut report, &answer);
    let environment: BTreeMap<String, String> = env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect();
    report.hazards = process::of_environment(&environment);
    report.sort();
    Ok(report)
}

/// The version that the runtime itself told is that of its file.
fn told(report: &mut Report, answer: &probe::Answer) {
    let Ok(loaded) = &answer.loaded else { return };
    let Some(path) = loaded.path.as_ref().filter(|_| loaded.version > 0) else {
        return;
    };
    let real = |path: &str| fs::canonicalize(path).unwrap_or_else(|_| path.into());
    let bound = real(path);
    let mut runtimes = report.runtimes.iter_mut();
    if let Some(runtime) = runtimes.find(|it| it.kind == "hip" && real(&it.path) == bound) {
        runtime.version = Some(shown(loaded.version));
        runtime.at_least = None;
    }
}

/// The one line that most want.
fn outcome(report: &mut Report, answer: &probe::Answer) {
    let line = match &answer.loaded {
        Ok(loaded) => match &loaded.path {
            Some(path) => format!("hiplazy would bind {path}, HIP {}", shown(loaded.version)),
            None if env::var_os("HIPLAZY_DISABLE").is_some_and(|value| value == "1") => {
                "HIPLAZY_DISABLE=1: programs that use hiplazy behave as if there were no runtime, and every HIP call answers with an error (no device)".to_string()
            }
            None => {
                if env::var_os("HIPLAZY_RUNTIME").is_some_and(|value| !value.is_empty())
                {
                    let text = loaded.error.lines().map(str::to_string);
                    let value = env::var_os("HIPLAZY_RUNTIME").unwrap_or_default();
                    report.findings.push(
                        Finding::new(
                            &rules::UNUSABLE_CHOICE,
                            value.to_string_lossy(),
                            "no other runtime is tried while it is set",
                        )
                        .with(text),
                    );
                }
                "There is no HIP runtime that hiplazy can use: programs that use it import and run, and every HIP call answers with an error (no device)".to_string()
            }
        },
        Err(ended) => {
            let rule = match ended.hung {
                true => &rules::HANGING_RUNTIME,
                false => &rules::CRASHING_RUNTIME,
            };
            let last = answer.search.last().cloned().unwrap_or_default();
            let (object, when) = match &ended.starting {
                Some(library) => (library.as_str(), " in its constructor"),
                None => ("the HIP runtime", ""),
            };
            report.findings.push(
                Finding::new(rule, object, format!("{}{when}", ended.how))
                    .with([format!("last line of the log: {last}")]),
            );
            format!("hiplazy cannot load the runtime: {object}: {}{when}", ended.how)
        }
    };
    report.preface.push(line);
    report.preface.push(machine::devices());
}

/// Every candidate with its reason.
fn search(report: &mut Report, answer: &probe::Answer) {
    let mut number = 0;
    let mut lines = Vec::new();
    for line in &answer.search {
        let (level, text) = line.split_once(": ").unwrap_or(("", line));
        match level {
            // What the doctor's own probe was compiled with says nothing about programs.
            _ if text.contains("caller's headers") => {}
            "debug" => {
                number += 1;
                lines.push(format!("  {number}. {text}"));
            }
            "info" if text.starts_with("bound HIP runtime") => {
                number += 1;
                lines.push(format!("  {number}. {text}"));
            }
            _ => lines.push(format!("     {level}: {text}")),
        }
    }
    // Without a runtime, the error has the places; the log has them as well.
    if lines.is_empty()
        && let Ok(loaded) = &answer.loaded
    {
        lines.extend(loaded.error.lines().map(|line| format!("  {line}")));
    }
    if !lines.is_empty() {
        report.preface.push("The search, in order:".to_string());
        report.preface.extend(lines);
    }
}

/// Runtimes and headers that are there, whether used or not.
fn installed(report: &mut Report, answer: &probe::Answer) {
    let rocm = machine::rocm_folders();
    let packages = machine::site_packages();
    let list = |title: &str, lines: Vec<String>| {
        let mut all = Vec::new();
        if !lines.is_empty() {
            all.push(format!("{title}:"));
            all.extend(lines.into_iter().map(|line| format!("  {line}")));
        }
        all
    };
    let paths = |found: Vec<std::path::PathBuf>| -> Vec<String> {
        found
            .iter()
            .map(|path| path.display().to_string())
            .collect()
    };
    report
        .preface
        .extend(list("ROCm folders", paths(rocm.clone())));
    let near = paths(machine::runtimes(&rocm, &packages));
    report
        .preface
        .extend(list("Runtimes there and in Python packages near", near));
    let version = match &answer.loaded {
        Ok(loaded) if loaded.version > 0 => Some(loaded.version),
        _ => None,
    };
    let headers = machine::headers(&rocm).into_iter().map(|(file, headers)| {
        let file = file.display();
        match version.map(numbers) {
            Some(runtime) if runtime.major != headers.major => {
                let differ = differences(headers, runtime);
                format!(
                    "{file}: HIP {headers}, and the runtime is HIP {runtime}: {differ} functions have other structs or constants"
                )
            }
            _ => format!("{file}: HIP {headers}"),
        }
    });
    report.preface.extend(list("Headers", headers.collect()));
}

/// How many functions need a translation between two versions, or are refused.
fn differences(headers: abi::Version, runtime: abi::Version) -> usize {
    // The table is part of this program and parsed by its tests.
    let breaks = abi::parse_breaks(abi::BREAKS_TXT).unwrap_or_default();
    let felt = breaks
        .iter()
        .filter(|line| process::is_felt(line, headers, runtime));
    felt.count()
}

fn numbers(version: i32) -> abi::Version {
    let version = version as u32;
    abi::Version::new(version / 10_000_000, version / 100_000 % 100)
}

/// `7.14.60850`.
fn shown(version: i32) -> String {
    format!("{}.{}", numbers(version), version % 100_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_runtime_version_is_taken_apart() {
        assert_eq!(shown(71_460_850), "7.14.60850");
        assert_eq!(shown(50_221_153), "5.2.21153");
    }

    #[test]
    fn headers_and_runtimes_of_different_majors_differ() {
        let [five, six] = [abi::Version::new(5, 7), abi::Version::new(6, 4)];
        assert!(differences(five, six) > 10);
        assert_eq!(differences(six, six), 0);
    }
}
