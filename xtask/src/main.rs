//! `cargo xtask`: the project's tasks.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

mod abi_command;
mod bench;
mod demo;
mod fetch_command;
mod install;
mod test_command;

#[derive(Parser)]
#[command(
    name = "cargo xtask",
    about = "The project's tasks",
    disable_version_flag = true
)]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Show hiplazy at work on this machine: headless, on fake HIP 5, 6, 7 and on real runtimes
    Demo(demo::Arguments),
    /// Set up, then run every check and test: what CI runs
    Test(test_command::Arguments),
    /// Rebuild the ABI manifest and the Rust types from real headers, or check them
    Abi(abi_command::Arguments),
    /// Measure what a call costs, five ways of linking side by side
    Bench {
        /// Fail if a ratio or a size is over its limit: what CI runs
        #[arg(long)]
        gate: bool,
    },
    /// Install the C libraries, headers, CMake and pkg-config files
    Install(install::Arguments),
    /// Make the folder that docs/doctor.md looks at: every symptom of that page, without a GPU
    Site {
        /// Where; it is created if it is not there
        folder: PathBuf,
    },
    /// Fetch real runtimes, headers and stubs into the cache
    Fetch(fetch_command::Arguments),
}

fn main() -> ExitCode {
    match Arguments::parse().task {
        Task::Demo(arguments) => demo::run(&arguments, &workspace()),
        Task::Test(arguments) => test_command::run(&arguments, &workspace()),
        Task::Abi(arguments) => abi_command::run(&arguments, &workspace()),
        Task::Bench { gate } => match bench::run(gate, &workspace()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("cargo xtask bench: {error}");
                ExitCode::FAILURE
            }
        },
        Task::Install(arguments) => install::run(&arguments, &workspace()),
        Task::Site { folder } => site(&folder),
        Task::Fetch(arguments) => fetch_command::run(&arguments),
    }
}

fn site(folder: &Path) -> ExitCode {
    match xtask::site::make(folder) {
        Ok(missing) => {
            println!("{} is made", folder.display());
            for missing in &missing {
                println!("SKIPPED {missing}");
            }
            ExitCode::from(u8::from(!missing.is_empty()))
        }
        Err(error) => {
            eprintln!("cargo xtask site: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The workspace that cargo runs this task in. Not the one it was compiled in: two
/// checkouts may share a target folder, and then the program.
fn workspace() -> PathBuf {
    let package = std::env::var_os("CARGO_MANIFEST_DIR").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).to_path_buf(),
        PathBuf::from,
    );
    package.parent().unwrap_or(&package).to_path_buf()
}
