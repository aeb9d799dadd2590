//! The demo's C client: built, run, and its answers read.

use std::collections::HashMap;
use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::Error;

/// The built client and the library it links.
pub(super) struct Probe {
    program: PathBuf,
    library: PathBuf,
}

/// What one run printed.
pub(super) struct Answers {
    values: HashMap<String, String>,
    log: String,
}

impl Probe {
    /// Builds `libhiplazy.so` as a user does, and the client with the C compiler.
    pub(super) fn build(workspace: &Path, folder: &Path) -> Result<Probe, Box<dyn Error>> {
        let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let target =
            env::var_os("CARGO_TARGET_DIR").map_or(workspace.join("target"), PathBuf::from);
        let status = Command::new(cargo)
            .current_dir(workspace)
            .args(["build", "--quiet", "--release", "--locked"])
            .status()?;
        if !status.success() {
            return Err(format!("cargo build --release: {status}").into());
        }
        let libraries = target.join("release");
        let program = folder.join("probe");
        let compiler = env::var_os("CC").unwrap_or_else(|| "cc".into());
        let output = Command::new(&compiler)
            .args(["-O2", "-Wall", "-I"])
            .arg(workspace.join("include"))
            .arg(workspace.join("xtask/src/demo/probe.c"))
            .arg("-o")
            .arg(&program)
            .arg("-L")
            .arg(&libraries)
            .arg("-lhiplazy")
            .arg(format!("-Wl,-rpath,{}", libraries.display()))
            .output()
            .map_err(|error| format!("{}: {error}; a C compiler is needed", compiler.display()))?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
        }
        Ok(Probe {
            program,
            library: libraries.join("libhiplazy.so"),
        })
    }

    pub(super) fn library(&self) -> &Path {
        &self.library
    }

    /// Runs the client with these variables and none of hiplazy's otherwise.
    pub(super) fn run(
        &self,
        arguments: &[&str],
        variables: &[(&str, &OsStr)],
    ) -> Result<Answers, Box<dyn Error>> {
        let mut command = Command::new(&self.program);
        for (name, _) in env::vars_os() {
            if name.to_string_lossy().starts_with("HIPLAZY_") {
                command.env_remove(name);
            }
        }
        command
            .args(arguments)
            .env("HIPLAZY_LOG", "info")
            .envs(variables.iter().copied());
        let output = command.output()?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let log = String::from_utf8_lossy(&output.stderr).into_owned();
        if !output.status.success() {
            return Err(format!("{command:?}: {}\n{text}{log}", output.status).into());
        }
        let mut values: HashMap<String, String> = HashMap::new();
        let mut last = String::new();
        for line in text.lines() {
            match line.split_once('=') {
                // The lines of a report are indented and belong to the value above.
                Some((name, value)) if !line.starts_with(' ') => {
                    last = name.to_string();
                    values.insert(last.clone(), value.to_string());
                }
                _ => {
                    let value = values.entry(last.clone()).or_default();
                    value.push('\n');
                    value.push_str(line);
                }
            }
        }
        Ok(Answers { values, log })
    }
}

impl Answers {
    pub(super) fn found(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str)
    }

    pub(super) fn get(&self, name: &str) -> &str {
        self.found(name).unwrap_or("(no answer)")
    }

    /// How the runtime was found, as the log says.
    pub(super) fn how(&self) -> &str {
        let bound = self
            .log
            .lines()
            .find(|line| line.contains("bound HIP runtime"));
        bound
            .and_then(|line| line.rsplit_once("; "))
            .map_or("", |(_, how)| how)
    }
}
