//! `cargo xtask test`: set-up, then everything that must hold before a change lands.

use std::env;
use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Instant;

use xtask::fetch;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Leave the benchmark gate and the demo out, for a quicker run while working
    #[arg(long)]
    quick: bool,
}

/// What the tests are better with. All but the first are skipped visibly where
/// they cannot be had; in CI the first may not be.
const NEEDED: [&str; 10] = [
    "runtime-7.14",
    "runtime-7.14-copy",
    "runtime-5.2",
    "libclang-18.1.1",
    "headers-7.1",
    "headers-5.2",
    "headers-6.2",
    "tilelang-0.1.10",
    "tilelang-0.1.10-wheel",
    "tilelang-0.1.15",
];

struct Step {
    name: &'static str,
    outcome: Result<(), String>,
    seconds: f64,
}

pub(crate) fn run(arguments: &Arguments, workspace: &Path) -> ExitCode {
    let in_ci = env::var_os("CI").is_some_and(|value| value == "true");
    let mut skips = Vec::new();
    println!("==> set-up");
    for name in NEEDED {
        match fetch::fetch(name) {
            Ok(path) => println!("    {name}: {}", path.display()),
            Err(missing) => {
                println!("    {name}: SKIPPED: {missing}");
                skips.push(format!("{name}: {}", one_line(&missing.to_string())));
            }
        }
    }
    for missing in fetch::tools() {
        println!("    SKIPPED: {missing}");
        skips.push(one_line(&missing.to_string()));
    }
    let runtime_missing = skips.iter().any(|skip| skip.starts_with("runtime-7.14:"));

    let skip_file = workspace.join("target/skipped-tests.txt");
    let _ = fs::create_dir_all(workspace.join("target"));
    let _ = fs::remove_file(&skip_file);
    let mut steps = Vec::new();
    let mut step = |name: &'static str, command: &mut Command| {
        println!("\n==> {name}");
        let begin = Instant::now();
        let status = command
            .current_dir(workspace)
            .env("HIPLAZY_SKIPS", &skip_file)
            .status();
        let outcome = match status {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(status.to_string()),
            Err(error) => Err(error.to_string()),
        };
        steps.push(Step {
            name,
            outcome,
            seconds: begin.elapsed().as_secs_f64(),
        });
    };
    step("format", cargo().args(["fmt", "--all", "--check"]));
    step(
        "lint",
        cargo()
            .args(["clippy", "--workspace", "--all-targets", "--locked"])
            .args(WARNINGS),
    );
    step(
        "lint without default features",
        cargo()
            .args([
                "clippy",
                "-p",
                "hiplazy",
                "--no-default-features",
                "--locked",
            ])
            .args(WARNINGS),
    );
    // As the build script of hiplazy-cli compiles it.
    step(
        "lint of the auditing module",
        cargo()
            .args([
                "clippy",
                "-p",
                "hiplazy-audit",
                "--features",
                "module",
                "--locked",
            ])
            .args(WARNINGS),
    );
    step(
        "documentation",
        cargo()
            .args(["doc", "--workspace", "--no-deps", "--locked"])
            .env("RUSTDOCFLAGS", "-D warnings"),
    );
    step(
        "build as a user does",
        cargo().args(["build", "--release", "--locked"]),
    );
    step(
        "tests",
        cargo().args(["test", "--workspace", "--locked", "--no-fail-fast"]),
    );
    step(
        "manifest against real headers",
        xtask().args(["abi", "--check"]),
    );
    if !arguments.quick {
        step("benchmark gate", xtask().args(["bench", "--gate"]));
        step("demo", xtask().arg("demo"));
    }

    if let Ok(text) = fs::read_to_string(&skip_file) {
        skips.extend(text.lines().map(str::to_string));
    }
    report(&steps, &skips, in_ci && runtime_missing)
}

const WARNINGS: [&str; 3] = ["--", "-D", "warnings"];

fn report(steps: &[Step], skips: &[String], runtime_missing_in_ci: bool) -> ExitCode {
    println!("\n==> result");
    for step in steps {
        let outcome = match &step.outcome {
            Ok(()) => "ok".to_string(),
            Err(why) => format!("FAILED ({why})"),
        };
        println!("    {:<32} {:>7.1} s  {outcome}", step.name, step.seconds);
    }
    if !skips.is_empty() {
        println!("    skipped, {}:", skips.len());
        for skip in skips {
            println!("      {skip}");
        }
    }
    let mut failed = steps.iter().filter(|step| step.outcome.is_err()).count();
    if runtime_missing_in_ci {
        println!("    FAILED: the real 7.14 runtime may not be skipped in CI");
        failed += 1;
    }
    let passed = steps.len() - steps.iter().filter(|step| step.outcome.is_err()).count();
    println!("{passed} passed, {failed} failed, {} skipped", skips.len());
    if failed == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn cargo() -> Command {
    Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// Another task, by cargo: building the tests has replaced this program's file.
fn xtask() -> Command {
    let mut command = cargo();
    command.args(["run", "--quiet", "--locked", "--package", "xtask", "--"]);
    command
}
