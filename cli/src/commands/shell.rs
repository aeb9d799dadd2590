//! `hiplazy man` and `hiplazy completions`: generated from the command line's own
//! description.

use std::process::ExitCode;

use clap::CommandFactory;
use clap_complete::Shell;

use super::{Failure, write_out};
use crate::cli::Arguments;

/// One page: the command, then each of its commands.
pub(super) fn man() -> Result<ExitCode, Failure> {
    let mut command = Arguments::command();
    command.build();
    let mut page = Vec::new();
    clap_mangen::Man::new(command.clone()).render(&mut page)?;
    for sub in command.get_subcommands() {
        if sub.get_name() == "help" {
            continue;
        }
        let sub = clap_mangen::Man::new(sub.clone());
        sub.render_name_section(&mut page)?;
        sub.render_synopsis_section(&mut page)?;
        sub.render_description_section(&mut page)?;
        sub.render_options_section(&mut page)?;
        sub.render_extra_section(&mut page)?;
    }
    write_out(&String::from_utf8_lossy(&page))?;
    Ok(ExitCode::SUCCESS)
}

/// The completions of a shell.
pub(super) fn completions(shell: Shell) -> Result<ExitCode, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "hiplazy", &mut script);
    write_out(&String::from_utf8_lossy(&script))?;
    Ok(ExitCode::SUCCESS)
}
