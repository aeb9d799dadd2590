//! `hiplazy man` and `hiplazy completions`: generated from the command line's own
//! description.

use std::io::Write;
use std::process::ExitCode;

use clap::{Command, CommandFactory};
use clap_complete::Shell;
use clap_mangen::Man;

use super::{Failure, write_out};
use crate::cli::Arguments;

/// One page: the command, then a section for each of its commands.
pub(super) fn man() -> Result<ExitCode, Failure> {
    let mut command = Arguments::command();
    command.build();
    let subs: Vec<Command> = command
        .get_subcommands()
        .filter(|sub| sub.get_name() != "help")
        .cloned()
        .collect();
    let version = command.get_version().unwrap_or_default();
    let source = format!("hiplazy {version}");
    // A page without a date: it would be that of the build, and no two builds alike.
    let page = Man::new(command.clone()).source(source).date("-");
    let mut text = Vec::new();
    page.render_title(&mut text)?;
    page.render_name_section(&mut text)?;
    page.render_synopsis_section(&mut text)?;
    page.render_description_section(&mut text)?;
    page.render_options_section(&mut text)?;
    for sub in subs {
        text.extend(section(sub)?);
    }
    extra(&command, "SH", &mut text)?;
    write_out(&String::from_utf8_lossy(&text))?;
    Ok(ExitCode::SUCCESS)
}

/// The section of one command, its parts as subsections.
fn section(command: Command) -> Result<Vec<u8>, Failure> {
    let name = format!("hiplazy {}", command.get_name());
    // Those that every command has are described once.
    let own = command.mut_args(|argument| {
        let hidden = argument.is_global_set() || argument.is_hide_set();
        let hidden = hidden || argument.get_id() == "help";
        argument.hide(hidden)
    });
    let usage = own.clone().render_usage().to_string();
    let has_options = own.get_arguments().any(|argument| !argument.is_hide_set());
    let page = Man::new(own.clone());
    let mut parts = Vec::new();
    page.render_description_section(&mut parts)?;
    // As the help has it: with the `--` before a command, and values.
    let usage = usage.trim_start_matches("Usage: ").replace('-', "\\-");
    writeln!(parts, ".SH SYNOPSIS\n{usage}")?;
    if has_options {
        page.render_options_section(&mut parts)?;
    }
    let parts = String::from_utf8_lossy(&parts).replace("\n.SH ", "\n.SS ");
    // What it does stands right below its name.
    let parts = parts.replace(".SS DESCRIPTION\n", "");
    let mut text = Vec::from(format!(".SH {}\n{parts}", name.to_uppercase()));
    extra(&own, "SS", &mut text)?;
    Ok(text)
}

/// Examples and notes, with their lines as they are.
fn extra(command: &Command, level: &str, text: &mut Vec<u8>) -> Result<(), Failure> {
    let Some(notes) = command.get_after_help() else {
        return Ok(());
    };
    writeln!(text, ".{level} NOTES\n.nf")?;
    for line in notes.to_string().lines() {
        let line = line.replace('\\', "\\e").replace('-', "\\-");
        // At the beginning of a line these two are requests.
        let guard = if line.starts_with(['.', '\'']) {
            "\\&"
        } else {
            ""
        };
        writeln!(text, "{guard}{line}")?;
    }
    writeln!(text, ".fi")?;
    Ok(())
}

/// The completions of a shell.
pub(super) fn completions(shell: Shell) -> Result<ExitCode, Failure> {
    let mut script = Vec::new();
    let mut command = visible(&Arguments::command());
    clap_complete::generate(shell, &mut command, "hiplazy", &mut script);
    write_out(&String::from_utf8_lossy(&script))?;
    Ok(ExitCode::SUCCESS)
}

/// The command without its hidden arguments, which the completions of some shells would
/// offer.
fn visible(command: &Command) -> Command {
    let shown = command.get_arguments().filter(|it| !it.is_hide_set());
    let subs = command.get_subcommands().filter(|it| !it.is_hide_set());
    let mut plain = Command::new(command.get_name().to_string())
        .args(shown.cloned())
        .subcommands(subs.map(visible));
    if let Some(about) = command.get_about() {
        plain = plain.about(about.clone());
    }
    match command.get_version() {
        Some(version) => plain.version(version.to_string()),
        None => plain,
    }
}
