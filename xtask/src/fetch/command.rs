//! Running a package client.

use std::process::{Command, Stdio};

/// Runs `command` and gives its standard output, or why it failed with the end
/// of its error output.
pub(crate) fn run(command: &mut Command) -> Result<String, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("cannot run {name}: {error}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let errors = String::from_utf8_lossy(&output.stderr);
    let lines: Vec<&str> = errors
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    let end = lines[lines.len().saturating_sub(3)..].join(" / ");
    Err(format!("{name} failed ({}): {end}", output.status))
}
