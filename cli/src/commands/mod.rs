//! The commands. Each makes a [`Report`], which is printed in one place.

mod doctor;
mod explain;
pub mod lint;
mod log;
mod machine;
mod outputs;
mod probe;
mod process;
mod run;
mod shell;

use std::error::Error;
use std::io::{self, Write};
use std::process::ExitCode;

use crate::cli::{Arguments, Command, Common, Doctor, Pictures, colored};
use crate::names::Names;
use crate::report::{Printing, Report};
use outputs::Outputs;

/// What a command fails with when it could not look: what was tried, why it failed,
/// what helps.
pub type Failure = Box<dyn Error>;

/// Runs the command; the status is the report's.
pub fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let common = &arguments.common;
    let names = Names::new(&common.prefix);
    one_on_standard_output(arguments)?;
    let (report, outputs) = match &arguments.command {
        Command::Man => return shell::man(),
        Command::Completions { shell } => return shell::completions(*shell),
        Command::Explain(explain) => return explain::run(explain, common),
        Command::Run(run) => return run::run(run, common, &names),
        Command::Doctor(Doctor {
            probe: Some(line), ..
        }) => return probe::run(*line),
        Command::Lint(lint) => {
            let outputs = Outputs::open(&lint.pictures, None)?;
            (lint::run(lint, common, &names)?, outputs)
        }
        Command::Log(log) => {
            let outputs = Outputs::open(&log.pictures, None)?;
            (log::run(log, common, &names)?, outputs)
        }
        Command::Doctor(doctor) => {
            let outputs = Outputs::open(&doctor.pictures, None)?;
            let report = match doctor.pid {
                Some(pid) => process::run(pid, common, &names)?,
                None => doctor::run(doctor.timeout, common, &names)?,
            };
            (report, outputs)
        }
    };
    print(&report, &outputs, common)
}

/// What is written in place of the report.
fn replaced(pictures: &Pictures) -> impl Iterator<Item = &'static str> {
    let asked = [("--html -", &pictures.html), ("--dot -", &pictures.dot)];
    let asked = asked.into_iter();
    asked.filter_map(|(option, file)| {
        outputs::is_standard_output(file.as_deref()?).then_some(option)
    })
}

/// Standard output is for one thing; known before anything is looked at.
fn one_on_standard_output(arguments: &Arguments) -> Result<(), Failure> {
    let (pictures, own) = match &arguments.command {
        Command::Doctor(doctor) => (&doctor.pictures, None),
        Command::Lint(lint) => (&lint.pictures, None),
        Command::Log(log) => (&log.pictures, None),
        Command::Run(run) => (&run.pictures, Some("the command's own output")),
        Command::Explain(_) | Command::Man | Command::Completions { .. } => return Ok(()),
    };
    let json = (arguments.common.json && own.is_none()).then_some("--json");
    let all: Vec<&str> = replaced(pictures).chain(json).chain(own).collect();
    match replaced(pictures).next() {
        Some(option) if all.len() > 1 => Err(format!(
            "{} cannot all go to standard output: name a file, as in {}",
            all.join(" and "),
            option.replace(" -", " FILE")
        )
        .into()),
        _ => Ok(()),
    }
}

/// Prints a report and writes what else was asked for.
fn print(report: &Report, outputs: &Outputs, common: &Common) -> Result<ExitCode, Failure> {
    outputs.write_pictures(report)?;
    let printing = Printing {
        json: common.json,
        quiet: common.quiet,
        verbose: common.verbose,
        color: colored(common.color, &io::stdout()),
    };
    if !outputs.replace_report() {
        write_out(&report.print(printing))?;
    }
    Ok(ExitCode::from(report.exit() as u8))
}

/// Writes to standard output. A reader that has gone away (`| head`) is no error.
fn write_out(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(format!("cannot write the report: {error}").into())
        }
        _ => Ok(()),
    }
}
