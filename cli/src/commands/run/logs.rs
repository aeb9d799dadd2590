//! The logs of the command and its children, one file per process.
//!
//! They are read, and their disk blocks given back, while the command runs: those of
//! large programs have gigabytes. Children of another user write here as well, so
//! nothing in the folder is trusted to be what it is called.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::CString;
use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use tempfile::TempDir;

use crate::binding_log::{BindingLog, Lines};
use crate::names::Names;
use crate::report::Unreadable;

/// How much is read at once.
const PIECE: usize = 1 << 20;

/// Where ld.so writes its logs.
pub(super) struct Folder {
    /// Everybody may pass through it, and only this user sees what is in it.
    outer: TempDir,
    /// Everybody who knows its name may write into it, and nobody see what others wrote.
    inner: PathBuf,
}

impl Folder {
    pub(super) fn make() -> io::Result<Folder> {
        let outer = tempfile::Builder::new()
            .prefix("hiplazy-run-")
            .permissions(Permissions::from_mode(0o700))
            .tempdir()?;
        let inner = outer.path().join(unguessable()?);
        fs::create_dir(&inner)?;
        // A mode that is given to mkdir would be cut by the umask.
        fs::set_permissions(&inner, Permissions::from_mode(0o1733))?;
        open_to_all(&inner);
        fs::set_permissions(outer.path(), Permissions::from_mode(0o711))?;
        Ok(Folder { outer, inner })
    }

    /// What `LD_DEBUG_OUTPUT` is to be.
    pub(super) fn output(&self) -> PathBuf {
        self.inner.join("log")
    }

    /// Removes it.
    pub(super) fn remove(self) -> io::Result<()> {
        let there = self.outer.path().exists();
        self.outer.close().or_else(|error| match there {
            true => Err(error),
            // Somebody has done so.
            false => Ok(()),
        })
    }

    /// Leaves it for those that still write to it.
    pub(super) fn keep(self) -> PathBuf {
        self.outer.keep()
    }
}

/// A name of 128 random bits.
fn unguessable() -> io::Result<String> {
    let mut bits = [0_u64; 2];
    // SAFETY: the buffer has the length that is given.
    let got = unsafe { libc::getrandom(bits.as_mut_ptr().cast(), size_of_val(&bits), 0) };
    // Up to 256 bytes come at once or not at all.
    if usize::try_from(got) != Ok(size_of_val(&bits)) {
        return Err(io::Error::last_os_error());
    }
    Ok(format!("{:016x}{:016x}", bits[0], bits[1]))
}

/// Has files in `folder` begin as writable for all, whatever the umask of who creates
/// them: a program that gives up its rights and starts another has the same number, so
/// that one writes to the same log. Not every file system can; then it cannot write.
fn open_to_all(folder: &Path) {
    const READ_WRITE: u16 = 6;
    let Ok(path) = CString::new(folder.as_os_str().as_bytes()) else {
        return;
    };
    // `struct posix_acl_xattr_header` and entries of linux/posix_acl_xattr.h: version 2;
    // owner, group and others, which have no number.
    let mut list = 2_u32.to_le_bytes().to_vec();
    for tag in [0x01_u16, 0x04, 0x20] {
        list.extend(tag.to_le_bytes());
        list.extend(READ_WRITE.to_le_bytes());
        list.extend(u32::MAX.to_le_bytes());
    }
    // SAFETY: both strings end with a zero, and the list has the length that is given.
    unsafe {
        libc::setxattr(
            path.as_ptr(),
            c"system.posix_acl_default".as_ptr(),
            list.as_ptr().cast(),
            list.len(),
            0,
        );
    }
}

/// How far a log was read.
#[derive(Default)]
struct Log {
    from: u64,
    lines: Lines,
}

/// The logs as far as they were read.
pub(super) struct Logs {
    folder: PathBuf,
    made: Option<SystemTime>,
    piece: Vec<u8>,
    logs: BTreeMap<u32, Log>,
    lost: BTreeMap<String, String>,
    pub(super) log: BindingLog,
}

impl Logs {
    pub(super) fn of(folder: &Folder) -> Logs {
        Logs {
            folder: folder.inner.clone(),
            made: fs::metadata(&folder.inner)
                .and_then(|folder| folder.created())
                .ok(),
            piece: vec![0; PIECE],
            logs: BTreeMap::new(),
            lost: BTreeMap::new(),
            log: BindingLog::default(),
        }
    }

    /// Reads what is new; the process that bound `asked`, if one did. What cannot be read
    /// is remembered, and the command not given up for it.
    pub(super) fn read(&mut self, names: &Names, asked: Option<&str>) -> Option<u32> {
        let mut bound = None;
        let listed = match fs::read_dir(&self.folder) {
            Ok(listed) => listed,
            Err(error) => {
                let why = format!(
                    "cannot be read any more ({error}): the command, or what cleans up there, has removed or changed it; what was bound since is not known. TMPDIR names another place"
                );
                self.lose(self.folder.display().to_string(), why);
                return None;
            }
        };
        let mut there = BTreeSet::new();
        for entry in listed.flatten() {
            let name = entry.file_name();
            let number = name.to_str().and_then(|name| name.strip_prefix("log."));
            let Some(pid) = number.and_then(|number| number.parse().ok()) else {
                self.lose(
                    entry.path().display().to_string(),
                    "is no log of ld.so; the command or a child of it has put it there".into(),
                );
                continue;
            };
            there.insert(pid);
            // Most are of processes that have ended.
            let length = entry.metadata().map_or(u64::MAX, |metadata| metadata.len());
            if self.logs.get(&pid).is_some_and(|log| log.from == length) {
                continue;
            }
            let mut each = |pid, name: &str| {
                if Some(name) == asked && bound.is_none() {
                    bound = Some(pid);
                }
            };
            if let Err(error) = self.read_one(pid, &entry.path(), names, &mut each) {
                self.lose(
                    format!("process {pid}"),
                    format!("its log cannot be read: {error}"),
                );
            }
        }
        let gone: Vec<u32> = self.logs.keys().copied().collect();
        for pid in gone.into_iter().filter(|pid| !there.contains(pid)) {
            self.lose(
                format!("process {pid}"),
                "its log was removed while it ran: what it bound since is not known".into(),
            );
        }
        bound
    }

    /// Ends all logs: nobody writes to them any more.
    pub(super) fn finish(&mut self, names: &Names) {
        for log in self.logs.values_mut() {
            self.log.finish(&mut log.lines, names, &mut |_, _| {});
        }
    }

    /// Whether a process has a log.
    pub(super) fn has(&self, pid: u32) -> bool {
        self.logs.contains_key(&pid)
    }

    /// What could not be read.
    pub(super) fn lost(&self) -> impl Iterator<Item = Unreadable> {
        self.lost.iter().map(|(path, why)| Unreadable {
            path: path.clone(),
            why: why.clone(),
        })
    }

    fn lose(&mut self, what: String, why: String) {
        self.lost.entry(what).or_insert(why);
    }

    fn read_one(
        &mut self,
        pid: u32,
        path: &Path,
        names: &Names,
        each: &mut impl FnMut(u32, &str),
    ) -> io::Result<()> {
        let (file, metadata, writable) = open(path)?;
        let log = self.logs.entry(pid).or_default();
        let length = metadata.len();
        if length <= log.from {
            return Ok(());
        }
        while log.from < length {
            let wanted = usize::try_from(length - log.from).map_or(PIECE, |left| left.min(PIECE));
            let read = match file.read_at(&mut self.piece[..wanted], log.from) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                read => read?,
            };
            if read == 0 {
                break;
            }
            log.from += read as u64;
            self.log
                .feed(&mut log.lines, &self.piece[..read], names, each)?;
        }
        // A file that was moved here from elsewhere is somebody's.
        let is_new = self.made.is_some() && metadata.created().ok() >= self.made;
        if writable && is_new {
            free(&file, log.from);
        }
        Ok(())
    }
}

/// Opens a log, and says whether it may be changed: not what a link leads to, and not
/// what has another name elsewhere.
fn open(path: &Path) -> io::Result<(File, Metadata, bool)> {
    let with = |write| {
        OpenOptions::new()
            .read(true)
            .write(write)
            // A pipe would keep this waiting.
            .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
            .open(path)
    };
    let (file, writable) = match with(true) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => (with(false)?, false),
        file => (file?, true),
    };
    let metadata = file.metadata()?;
    if !metadata.is_file() || metadata.nlink() != 1 {
        return Err(io::Error::other(
            "something else has its name: no regular file, or a second name of one",
        ));
    }
    Ok((file, metadata, writable))
}

/// Gives the disk blocks of what was read back. Not every file system can, and none has
/// to.
fn free(file: &File, to: u64) {
    let Ok(length) = libc::off_t::try_from(to) else {
        return;
    };
    // SAFETY: takes numbers only; the file is a log, and nobody reads that part again.
    unsafe {
        libc::fallocate(
            file.as_raw_fd(),
            libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE,
            0,
            length,
        );
    }
}
