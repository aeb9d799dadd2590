//! Real runtimes on this machine, for the demo.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use xtask::fetch;

/// Every `libamdhip64` in the places where ROCm, distributions and this project's
/// cache keep one, each real file once.
pub(super) fn runtimes() -> Vec<PathBuf> {
    let mut candidates = Vec::new();
    for variable in ["ROCM_PATH", "HIP_PATH"] {
        if let Some(folder) = env::var_os(variable) {
            candidates.extend(libraries(&Path::new(&folder).join("lib")));
        }
    }
    candidates.extend(libraries(Path::new("/opt/rocm/lib")));
    for entry in fs::read_dir("/opt").into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with("rocm") {
            candidates.extend(libraries(&entry.path().join("lib")));
        }
    }
    for ldconfig in ["ldconfig", "/sbin/ldconfig"] {
        let Ok(output) = Command::new(ldconfig).arg("-p").output() else {
            continue;
        };
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let lines = text
            .lines()
            .filter(|line| line.trim_start().starts_with("libamdhip64.so"));
        candidates.extend(lines.filter_map(|line| Some(PathBuf::from(line.split_once("=> ")?.1))));
        break;
    }
    if let Ok(cache) = fetch::cache() {
        candidates.extend(libraries(&cache.join("runtime-7.14")));
    }
    let mut seen = BTreeSet::new();
    let real = candidates
        .into_iter()
        .filter_map(|path| path.canonicalize().ok());
    real.filter(|path| seen.insert(path.clone())).collect()
}

/// The runtimes in one folder: `libamdhip64.so*` and auditwheel's names of it.
fn libraries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path()).filter(|path| {
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let rest = name.strip_prefix("libamdhip64").unwrap_or("");
        rest.starts_with(".so") || (rest.starts_with('-') && rest.contains(".so"))
    });
    let mut paths: Vec<PathBuf> = paths.collect();
    paths.sort();
    paths
}
