//! cargo and the C compiler.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use std::{env, str};

use anyhow::{Context, Result, bail};
use serde::Deserialize;

/// The crate's own folder, as cargo says when it runs this: two checkouts may share a
/// target folder, and then the program.
pub(crate) fn package() -> &'static Path {
    static PACKAGE: OnceLock<PathBuf> = OnceLock::new();
    PACKAGE.get_or_init(|| {
        env::var_os("CARGO_MANIFEST_DIR").map_or_else(
            || Path::new(env!("CARGO_MANIFEST_DIR")).to_path_buf(),
            PathBuf::from,
        )
    })
}

/// The workspace.
pub(crate) fn workspace() -> &'static Path {
    package().parent().unwrap_or(package())
}

fn cargo() -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(workspace());
    command
}

/// Runs a command to success; the error has all that it printed, or what is needed
/// if there is no such program.
pub(crate) fn run(command: &mut Command, needed: &str) -> Result<Output> {
    let output = command.stdin(Stdio::null()).output().with_context(|| {
        let program = Path::new(command.get_program());
        format!("cannot start {}; {needed}", program.display())
    })?;
    if !output.status.success() {
        bail!(
            "{command:?}: {}\n{}{}",
            output.status,
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
    }
    Ok(output)
}

/// Cargo's target folder.
pub(crate) fn target_folder() -> Result<PathBuf> {
    #[derive(Deserialize)]
    struct Metadata {
        target_directory: PathBuf,
    }
    let output = run(
        cargo().args(["metadata", "--format-version=1", "--no-deps"]),
        "cargo is needed",
    )?;
    let metadata: Metadata =
        serde_json::from_slice(&output.stdout).context("cannot read what cargo metadata says")?;
    Ok(metadata.target_directory)
}

/// Runs a cargo build and returns the files that it made. Warnings and progress go to
/// this process's standard error.
pub(crate) fn artefacts(arguments: &[&str]) -> Result<Vec<PathBuf>> {
    #[derive(Deserialize)]
    struct Message {
        #[serde(default)]
        filenames: Vec<PathBuf>,
        executable: Option<PathBuf>,
    }
    let mut command = cargo();
    command
        .args(arguments)
        .arg("--message-format=json-render-diagnostics")
        .stdin(Stdio::null())
        .stderr(Stdio::inherit());
    let output = command.output().context("cannot start cargo")?;
    if !output.status.success() {
        bail!("{command:?}: {}", output.status);
    }
    let mut files = Vec::new();
    for line in str::from_utf8(&output.stdout)?.lines() {
        let message: Message =
            serde_json::from_str(line).context("cannot read cargo's messages")?;
        files.extend(message.filenames);
        files.extend(message.executable);
    }
    Ok(files)
}

/// The first of `files` with this name.
pub(crate) fn named<'a>(files: &'a [PathBuf], name: &str) -> Result<&'a Path> {
    files
        .iter()
        .find(|path| path.file_name().is_some_and(|file| file == name))
        .map(PathBuf::as_path)
        .with_context(|| format!("cargo built no {name}"))
}

/// Compiles C files of `bench/c` (warnings are errors), then whatever follows as it is.
pub(crate) fn compile<S: AsRef<OsStr>>(
    sources: &[&str],
    output: &Path,
    arguments: &[S],
) -> Result<()> {
    let mut command = Command::new(env::var_os("CC").unwrap_or_else(|| "cc".into()));
    command
        .args(["-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-I"])
        .arg(workspace().join("fakehip/include"))
        .arg("-o")
        .arg(output);
    for source in sources {
        command.arg(package().join("c").join(source));
    }
    command.args(arguments);
    run(&mut command, "a C compiler is needed (CC, or cc)").map(drop)
}
