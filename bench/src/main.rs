//! `cargo xtask bench`.

use std::path::Path;
use std::process::{ExitCode, Stdio};
use std::{env, fs};

use anyhow::{Context, Result, bail};
use clap::{Parser, Subcommand};
use hiplazy_bench::judge::{self, Outcome, Verdict};
use hiplazy_bench::report::Report;
use hiplazy_bench::samples::{self, Rounds, baseline};
use hiplazy_bench::{Folder, Variant, instructions, prepare, sizes, startup};

/// Complete repetitions of the measurement before the gate says no. A disturbed
/// machine spoils one; code that became slower fails all.
const ATTEMPTS: usize = 3;
/// Runs of the whole benchmark in one attempt.
const ROUNDS: usize = 7;

#[derive(Parser)]
#[command(
    name = "hiplazy-bench",
    about = "Measures what a HIP call costs through hiplazy",
    disable_version_flag = true
)]
struct Arguments {
    /// Fail if a limit is broken
    #[arg(long)]
    gate: bool,

    /// Delay every call of this variant, to see the gate fail
    #[arg(long, value_name = "VARIANT")]
    slow: Option<Variant>,

    #[command(subcommand)]
    task: Option<Task>,
}

#[derive(Subcommand)]
enum Task {
    /// The calls that valgrind counts
    #[command(name = instructions::COUNTED, hide = true)]
    RunCounted { variant: Variant },
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let result = match &arguments.task {
        Some(Task::RunCounted { variant }) => run_counted(*variant).map(|()| true),
        None => bench(&arguments),
    };
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("bench: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run_counted(variant: Variant) -> Result<()> {
    let folder = Folder::from_env().context("this is run by the benchmark itself")?;
    instructions::run_counted(&folder, variant)
}

/// Measures and reports; false if the gate is asked for and a limit is broken.
fn bench(arguments: &Arguments) -> Result<bool> {
    let ci = env::var_os("CI").is_some_and(|value| value == "true");
    let prepared = prepare::prepare(arguments.slow)?;
    if let Some(why) = &prepared.without_tilelang {
        println!("SKIPPED the TileLang stub: {why}");
    }
    let folder = &prepared.folder;
    let sizes = sizes::measure(folder)?;
    let (startup, skipped) = startup::measure(folder)?;
    for what in skipped {
        println!("SKIPPED {what}");
    }
    let instructions = instructions::count(folder).map_err(|why| format!("{why:#}"));
    let (rounds, times) = measure(folder, arguments.gate)?;

    let report = Report {
        rounds,
        instructions,
        startup,
        sizes,
    };
    println!("{}", report.text());
    let file = folder.path().join("report.json");
    fs::write(&file, format!("{:#}\n", report.json()))
        .with_context(|| format!("cannot write {}", file.display()))?;
    println!("The same as JSON: {}", file.display());

    let mut verdicts = times;
    if cfg!(target_arch = "x86_64") {
        let counted = report.instructions.as_ref().map_err(String::as_str);
        verdicts.extend(judge::instructions(counted));
    }
    verdicts.extend(judge::sizes(&report.sizes));
    println!("\nLimits:\n");
    for verdict in &verdicts {
        println!("{verdict}");
    }
    let passes = judge::passes(&verdicts, ci);
    if arguments.gate {
        println!("\ngate: {}", if passes { "passed" } else { "FAILED" });
        if !passes && verdicts.iter().any(|v| v.outcome == Outcome::Skipped) {
            println!("gate: in CI a limit that cannot be measured is a failure");
        }
    }
    Ok(passes || !arguments.gate)
}

/// Measures the times. For the gate, again until the limits hold, [`ATTEMPTS`] times
/// at most.
fn measure(folder: &Folder, gate: bool) -> Result<(Rounds, Vec<Verdict>)> {
    let program = prepare::benchmark()?;
    let attempts = if gate { ATTEMPTS } else { 1 };
    let mut attempt = 1;
    loop {
        let rounds = run_rounds(folder, &program)?;
        let verdicts = judge::times(&rounds);
        // What is skipped stays so: only a broken limit is worth another attempt.
        if judge::passes(&verdicts, false) || attempt == attempts {
            if gate {
                println!("bench: this is attempt {attempt} of at most {attempts}\n");
            }
            return Ok((rounds, verdicts));
        }
        println!("bench: attempt {attempt} of {attempts} broke a limit; measuring again:");
        for verdict in verdicts.iter().filter(|v| v.outcome == Outcome::Broken) {
            println!("  {verdict}");
        }
        attempt += 1;
    }
}

/// Runs criterion's benchmark program once per round. Its own output is kept for the
/// case that it fails.
fn run_rounds(folder: &Folder, program: &Path) -> Result<Rounds> {
    samples::clear(folder)?;
    for round in 0..ROUNDS {
        let output = prepare::measuring_command(folder, program)
            .args(["--bench", "--noplot", "--save-baseline", &baseline(round)])
            .stdin(Stdio::null())
            .output()
            .with_context(|| format!("cannot start {}", program.display()))?;
        if !output.status.success() {
            bail!(
                "the benchmark failed: {}\n{}{}",
                output.status,
                String::from_utf8_lossy(&output.stdout),
                String::from_utf8_lossy(&output.stderr)
            );
        }
    }
    samples::read(folder, ROUNDS)
}
