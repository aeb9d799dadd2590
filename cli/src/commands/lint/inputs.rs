//! Which files to look at.

use std::collections::{BTreeMap, HashMap};
use std::ffi::CString;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use walkdir::WalkDir;

use super::Looked;
use super::place::{Place, Places};
use crate::contents::{self, Contents};
use crate::report::Unreadable;

/// A file to look at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Input {
    pub(super) path: PathBuf,
    /// Where it lies and what it belongs to.
    pub(super) place: Place,
}

/// The regular files at and below `paths`, each once per package; what cannot be looked at
/// is added to `looked`.
pub(super) fn find(paths: &[PathBuf], looked: &mut Vec<Looked>) -> Vec<Input> {
    let mut found = Vec::new();
    let mut places = Places::new(paths);
    for path in paths {
        match fs::metadata(path) {
            Err(error) => looked.push(unreadable(path, format!("cannot be opened: {error}"))),
            Ok(_) if is_the_kernels(path) => {
                let why = "is of the kernel's own file system, which holds no libraries; a process is looked at by `hiplazy doctor --pid PID`";
                looked.push(unreadable(path, why.into()));
            }
            Ok(metadata) if metadata.is_dir() => {
                walk(path, &mut places, &mut found, looked);
            }
            Ok(metadata) => match contents::other_than_file(metadata.file_type()) {
                None => found.push(Input {
                    path: path.clone(),
                    place: places.of_named(path),
                }),
                Some(what) => {
                    looked.push(unreadable(path, format!("is {what}, no file or folder")));
                }
            },
        }
    }
    once(found)
}

fn unreadable(path: &Path, why: String) -> Looked {
    Looked::Unreadable(Unreadable {
        path: path.display().to_string(),
        why,
    })
}

/// Whether a path is on `/proc` or `/sys`, whose files say anything and have no end.
fn is_the_kernels(path: &Path) -> bool {
    let Ok(path) = CString::new(path.as_os_str().as_bytes()) else {
        return false;
    };
    // SAFETY: all zeros is a valid value of this C structure.
    let mut found: libc::statfs = unsafe { std::mem::zeroed() };
    // SAFETY: the path ends with a zero, and the structure is filled by the call.
    let said = unsafe { libc::statfs(path.as_ptr(), &raw mut found) };
    said == 0 && [libc::PROC_SUPER_MAGIC, libc::SYSFS_MAGIC].contains(&found.f_type)
}

/// Links are followed; a folder that contains itself by a link is entered once.
fn walk(root: &Path, places: &mut Places, found: &mut Vec<Input>, looked: &mut Vec<Looked>) {
    let mut entries = WalkDir::new(root).follow_links(true).into_iter();
    while let Some(entry) = entries.next() {
        match entry {
            Ok(entry) if entry.file_type().is_file() => found.push(Input {
                place: places.of_found(root, entry.path()),
                path: entry.into_path(),
            }),
            Ok(entry) if entry.file_type().is_dir() => {
                if is_the_kernels(entry.path()) {
                    looked.push(Looked::Passed("folders of the kernel"));
                    entries.skip_current_dir();
                }
            }
            Ok(_) => looked.push(Looked::Passed("pipes, sockets and devices")),
            Err(error) if error.loop_ancestor().is_some() => {}
            Err(error) => {
                let path = error.path().unwrap_or(root).to_path_buf();
                // A link to nothing is no fault of what is there.
                if path.is_symlink() && !path.exists() {
                    continue;
                }
                let why = error
                    .io_error()
                    .map_or_else(|| error.to_string(), ToString::to_string);
                looked.push(unreadable(&path, format!("cannot be opened: {why}")));
            }
        }
    }
}

/// A file with several names in a package is looked at once, by a name that is no link. Its
/// other names are kept: others may need it by them. Installers link one file into several
/// packages, and each has it.
fn once(mut found: Vec<Input>) -> Vec<Input> {
    let rank: BTreeMap<PathBuf, bool> = found
        .iter()
        .map(|input| (input.path.clone(), input.path.is_symlink()))
        .collect();
    found.sort_by(|a, b| {
        (!a.place.named, rank[&a.path], &a.path).cmp(&(!b.place.named, rank[&b.path], &b.path))
    });
    let mut seen = HashMap::<(PathBuf, u64, u64), usize>::new();
    let mut kept: Vec<Input> = Vec::new();
    for input in found {
        // Gone meanwhile: opening it says so.
        if let Ok(metadata) = fs::metadata(&input.path) {
            let key = (input.place.package.clone(), metadata.dev(), metadata.ino());
            if let Some(first) = seen.get(&key) {
                kept[*first].place.aliases.push(input.place.location);
                continue;
            }
            seen.insert(key, kept.len());
        }
        kept.push(input);
    }
    kept
}

/// Whether writing to `path` would end an input: a file that was named, or an object or
/// archive. A page of an earlier run in the same folder is replaced.
pub(super) fn would_end(path: &Path, inputs: &[Input]) -> bool {
    let inode = |path: &Path| {
        let metadata = fs::metadata(path).ok()?;
        Some((metadata.dev(), metadata.ino()))
    };
    let Some(target) = inode(path) else {
        return false;
    };
    inputs
        .iter()
        .filter(|input| inode(&input.path) == Some(target))
        .any(|input| {
            let starts = [&b"\x7fELF"[..], b"PK\x03\x04", b"!<arch>\n"];
            let of_ours = |data: &Contents| starts.iter().any(|start| data.starts_with(start));
            let data = contents(&input.path).ok().flatten();
            input.place.named || data.as_ref().is_some_and(of_ours)
        })
}

/// The contents of a file; `None` if it is empty.
pub(super) fn contents(path: &Path) -> Result<Option<Contents>, String> {
    let failed = |error| format!("cannot be opened: {error}");
    let file = contents::open(path).map_err(failed)?;
    if file.metadata().map_err(failed)?.len() == 0 {
        return Ok(None);
    }
    let mapped = Contents::of(&file);
    mapped
        .map(Some)
        .map_err(|error| format!("cannot be mapped: {error}"))
}
