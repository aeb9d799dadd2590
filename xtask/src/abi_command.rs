//! `cargo xtask abi`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use hiplazy_abi::Version;
use xtask::abi::{Options, run as run_abi};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Compare with the committed files and with real headers; write nothing
    #[arg(long)]
    check: bool,

    /// Compare with every header set that can be had, not only with 5.2.3 and 7.1
    #[arg(long)]
    all: bool,

    /// Headers of a version, in the folder that holds hip/; repeatable
    #[arg(long, value_name = "VERSION=DIR", value_parser = version_and_folder)]
    headers: Vec<(Version, PathBuf)>,
}

fn version_and_folder(text: &str) -> Result<(Version, PathBuf), String> {
    let (version, folder) = text
        .split_once('=')
        .ok_or_else(|| "give VERSION=DIR, such as 7.1=/opt/rocm/include".to_string())?;
    Ok((version.parse()?, PathBuf::from(folder)))
}

pub(crate) fn run(arguments: &Arguments, workspace: &Path) -> ExitCode {
    let options = Options {
        check: arguments.check,
        all: arguments.all,
        headers: arguments.headers.clone(),
    };
    let report = match run_abi(workspace, &options) {
        Ok(report) => report,
        Err(error) => {
            eprintln!("abi: {error}");
            return ExitCode::FAILURE;
        }
    };
    for path in &report.written {
        println!("wrote {}", path.display());
    }
    for line in &report.compared {
        println!("compared {line}");
    }
    for line in &report.skipped {
        println!("SKIPPED {line}");
    }
    for line in &report.differences {
        println!("DIFFERS {line}");
    }
    println!(
        "abi: {} header sets compared, {} skipped, {} differences",
        report.compared.len(),
        report.skipped.len(),
        report.differences.len()
    );
    if report.differences.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
