//! The static libraries as cargo builds them, and how it is asked to build.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::Deserialize;

/// What cargo built.
pub(super) struct Built {
    /// Wrappers with the prefix.
    pub(super) prefixed: PathBuf,
    /// Wrappers with bare names.
    pub(super) dropin: PathBuf,
    /// Where they are.
    pub(super) folder: PathBuf,
}

/// Of cargo's messages, the one that says what was built.
#[derive(Deserialize)]
struct Message {
    #[serde(default)]
    filenames: Vec<PathBuf>,
}

/// The crates that become archives.
pub(super) const PACKAGES: [&str; 2] = ["hiplazy-static", "hiplazy-dropin"];

/// Builds both archives, with cargo's output on standard error.
pub(super) fn archives(workspace: &Path) -> Result<Built, String> {
    let packages = PACKAGES.map(|name| format!("--package={name}"));
    let files = run(cargo(workspace)
        .args(["build", "--release", "--locked"])
        .args(packages))?;
    let prefixed = named(&files, "libhiplazy.a")?;
    let folder = prefixed.parent().unwrap_or(workspace).to_path_buf();
    Ok(Built {
        prefixed,
        dropin: named(&files, "libhiplazy_dropin.a")?,
        folder,
    })
}

/// The cargo that runs this, in the workspace.
pub(super) fn cargo(workspace: &Path) -> Command {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(workspace);
    cargo
}

/// Runs a `cargo build --release` and gives the files that it says it made.
pub(super) fn run(build: &mut Command) -> Result<Vec<PathBuf>, String> {
    let output = build
        .arg("--message-format=json-render-diagnostics")
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| format!("cannot start cargo: {error}"))?;
    if !output.status.success() {
        return Err(format!("cargo build --release: {}", output.status));
    }
    let mut files = Vec::new();
    for line in output.stdout.split(|byte| *byte == b'\n') {
        if !line.is_empty() {
            let message: Message = serde_json::from_slice(line)
                .map_err(|error| format!("cannot read what cargo says: {error}"))?;
            files.extend(message.filenames);
        }
    }
    Ok(files)
}

/// Of `files`, the one of that name.
pub(super) fn named(files: &[PathBuf], name: &str) -> Result<PathBuf, String> {
    let found = files
        .iter()
        .find(|file| file.file_name().is_some_and(|file| file == name));
    found
        .cloned()
        .ok_or_else(|| format!("cargo built no {name}"))
}
