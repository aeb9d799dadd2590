//! The files to install, first in a scratch folder, then in their place.

use std::cmp::Reverse;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

/// A tree of files below one folder, by names relative to it.
pub(super) struct Tree {
    root: PathBuf,
}

impl Tree {
    /// An empty tree in `root`.
    pub(super) fn create(root: &Path) -> Result<Tree, String> {
        fs::create_dir_all(root).map_err(failed("create", root))?;
        Ok(Tree {
            root: root.to_path_buf(),
        })
    }

    /// The place of a file.
    pub(super) fn path(&self, file: &str) -> PathBuf {
        self.root.join(file)
    }

    /// A folder, created.
    pub(super) fn folder(&mut self, name: &str) -> Result<PathBuf, String> {
        let folder = self.path(name);
        fs::create_dir_all(&folder).map_err(failed("create", &folder))?;
        Ok(folder)
    }

    /// A text file.
    pub(super) fn write(&mut self, file: &str, text: &str) -> Result<(), String> {
        let path = self.path(file);
        let parent = path.parent().unwrap_or(&self.root);
        fs::create_dir_all(parent).map_err(failed("create", parent))?;
        fs::write(&path, text).map_err(failed("write", &path))
    }

    /// A symbolic link to a name beside it.
    pub(super) fn link(&mut self, file: &str, target: &str) -> Result<(), String> {
        let path = self.path(file);
        symlink(target, &path).map_err(failed("create", &path))
    }

    /// Fails if a file contains the path of one of `folders`: such a tree could not be
    /// moved, and would differ from one machine to the next.
    pub(super) fn forbid_paths(&self, folders: &[&Path]) -> Result<(), String> {
        // One may lie in another, as the target folder does in the workspace: the inner one
        // says more.
        let mut folders = folders.to_vec();
        folders.sort_by_key(|folder| Reverse(folder.as_os_str().len()));
        for file in self.files()? {
            let path = self.path(&file);
            if path.is_symlink() {
                continue;
            }
            let bytes = fs::read(&path).map_err(failed("read", &path))?;
            for folder in &folders {
                let needle = folder.as_os_str().as_bytes();
                if needle.len() > 1 && bytes.windows(needle.len()).any(|part| part == needle) {
                    return Err(format!(
                        "{file} contains the path {} of the build; a RUSTFLAGS or CFLAGS that adds \
                         debug information or profiling would do that",
                        folder.display()
                    ));
                }
            }
        }
        Ok(())
    }

    /// Copies everything to `destination`; each file appears there complete, and a
    /// library that is in use keeps its old file. Gives the names, sorted.
    pub(super) fn copy_to(&self, destination: &Path) -> Result<Vec<String>, String> {
        let files = self.files()?;
        for file in &files {
            let (from, to) = (self.path(file), destination.join(file));
            let folder = to.parent().unwrap_or(destination);
            fs::create_dir_all(folder).map_err(failed("create", folder))?;
            let mut name = to.file_name().unwrap_or_default().to_os_string();
            name.push(format!(".{}", std::process::id()));
            let new = folder.join(name);
            if from.is_symlink() {
                let target = fs::read_link(&from).map_err(failed("read", &from))?;
                symlink(target, &new).map_err(failed("create", &new))?;
            } else {
                fs::copy(&from, &new).map_err(failed("write", &new))?;
                // Whatever the user's mask is, the installed files are for everybody.
                let executable = file.contains(".so") || file.starts_with("bin/");
                let mode = if executable { 0o755 } else { 0o644 };
                fs::set_permissions(&new, fs::Permissions::from_mode(mode))
                    .map_err(failed("set the permissions of", &new))?;
            }
            fs::rename(&new, &to).map_err(failed("replace", &to))?;
        }
        Ok(files)
    }

    /// All files and links, sorted.
    fn files(&self) -> Result<Vec<String>, String> {
        let mut files = Vec::new();
        let mut folders = vec![self.root.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).map_err(failed("read", &folder))? {
                let path = entry.map_err(failed("read", &folder))?.path();
                if path.is_dir() && !path.is_symlink() {
                    folders.push(path);
                } else if let Ok(file) = path.strip_prefix(&self.root) {
                    files.push(file.to_string_lossy().into_owned());
                }
            }
        }
        files.sort();
        Ok(files)
    }
}

fn failed(what: &'static str, path: &Path) -> impl Fn(io::Error) -> String {
    let path = path.display().to_string();
    move |error| format!("cannot {what} {path}: {error}")
}
