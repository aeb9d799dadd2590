//! The files that a report is written to: tried before the work, written as a whole
//! after it.

use std::ffi::CString;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};

use super::Failure;
use crate::cli::Pictures;
use crate::report::Report;

/// What was asked for.
pub(super) struct Outputs {
    html: Option<Output>,
    dot: Option<Output>,
    text: Option<Output>,
}

impl Outputs {
    /// Makes sure that all can be written; `text` is for the report itself.
    pub(super) fn open(pictures: &Pictures, text: Option<&Path>) -> Result<Outputs, Failure> {
        let open = |path: Option<&Path>| path.map(Output::open).transpose();
        let outputs = Outputs {
            html: open(pictures.html.as_deref())?,
            dot: open(pictures.dot.as_deref())?,
            text: open(text)?,
        };
        let all = [&outputs.html, &outputs.dot, &outputs.text];
        let mut seen: Vec<&PathBuf> = Vec::new();
        for output in all.into_iter().flatten() {
            let Way::Replace(target) = &output.way else {
                continue;
            };
            if seen.contains(&target) {
                return Err(format!(
                    "{} is to be written twice: give each output a file of its own",
                    output.path.display()
                )
                .into());
            }
            seen.push(target);
        }
        Ok(outputs)
    }

    /// Whether a page or picture goes where the report would.
    pub(super) fn replace_report(&self) -> bool {
        let mut pictures = [&self.html, &self.dot].into_iter().flatten();
        pictures.any(|picture| matches!(picture.way, Way::StandardOutput))
    }

    /// Whether the report itself goes to a file.
    pub(super) fn has_text(&self) -> bool {
        self.text.is_some()
    }

    /// Writes the report itself.
    pub(super) fn write_text(&self, text: &str) -> Result<(), Failure> {
        self.text.as_ref().map_or(Ok(()), |file| file.write(text))
    }

    /// Writes the pages and pictures.
    pub(super) fn write_pictures(&self, report: &Report) -> Result<(), Failure> {
        if let Some(file) = &self.html {
            file.write(&report.html())?;
        }
        if let Some(file) = &self.dot {
            file.write(&report.dot())?;
        }
        Ok(())
    }
}

/// Whether `-` was given for a file.
pub(super) fn is_standard_output(file: &Path) -> bool {
    file == Path::new("-")
}

/// A file that can be written.
struct Output {
    path: PathBuf,
    way: Way,
}

enum Way {
    /// A new file takes this name: nobody sees half of it.
    Replace(PathBuf),
    /// A pipe or device, a file with other names, or one in a folder of somebody else.
    Into,
    /// There is no file.
    StandardOutput,
}

impl Output {
    fn open(path: &Path) -> Result<Output, Failure> {
        let way = if is_standard_output(path) {
            Ok(Way::StandardOutput)
        } else {
            way(path)
        };
        let way = way.map_err(|error| format!("cannot write {}: {error}", path.display()))?;
        Ok(Output {
            path: path.to_path_buf(),
            way,
        })
    }

    fn write(&self, text: &str) -> Result<(), Failure> {
        let written = match &self.way {
            Way::StandardOutput => return super::write_out(text),
            Way::Replace(target) => replace(target, text.as_bytes()),
            Way::Into => {
                File::create(&self.path).and_then(|mut file| file.write_all(text.as_bytes()))
            }
        };
        written.map_err(|error| format!("cannot write {}: {error}", self.path.display()).into())
    }
}

/// How a file can be written, found out without changing it.
fn way(path: &Path) -> io::Result<Way> {
    let there = match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            // A link whose target has to be made: only then has that a name of its own.
            if fs::symlink_metadata(path).is_ok() {
                OpenOptions::new().create(true).append(true).open(path)?;
                return way(path);
            }
            let folder = fs::canonicalize(folder_of(path))?;
            let name = path.file_name().ok_or(io::ErrorKind::IsADirectory)?;
            tempfile::tempfile_in(&folder)?;
            return Ok(Way::Replace(folder.join(name)));
        }
        there => there?,
    };
    if there.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    may_write(path)?;
    if !there.is_file() || there.nlink() > 1 {
        return Ok(Way::Into);
    }
    let target = fs::canonicalize(path)?;
    Ok(match tempfile::tempfile_in(folder_of(&target)) {
        Ok(_) => Way::Replace(target),
        Err(_) => Way::Into,
    })
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Opening would wait for the other end of a pipe.
fn may_write(path: &Path) -> io::Result<()> {
    let path = CString::new(path.as_os_str().as_bytes())?;
    // SAFETY: the string ends with a zero.
    match unsafe { libc::access(path.as_ptr(), libc::W_OK) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

fn replace(target: &Path, text: &[u8]) -> io::Result<()> {
    let mut file = tempfile::Builder::new()
        .prefix(".hiplazy-")
        // The umask takes from it what it takes from every new file.
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(folder_of(target))?;
    if let Ok(before) = fs::metadata(target) {
        // Where that is not allowed, the file is this user's from now on.
        let _ = fchown(file.as_file(), Some(before.uid()), Some(before.gid()));
        file.as_file().set_permissions(before.permissions())?;
    }
    file.write_all(text)?;
    file.persist(target).map_err(|error| error.error)?;
    Ok(())
}
