//! `cargo xtask bench`.

use std::path::Path;
use std::process::{Command, Stdio};

/// Measures what a call costs through hiplazy, prints the tables, and with `gate`
/// fails if a limit is broken.
///
/// The measuring program is a crate of its own (`hiplazy-bench`), so that building
/// xtask does not build criterion.
///
/// # Errors
///
/// It could not be run, or it failed; it has printed why.
pub(crate) fn run(gate: bool, workspace: &Path) -> Result<(), String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command
        .current_dir(workspace)
        .args([
            "run",
            "--package=hiplazy-bench",
            "--bin=hiplazy-bench",
            "--",
        ])
        .stdin(Stdio::null());
    if gate {
        command.arg("--gate");
    }
    let status = command
        .status()
        .map_err(|error| format!("cannot start cargo: {error}"))?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("the benchmark failed: {status}"))
    }
}
