//! Which files to look at.

use std::collections::{BTreeMap, HashSet};
use std::fs::{self, File};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Component, Path, PathBuf};

use memmap2::Mmap;
use walkdir::WalkDir;

use super::Looked;
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
        let mut unreadable = |path: &Path, why: String| {
            looked.push(Looked::Unreadable(Unreadable {
                path: path.display().to_string(),
                why,
            }));
        };
        match fs::metadata(path) {
            Err(error) => unreadable(path, format!("cannot be opened: {error}")),
            Ok(metadata) if metadata.is_dir() => walk(path, &mut found, &mut unreadable),
            Ok(metadata) if metadata.is_file() => found.push(Input {
                path: path.clone(),
                package: path.display().to_string(),
                named: true,
            }),
            // Opening a pipe would wait for its writer.
            Ok(metadata) => {
                let kind = metadata.file_type();
                let what = if kind.is_fifo() || kind.is_socket() {
                    "a pipe or socket"
                } else {
                    "a device"
                };
                unreadable(path, format!("is {what}, no file or folder"));
            }
        }
    }
    once(found)
}

/// Links are followed; a folder that contains itself by a link is entered once.
fn walk(root: &Path, found: &mut Vec<Input>, unreadable: &mut impl FnMut(&Path, String)) {
    for entry in WalkDir::new(root).follow_links(true) {
        match entry {
            Ok(entry) if entry.file_type().is_file() => found.push(Input {
                package: package_of(root, entry.path()),
                path: entry.into_path(),
                named: false,
            }),
            Ok(_) => {}
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
                unreadable(&path, format!("cannot be opened: {why}"));
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
pub(super) fn map(path: &Path) -> Result<Option<Mmap>, String> {
    let opened = File::open(path).map_err(|error| format!("cannot be opened: {error}"))?;
    match opened.metadata() {
        Ok(metadata) if metadata.len() == 0 => return Ok(None),
        Ok(_) => {}
        Err(error) => return Err(format!("cannot be opened: {error}")),
    }
    // SAFETY: the mapping is read only and private. What others write to the file
    // meanwhile can change the bytes that are read; every reader of them checks each
    // value that it takes from them and keeps no reference to what it has checked.
    let mapped = unsafe { Mmap::map(&opened) };
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
