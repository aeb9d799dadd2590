//! What is installed on this machine.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use hiplazy_abi::Version;

use crate::classify::{LibraryName, Part};

/// Folders in which ROCm is, or could be.
pub(super) fn rocm_folders() -> Vec<PathBuf> {
    let named = ["ROCM_PATH", "HIP_PATH"]
        .into_iter()
        .filter_map(env::var_os);
    let mut folders: Vec<PathBuf> = named.map(PathBuf::from).collect();
    if let Ok(entries) = fs::read_dir("/opt") {
        let installed = entries.flatten().map(|entry| entry.path());
        folders.extend(installed.filter(|path| {
            let name = path.file_name().and_then(|name| name.to_str());
            name.is_some_and(|name| name.starts_with("rocm"))
        }));
    }
    distinct(folders)
}

/// The `site-packages` of Pythons near: of environments that are active, of `python3` in
/// `PATH`, of the user and of the system.
pub(super) fn site_packages() -> Vec<PathBuf> {
    let mut prefixes: Vec<PathBuf> = ["VIRTUAL_ENV", "CONDA_PREFIX"]
        .into_iter()
        .filter_map(env::var_os)
        .map(PathBuf::from)
        .collect();
    let path = env::var_os("PATH").unwrap_or_default();
    for folder in env::split_paths(&path) {
        let python = folder.join("python3");
        if let Ok(real) = fs::canonicalize(&python)
            && let Some(prefix) = real.parent().and_then(Path::parent)
        {
            prefixes.push(prefix.to_path_buf());
            prefixes.extend(folder.parent().map(Path::to_path_buf));
        }
    }
    prefixes.extend(env::var_os("HOME").map(|home| PathBuf::from(home).join(".local")));
    let mut found = Vec::new();
    for prefix in distinct(prefixes) {
        for lib in ["lib", "lib64"] {
            let Ok(entries) = fs::read_dir(prefix.join(lib)) else {
                continue;
            };
            for entry in entries.flatten() {
                if entry.file_name().to_string_lossy().starts_with("python3") {
                    found.push(entry.path().join("site-packages"));
                    found.push(entry.path().join("dist-packages"));
                }
            }
        }
    }
    found.retain(|folder| folder.is_dir());
    distinct(found)
}

/// The HIP runtimes below folders: in `lib` of ROCm's, in packages of Python's.
pub(super) fn runtimes(rocm: &[PathBuf], packages: &[PathBuf]) -> Vec<PathBuf> {
    let mut places: Vec<PathBuf> = Vec::new();
    for folder in rocm {
        places.extend(["lib", "lib64"].map(|lib| folder.join(lib)));
    }
    for folder in packages {
        // Every package may bring libraries along, in `lib` or, as auditwheel does, in
        // `NAME.libs`.
        let Ok(entries) = fs::read_dir(folder) else {
            continue;
        };
        for entry in entries.flatten() {
            let path = entry.path();
            if path.extension().is_some_and(|ending| ending == "libs") {
                places.push(path);
            } else {
                places.push(path.join("lib"));
            }
        }
    }
    let mut found = Vec::new();
    for place in places {
        let Ok(entries) = fs::read_dir(&place) else {
            continue;
        };
        for entry in entries.flatten() {
            let name = entry.file_name();
            let name = LibraryName::parse(&name.to_string_lossy());
            if name.is_some_and(|name| name.part == Part::Hip)
                && let Ok(real) = fs::canonicalize(entry.path())
            {
                found.push(real);
            }
        }
    }
    distinct(found)
}

/// The HIP headers below ROCm's folders and in the system's, with their version.
pub(super) fn headers(rocm: &[PathBuf]) -> Vec<(PathBuf, Version)> {
    let mut folders: Vec<PathBuf> = rocm.iter().map(|folder| folder.join("include")).collect();
    folders.push("/usr/include".into());
    let found = distinct(folders).into_iter().filter_map(|folder| {
        let file = folder.join("hip/hip_version.h");
        let version = header_version(&fs::read_to_string(&file).ok()?)?;
        Some((file, version))
    });
    found.collect()
}

fn header_version(text: &str) -> Option<Version> {
    let number = |macro_name: &str| {
        text.lines().find_map(|line| {
            let rest = line.trim().strip_prefix("#define ")?;
            let value = rest.trim().strip_prefix(macro_name)?;
            value.trim().parse().ok()
        })
    };
    Some(Version::new(
        number("HIP_VERSION_MAJOR ")?,
        number("HIP_VERSION_MINOR ")?,
    ))
}

/// What the kernel offers.
pub(super) fn devices() -> String {
    let device = Path::new("/dev/kfd");
    if !device.exists() {
        return "/dev/kfd is not there: the kernel has no amdgpu driver loaded, or this container was not given it (docker run --device=/dev/kfd --device=/dev/dri)".to_string();
    }
    match fs::OpenOptions::new().read(true).write(true).open(device) {
        Ok(_) => "/dev/kfd can be opened".to_string(),
        Err(error) => format!(
            "/dev/kfd cannot be opened: {error}; the user must be in its group (usermod -aG render,video USER, then log in again)"
        ),
    }
}

/// Each once, by what it really is.
fn distinct(paths: Vec<PathBuf>) -> Vec<PathBuf> {
    let mut seen = BTreeSet::new();
    let real = |path: &PathBuf| fs::canonicalize(path).unwrap_or_else(|_| path.clone());
    paths
        .into_iter()
        .filter(|path| seen.insert(real(path)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_of_headers_is_read() {
        let text = "#define HIP_VERSION_MAJOR 6\n#define HIP_VERSION_MINOR 4\n";
        assert_eq!(header_version(text), Some(Version::new(6, 4)));
        assert_eq!(header_version("#define HIP_VERSION 6"), None);
    }
}
