//! Wheels from pip.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::fetch::command::run;
use crate::fetch::{Missing, store};

/// A wheel of which some files are kept.
pub(crate) struct Wheel {
    /// The folder in the cache.
    pub(crate) name: &'static str,
    /// What pip is asked for, with the exact version.
    pub(crate) requirement: &'static str,
    /// The files to keep: a folder of the wheel that ends in `/` (everything
    /// below it, without the folder's own path), or patterns of files.
    pub(crate) keep: &'static str,
    /// The beginning of a file name that must be there afterwards.
    pub(crate) expect: &'static str,
}

/// Wheels for this interpreter hold what is needed; others do not exist for all
/// Python versions, and the native files do not depend on it.
const PYTHON_VERSION: &str = "3.12";

/// Unpacks the members of a wheel that match; arguments: wheel, folder, patterns.
/// A pattern that ends in "/" is looked for anywhere in the path, since wheels
/// may keep their libraries below a ".data" folder.
const UNPACK: &str = r#"
import fnmatch, os, shutil, sys, zipfile
wheel, target, patterns = sys.argv[1], sys.argv[2], sys.argv[3].split()
with zipfile.ZipFile(wheel) as archive:
    for name in archive.namelist():
        if name.endswith("/") or ".." in name.split("/"):
            continue
        for pattern in patterns:
            if pattern.endswith("/"):
                at = ("/" + name).find("/" + pattern)
                if at < 0:
                    continue
                relative = name[at + len(pattern):]
            elif fnmatch.fnmatch(name, pattern):
                relative = name.rsplit("/", 1)[-1]
            else:
                continue
            path = os.path.join(target, relative)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with archive.open(name) as source, open(path, "wb") as copy:
                shutil.copyfileobj(source, copy)
            os.chmod(path, 0o755 if ".so" in path else 0o644)
            break
"#;

/// A wheel as it is, in the file `file` of the folder in the cache.
pub(crate) fn whole(name: &'static str, requirement: &str, file: &str) -> Result<PathBuf, Missing> {
    let folder = store::folder(name, |content| {
        let downloads = downloads(name, content)?;
        let wheel = downloaded(name, requirement, downloads.path())?;
        let moved = std::fs::rename(&wheel, content.join(file));
        moved.map_err(|error| {
            Missing::new(name, format!("cannot move {}: {error}", wheel.display()))
        })
    })?;
    Ok(folder.join(file))
}

/// A folder beside the cache's, for what is downloaded.
fn downloads(name: &'static str, content: &Path) -> Result<tempfile::TempDir, Missing> {
    tempfile::tempdir_in(content.parent().unwrap_or(content))
        .map_err(|error| Missing::new(name, format!("no folder for the download: {error}")))
}

/// Downloads a wheel into a folder that is empty.
fn downloaded(name: &'static str, requirement: &str, folder: &Path) -> Result<PathBuf, Missing> {
    let missing = |why: String| Missing::new(name, why);
    download(requirement, folder).map_err(missing)?;
    std::fs::read_dir(folder)
        .ok()
        .and_then(|mut entries| Some(entries.next()?.ok()?.path()))
        .ok_or_else(|| missing("pip downloaded nothing".to_string()))
}

/// The folder with the kept files of a wheel.
pub(crate) fn files(wheel: &Wheel) -> Result<PathBuf, Missing> {
    store::folder(wheel.name, |content| {
        let missing = |why: String| Missing::new(wheel.name, why);
        let downloads = downloads(wheel.name, content)?;
        let file = downloaded(wheel.name, wheel.requirement, downloads.path())?;
        run(Command::new("python3")
            .args(["-c", UNPACK])
            .arg(&file)
            .arg(content)
            .arg(wheel.keep))
        .map_err(|why| missing(format!("cannot unpack {}: {why}", file.display())))?;
        if has_file(content, wheel.expect) {
            return Ok(());
        }
        Err(missing(format!(
            "{} has no {} below {}",
            wheel.requirement, wheel.expect, wheel.keep
        )))
    })
}

/// The HIP headers in a wheel of Triton.
pub(crate) fn headers(name: &'static str, requirement: &'static str) -> Result<PathBuf, Missing> {
    files(&Wheel {
        name,
        requirement,
        keep: "triton/backends/amd/include/",
        expect: "hip",
    })
}

fn download(requirement: &str, folder: &Path) -> Result<(), String> {
    let has_pip = run(Command::new("python3").args(["-m", "pip", "--version"]));
    has_pip
        .map_err(|why| format!("{why}; pip is needed (on Debian: apt-get install python3-pip)"))?;
    let mut pip = Command::new("python3");
    pip.args([
        "-m",
        "pip",
        "download",
        "--quiet",
        "--disable-pip-version-check",
    ])
    .args(["--no-deps", "--only-binary=:all:"])
    .args(["--python-version", PYTHON_VERSION, "--dest"])
    .arg(folder)
    .arg(requirement);
    run(&mut pip).map(drop)
}

fn has_file(folder: &Path, beginning: &str) -> bool {
    std::fs::read_dir(folder).is_ok_and(|entries| {
        entries
            .flatten()
            .any(|entry| entry.file_name().to_string_lossy().starts_with(beginning))
    })
}
