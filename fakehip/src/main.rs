//! `fakehip build DIR`: the fake runtime from the command line.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use fakehip::{Library, Version};

/// A fake HIP runtime for tests
#[derive(Parser)]
#[command(version, about)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Compile libraries into a folder and print their paths
    Build {
        /// Folder for the libraries, created if needed
        folder: PathBuf,
        /// HIP version (5.2.3, 5.3, 5.7.1, 6.0, 6.4.3, 7.0, 7.1, 7.2.4, 7.14) or
        /// major; may be given several times, one version per major. Without: 5.7.1, 6.4.3, 7.14 and
        /// libhsa-runtime64
        #[arg(long)]
        version: Vec<Version>,
        /// Function that libamdhip64 shall not export (may be repeated); needs --version
        #[arg(long, value_name = "NAME", requires = "version")]
        without: Vec<String>,
        /// Write fakehip.h beside the libraries
        #[arg(long)]
        header: bool,
    },
}

fn main() -> ExitCode {
    let Command::Build {
        folder,
        version,
        without,
        header,
    } = Arguments::parse().command;
    let built = if version.is_empty() {
        fakehip::build_all(&folder)
    } else {
        let libraries: Vec<Library> = version
            .into_iter()
            .flat_map(fakehip::libraries_of)
            .map(|library| {
                if library.is_hip() {
                    library.without(without.clone())
                } else {
                    library
                }
            })
            .collect();
        fakehip::build(&folder, &libraries)
    };
    let built = built.and_then(|mut paths| {
        if header {
            paths.push(fakehip::write_header(&folder)?);
        }
        Ok(paths)
    });
    match built {
        Ok(paths) => {
            for path in paths {
                println!("{}", path.display());
            }
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("fakehip: {error}");
            ExitCode::FAILURE
        }
    }
}
