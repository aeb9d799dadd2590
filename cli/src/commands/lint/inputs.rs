//! Which files to look at.

use std::collections::{BTreeMap, HashSet};
use std::ffi::CString;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use walkdir::WalkDir;

use super::Looked;
use crate::contents::{self, Contents};
use crate::report::Unreadable;

/// A file to look at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Input {
    pub(super) path: PathBuf,
    /// What it belongs to; see [`package_of`].
    pub(super) package: String,
    /// The user named this very file.
    pub(super) named: bool,
}

/// The regular files at and below `paths`, each once; what cannot be looked at is added
/// to `looked`.
pub(super) fn find(paths: &[PathBuf], looked: &mut Vec<Looked>) -> Vec<Input> {
    let mut found = Vec::new();
    for path in paths {
        match fs::metadata(path) {
            Err(error) => looked.push(unreadable(path, format!("cannot be opened: {error}"))),
            Ok(_) if is_the_kernels(path) => {
                let why = "is of the kernel's own file system, which holds no libraries; a process is looked at by `hiplazy doctor --pid PID`";
                looked.push(unreadable(path, why.into()));
            }
            Ok(metadata) if metadata.is_dir() => walk(path, &mut found, looked),
            Ok(metadata) => match contents::other_than_file(metadata.file_type()) {
                None => found.push(Input {
                    path: path.clone(),
                    package: path.display().to_string(),
                    named: true,
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
fn walk(root: &Path, found: &mut Vec<Input>, looked: &mut Vec<Looked>) {
    let mut entries = WalkDir::new(root).follow_links(true).into_iter();
    while let Some(entry) = entries.next() {
        match entry {
            Ok(entry) if entry.file_type().is_file() => found.push(Input {
                package: package_of(root, entry.path()),
                path: entry.into_path(),
                named: false,
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

/// A file with several names is looked at once, by a name that is no link.
fn once(mut found: Vec<Input>) -> Vec<Input> {
    let rank: BTreeMap<PathBuf, bool> = found
        .iter()
        .map(|input| (input.path.clone(), input.path.is_symlink()))
        .collect();
    found.sort_by(|a, b| {
        (!a.named, rank[&a.path], &a.path).cmp(&(!b.named, rank[&b.path], &b.path))
    });
    let mut seen = HashSet::new();
    found.retain(|input| match fs::metadata(&input.path) {
        Ok(metadata) => seen.insert((metadata.dev(), metadata.ino())),
        // Gone meanwhile: opening it says so.
        Err(_) => true,
    });
    found
}

/// What a file below `root` belongs to: within `site-packages` the distribution (its
/// folder, together with the `.libs` folder beside it), elsewhere the root.
fn package_of(root: &Path, path: &Path) -> String {
    let components: Vec<Component<'_>> = path.components().collect();
    // The innermost: environments lie within environments.
    let site = components.iter().rposition(|component| {
        matches!(component, Component::Normal(name) if *name == "site-packages" || *name == "dist-packages")
    });
    let Some((site, Component::Normal(name))) =
        site.and_then(|site| Some((site, components.get(site + 1)?)))
    else {
        return root.display().to_string();
    };
    let name = name.to_string_lossy();
    let folder: PathBuf = components[..=site].iter().collect();
    let package = folder.join(name.strip_suffix(".libs").unwrap_or(&name));
    package.display().to_string()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distributions_in_site_packages_are_packages() {
        let package = |path: &str| package_of(Path::new("venv"), Path::new(path));
        assert_eq!(
            package("venv/lib/python3/site-packages/tvm/lib/a.so"),
            "venv/lib/python3/site-packages/tvm"
        );
        assert_eq!(
            package("venv/lib/python3/site-packages/tvm.libs/b.so"),
            "venv/lib/python3/site-packages/tvm"
        );
        assert_eq!(
            package("venv/site-packages/a/site-packages/b/c.so"),
            "venv/site-packages/a/site-packages/b"
        );
        assert_eq!(package("venv/lib/c.so"), "venv");
    }
}
