//! The static libraries as cargo builds them.

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

/// Builds both archives, with cargo's output on standard error.
pub(super) fn archives(workspace: &Path) -> Result<Built, String> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .current_dir(workspace)
        .args(["build", "--release", "--locked"])
        .args(["--package=hiplazy-static", "--package=hiplazy-dropin"])
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
    let named = |name: &str| {
        let found = files
            .iter()
            .find(|file| file.file_name().is_some_and(|file| file == name));
        found
            .cloned()
            .ok_or_else(|| format!("cargo built no {name}"))
    };
    let prefixed = named("libhiplazy.a")?;
    let folder = prefixed.parent().unwrap_or(workspace).to_path_buf();
    Ok(Built {
        prefixed,
        dropin: named("libhiplazy_dropin.a")?,
        folder,
    })
}
