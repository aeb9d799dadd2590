//! `hiplazy`: who binds to whom, and what to do about it.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;
use hiplazy_cli::{cli, commands};

fn main() -> ExitCode {
    let arguments = match cli::Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            // clap's own status for a wrong command line is 2, which is "conflict" here.
            let help = !error.use_stderr();
            let _ = error.print();
            return ExitCode::from(if help { 0 } else { cli::COULD_NOT_LOOK });
        }
    };
    match commands::run(&arguments) {
        Ok(status) => status,
        Err(error) => {
            let _ = writeln!(io::stderr(), "hiplazy: {error}");
            ExitCode::from(cli::COULD_NOT_LOOK)
        }
    }
}
