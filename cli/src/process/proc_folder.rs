//! What `/proc/PID` says of a process.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::contents;

/// What the kernel writes behind the name of a file that has lost it.
const DELETED: &str = " (deleted)";

/// `/proc/PID`.
#[derive(Debug, Clone)]
pub struct ProcFolder {
    folder: PathBuf,
}

/// One line of `maps`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mapping {
    /// The addresses.
    pub range: Range<u64>,
    /// Where in the file they begin.
    pub offset: u64,
    /// The file's inode, 0 for none.
    pub inode: u64,
    /// The file, as the process sees it; `[vdso]` and the like for none.
    pub path: PathBuf,
    /// The file is no longer there under this name.
    pub deleted: bool,
    /// Code is executed from it.
    pub executable: bool,
}

impl Mapping {
    /// Whether both are of one file.
    pub fn is_of_the_file_of(&self, other: &Mapping) -> bool {
        self.inode == other.inode && self.path == other.path && self.deleted == other.deleted
    }
}

/// What the kernel told the program at its start.
#[derive(Debug, Clone, Default)]
pub struct Auxiliary(BTreeMap<u64, u64>);

impl Auxiliary {
    /// The value of `AT_...`.
    pub fn get(&self, kind: u64) -> Option<u64> {
        self.0.get(&kind).copied()
    }
}

/// The state of a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Status {
    /// `R`, `S`, `T` (stopped), `Z` (has exited) and so on.
    pub state: char,
    /// When it started, in clock ticks since boot: tells processes with one number apart.
    pub started: u64,
}

impl Status {
    /// Nothing of it runs any more.
    pub fn has_ended(&self) -> bool {
        matches!(self.state, 'Z' | 'X' | 'x')
    }
}

impl ProcFolder {
    /// The folder of process `pid`.
    pub fn of(pid: u32) -> ProcFolder {
        ProcFolder {
            folder: PathBuf::from(format!("/proc/{pid}")),
        }
    }

    /// A file in it.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// State and start.
    ///
    /// # Errors
    ///
    /// If there is no such process.
    pub fn status(&self) -> io::Result<Status> {
        let text = fs::read_to_string(self.path("stat"))?;
        // The name in brackets may hold anything.
        let rest = text.rsplit_once(')').map_or("", |(_, rest)| rest);
        let mut fields = rest.split_whitespace();
        let state = fields.next().and_then(|field| field.chars().next());
        let started = fields.nth(18).and_then(|field| field.parse().ok());
        match (state, started) {
            (Some(state), Some(started)) => Ok(Status { state, started }),
            _ => Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "/proc/PID/stat has another form",
            )),
        }
    }

    /// The numbers of its threads. `/proc` has a folder for each of them, though it does
    /// not list them.
    pub fn threads(&self) -> Vec<u32> {
        let entries = fs::read_dir(self.path("task")).into_iter().flatten();
        entries
            .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
            .collect()
    }

    /// Its working folder, as it sees it; the root if that may not be read.
    pub fn current(&self) -> PathBuf {
        let root = fs::read_link(self.path("root")).unwrap_or_default();
        let current = fs::read_link(self.path("cwd")).unwrap_or_default();
        Path::new("/").join(current.strip_prefix(root).unwrap_or(&current))
    }

    /// The name that `ps` shows.
    pub fn name(&self) -> String {
        let text = fs::read(self.path("comm")).unwrap_or_default();
        String::from_utf8_lossy(&text).trim_end().to_string()
    }

    /// The user whose process it is.
    pub fn user(&self) -> Option<u32> {
        // The folder belongs to root when the process may not be read; the status says.
        let text = fs::read_to_string(self.path("status")).ok()?;
        let line = text.lines().find_map(|line| line.strip_prefix("Uid:"));
        let real = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
        real.or_else(|| Some(fs::metadata(&self.folder).ok()?.uid()))
    }

    /// The program.
    ///
    /// # Errors
    ///
    /// If the process may not be read, is gone, or is a thread of the kernel.
    pub fn program(&self) -> io::Result<PathBuf> {
        fs::read_link(self.path("exe"))
    }

    /// What is mapped, by address.
    ///
    /// # Errors
    ///
    /// If the process may not be read, or is gone.
    pub fn mappings(&self) -> io::Result<Vec<Mapping>> {
        let text = fs::read(self.path("maps"))?;
        let lines = text.split(|byte| *byte == b'\n');
        let mut mappings: Vec<Mapping> = lines.filter_map(mapping).collect();
        self.restore_names(&mut mappings);
        Ok(mappings)
    }

    /// What stands behind the name of a file that is gone may as well be the end of a
    /// file's own name: then the file is there.
    fn restore_names(&self, mappings: &mut [Mapping]) {
        let mut asked = BTreeMap::<(u64, PathBuf), Option<PathBuf>>::new();
        for mapping in mappings.iter_mut().filter(|mapping| mapping.deleted) {
            let file = (mapping.inode, mapping.path.clone());
            let whole = asked.entry(file).or_insert_with(|| {
                let mut whole = mapping.path.clone().into_os_string();
                whole.push(DELETED);
                let whole = PathBuf::from(whole);
                let inode = self
                    .open(&whole)
                    .and_then(|file| file.metadata())
                    .ok()?
                    .ino();
                (inode == mapping.inode).then_some(whole)
            });
            if let Some(whole) = whole {
                mapping.path.clone_from(whole);
                mapping.deleted = false;
            }
        }
    }

    /// The auxiliary vector.
    ///
    /// # Errors
    ///
    /// If the process may not be read, or is gone.
    pub fn auxiliary(&self) -> io::Result<Auxiliary> {
        let bytes = fs::read(self.path("auxv"))?;
        let (words, _) = bytes.as_chunks::<8>();
        let words: Vec<u64> = words.iter().map(|word| u64::from_ne_bytes(*word)).collect();
        let (pairs, _) = words.as_chunks::<2>();
        Ok(Auxiliary(
            pairs.iter().map(|[kind, value]| (*kind, *value)).collect(),
        ))
    }

    /// The environment that the program was started with.
    pub fn environment(&self) -> BTreeMap<String, String> {
        let bytes = fs::read(self.path("environ")).unwrap_or_default();
        bytes
            .split(|byte| *byte == 0)
            .filter_map(|entry| {
                let text = String::from_utf8_lossy(entry);
                let (name, value) = text.split_once('=')?;
                Some((name.to_string(), value.to_string()))
            })
            .collect()
    }

    /// Opens a regular file by a path of the process: containers and `chroot` have roots
    /// of their own.
    ///
    /// # Errors
    ///
    /// As [`contents::open`].
    pub fn open(&self, path: &Path) -> io::Result<File> {
        contents::open_in(&self.path("root"), path)
    }

    /// A mapped file by its mapping, also when it has no name any more. The kernel lets
    /// only privileged users follow it.
    pub fn mapped_file(&self, range: &Range<u64>) -> PathBuf {
        self.path("map_files")
            .join(format!("{:x}-{:x}", range.start, range.end))
    }
}

fn mapping(line: &[u8]) -> Option<Mapping> {
    // The path is the sixth field and may hold spaces; those before it do not.
    let mut rest = line;
    let mut field = || {
        let end = rest.iter().position(|byte| *byte == b' ');
        let (field, after) = rest.split_at(end.unwrap_or(rest.len()));
        rest = after.trim_ascii_start();
        std::str::from_utf8(field)
            .ok()
            .filter(|field| !field.is_empty())
    };
    let (start, end) = field()?.split_once('-')?;
    let permissions = field()?;
    let offset = field()?;
    let _device = field()?;
    let inode = field()?.parse().ok()?;
    let (path, deleted) = match rest.strip_suffix(DELETED.as_bytes()) {
        Some(path) => (path, true),
        None => (rest, false),
    };
    let number = |text: &str| u64::from_str_radix(text, 16).ok();
    Some(Mapping {
        range: number(start)?..number(end)?,
        offset: number(offset)?,
        inode,
        path: PathBuf::from(OsStr::from_bytes(path)),
        deleted,
        executable: permissions.contains('x'),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_with_spaces_and_deleted_files_are_read() {
        let line = b"7f00a000-7f00b000 r-xp 00001000 fe:00 1234   /a b/lib c.so (deleted)";
        let found = mapping(line).unwrap();
        assert_eq!(found.range, 0x7f00_a000..0x7f00_b000);
        assert_eq!(found.path, Path::new("/a b/lib c.so"));
        assert!(found.deleted && found.executable);
        assert_eq!((found.offset, found.inode), (0x1000, 1234));
        let line = b"7ffd000-7ffe000 rw-p 00000000 00:00 0 ";
        assert_eq!(mapping(line).unwrap().path, Path::new(""));
        assert_eq!(mapping(b""), None);
    }

    #[test]
    fn this_process_is_read() {
        let own = ProcFolder::of(std::process::id());
        assert!(own.status().unwrap().started > 0);
        assert!(own.program().unwrap().is_absolute());
        assert!(own.mappings().unwrap().iter().any(|map| map.executable));
        let pages = own.auxiliary().unwrap().get(libc::AT_PAGESZ);
        assert!(pages.is_some_and(|size| size.is_power_of_two()));
    }
}
