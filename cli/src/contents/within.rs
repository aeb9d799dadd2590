//! Paths within another root: that of a process in a container or `chroot`, where an
//! absolute link leads to that root's files and not to ours.

use std::ffi::{CString, OsString};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Component, Path, PathBuf};

use super::{open, regular};

/// As many links as the kernel follows.
const MOST_LINKS: usize = 40;

/// How often the kernel is asked again when somebody renames folders below it.
const ATTEMPTS: usize = 8;

/// Opens a regular file by its path within `root`, as [`open`] does.
///
/// # Errors
///
/// As [`open`].
pub fn open_in(root: &Path, path: &Path) -> io::Result<File> {
    let found = match find_in(root, path) {
        Err(error) if is_missing(&error) => return open_resolved(root, path),
        found => found?,
    };
    regular(found.metadata()?.file_type())?;
    // This is the same file, whatever has its name by now.
    open(Path::new(&format!("/proc/self/fd/{}", found.as_raw_fd())))
}

/// Without `openat2`: Linux before 5.6, and filters of containers that do not know it.
fn open_resolved(root: &Path, path: &Path) -> io::Result<File> {
    let inside = resolve(root, path)?;
    open(&root.join(inside.strip_prefix("/").unwrap_or(&inside)))
}

/// Whether the system call is not there, or a filter forbids it.
fn is_missing(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::ENOSYS | libc::EPERM))
}

/// A handle that stands for the file and does nothing to it yet.
fn find_in(root: &Path, path: &Path) -> io::Result<File> {
    let folder = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_PATH | libc::O_DIRECTORY)
        .open(root)?;
    let path = CString::new(path.as_os_str().as_bytes())?;
    // SAFETY: all zeros is a valid value of this C structure.
    let mut how: libc::open_how = unsafe { std::mem::zeroed() };
    how.flags = (libc::O_PATH | libc::O_CLOEXEC) as u64;
    how.resolve = libc::RESOLVE_IN_ROOT;
    let mut attempts = ATTEMPTS;
    loop {
        // SAFETY: the path ends with a zero, and the structure is as large as is said.
        let opened = unsafe {
            libc::syscall(
                libc::SYS_openat2,
                folder.as_raw_fd(),
                path.as_ptr(),
                &raw const how,
                size_of::<libc::open_how>(),
            )
        };
        if opened >= 0 {
            // SAFETY: the descriptor is new and nobody else's.
            return Ok(unsafe { File::from_raw_fd(opened as i32) });
        }
        let error = io::Error::last_os_error();
        attempts -= 1;
        if error.raw_os_error() != Some(libc::EAGAIN) || attempts == 0 {
            return Err(error);
        }
    }
}

/// The path within `root` that has no links any more.
///
/// # Errors
///
/// If a part of it does not exist or may not be looked at, or the links have no end.
pub fn resolve(root: &Path, path: &Path) -> io::Result<PathBuf> {
    let parts = |path: &Path| -> Vec<OsString> {
        let parts = path.components().rev();
        parts.map(|part| part.as_os_str().to_owned()).collect()
    };
    let mut left = parts(path);
    let mut found = PathBuf::from("/");
    let mut links = 0;
    while let Some(part) = left.pop() {
        match Path::new(&part).components().next() {
            Some(Component::RootDir) => found = PathBuf::from("/"),
            // Above the root is the root.
            Some(Component::ParentDir) => {
                found.pop();
            }
            Some(Component::Normal(_)) => {
                let next = found.join(&part);
                let here = root.join(next.strip_prefix("/").unwrap_or(&next));
                if !fs::symlink_metadata(&here)?.is_symlink() {
                    found = next;
                    continue;
                }
                links += 1;
                if links > MOST_LINKS {
                    return Err(io::Error::from_raw_os_error(libc::ELOOP));
                }
                left.extend(parts(&fs::read_link(&here)?));
            }
            _ => {}
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::os::unix::fs::symlink;

    /// A root with files, links inside of it, and links that would lead out of it.
    fn root() -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        let at = |path: &str| root.path().join(path);
        fs::create_dir_all(at("usr/lib")).unwrap();
        fs::create_dir_all(at("etc")).unwrap();
        fs::write(at("usr/lib/real"), "inside").unwrap();
        symlink("/usr/lib", at("lib")).unwrap();
        symlink("/lib/real", at("etc/absolute")).unwrap();
        symlink("../../../../usr/lib/real", at("etc/above")).unwrap();
        symlink("/etc/passwd", at("etc/outside")).unwrap();
        symlink("circle", at("etc/circle")).unwrap();
        symlink("/dev/zero", at("etc/device")).unwrap();
        root
    }

    fn text(opened: io::Result<File>) -> Result<String, String> {
        let mut text = String::new();
        let mut file = opened.map_err(|error| error.to_string())?;
        file.read_to_string(&mut text).unwrap();
        Ok(text)
    }

    #[test]
    fn links_lead_to_the_files_of_that_root() {
        let root = root();
        for opener in [open_in, open_resolved] {
            let read = |path: &str| text(opener(root.path(), Path::new(path)));
            for path in ["/usr/lib/real", "/lib/real", "/etc/absolute", "/etc/above"] {
                assert_eq!(read(path), Ok("inside".into()), "{path}");
            }
            // There is an /etc/passwd and a /dev/zero in our root, not in that one.
            for path in ["/etc/outside", "/etc/device", "/../../etc/passwd"] {
                assert!(read(path).unwrap_err().contains("No such file"), "{path}");
            }
            assert!(
                read("/etc/circle")
                    .unwrap_err()
                    .contains("levels of symbolic links")
            );
            assert_eq!(read("/usr"), Err("is a folder, no file".into()));
        }
        let resolved = resolve(root.path(), Path::new("/etc/absolute")).unwrap();
        assert_eq!(resolved, Path::new("/usr/lib/real"));
    }

    #[test]
    fn a_pipe_is_not_waited_for() {
        let root = root();
        let pipe = root.path().join("pipe");
        let path = CString::new(pipe.as_os_str().as_bytes()).unwrap();
        // SAFETY: the path ends with a zero.
        assert_eq!(unsafe { libc::mkfifo(path.as_ptr(), 0o600) }, 0);
        for opener in [open_in, open_resolved] {
            let why = text(opener(root.path(), Path::new("/pipe"))).unwrap_err();
            assert_eq!(why, "is a pipe or socket, no file");
        }
    }
}
