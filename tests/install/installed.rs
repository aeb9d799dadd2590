//! Trees that `cargo xtask install` wrote.

#![allow(unreachable_pub)]

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::{env, fs};

use crate::common::{root, run, scratch};

/// hiplazy itself, in a folder whose name has a space.
pub fn hiplazy() -> &'static Path {
    static INSTALLED: OnceLock<PathBuf> = OnceLock::new();
    INSTALLED.get_or_init(|| {
        let prefix = scratch("installed").join("own prefix");
        run(&mut task(&prefix));
        prefix
    })
}

/// With the prefix `tl_`.
pub fn vendor() -> &'static Path {
    static INSTALLED: OnceLock<PathBuf> = OnceLock::new();
    INSTALLED.get_or_init(|| {
        let prefix = scratch("installed-vendor").join("vendor prefix");
        run(task(&prefix).args(["--vendor-prefix", "tl_"]));
        prefix
    })
}

/// What a later version of hiplazy installs: one that wraps a function more, which comes
/// before most others by its name and after all of them in the slot table.
///
/// Built from a copy of the sources with that one line in the manifest.
pub fn newer() -> &'static Path {
    static INSTALLED: OnceLock<PathBuf> = OnceLock::new();
    INSTALLED.get_or_init(|| {
        let folder = scratch("installed-newer");
        let sources = folder.join("sources");
        fs::create_dir(&sources).unwrap();
        run(Command::new("cp")
            .args(["-R", "-t"])
            .arg(&sources)
            .args(SOURCES.map(|name| root().join(name))));
        let abi = sources.join("abi");
        let functions = fs::read_to_string(abi.join("functions.txt")).unwrap();
        let next = "\nhipApiName | ";
        let line = format!("\n{ADDED} | - | error | hipError_t | int *value | - | hip{next}");
        assert!(functions.contains(next));
        fs::write(
            abi.join("functions.txt"),
            functions.replacen(next, &line, 1),
        )
        .unwrap();
        let slots = fs::read_to_string(abi.join("slots.txt")).unwrap();
        fs::write(abi.join("slots.txt"), format!("{slots}{ADDED}\n")).unwrap();
        let prefix = folder.join("newer prefix");
        run(task(&prefix)
            .current_dir(&sources)
            // The libraries in the target folder have the same names.
            .env("CARGO_TARGET_DIR", target_folder().with_extension("newer")));
        prefix
    })
}

/// The function that only [`newer`] wraps.
pub const ADDED: &str = "hipAardvark";

/// What an installation is built from.
const SOURCES: [&str; 15] = [
    "Cargo.toml",
    "Cargo.lock",
    "LICENSE",
    "README.md",
    "abi",
    "bench",
    "build",
    "build.rs",
    "capi",
    "cli",
    "fakehip",
    "include",
    "install",
    "src",
    "xtask",
];

/// `cargo xtask install --prefix ...`, to be completed and run.
pub fn task(prefix: &Path) -> Command {
    let mut command = Command::new(env!("CARGO"));
    command
        .current_dir(root())
        .args(["run", "--quiet", "--locked", "--package", "xtask"])
        .args(["--", "install", "--prefix"])
        .arg(prefix)
        .env("CARGO_TARGET_DIR", target_folder())
        .env_remove("DESTDIR");
    command
}

/// A target folder of its own: cargo may hold the lock of the tests' one.
pub fn target_folder() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("xtask-install")
}

/// What is at a path of a tree.
#[derive(Debug, PartialEq, Eq)]
pub enum Entry {
    File { bytes: Vec<u8>, mode: u32 },
    Link(PathBuf),
}

/// All files and links below `root`, by their path from there.
pub fn entries(root: &Path) -> BTreeMap<String, Entry> {
    let mut found = BTreeMap::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let metadata = fs::symlink_metadata(&path).unwrap();
            let value = if metadata.is_symlink() {
                Entry::Link(fs::read_link(&path).unwrap())
            } else if metadata.is_dir() {
                folders.push(path);
                continue;
            } else {
                Entry::File {
                    bytes: fs::read(&path).unwrap(),
                    mode: metadata.permissions().mode() & 0o7777,
                }
            };
            let name = path.strip_prefix(root).unwrap().to_str().unwrap();
            found.insert(name.to_string(), value);
        }
    }
    found
}
