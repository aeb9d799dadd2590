//! The files that processes have mapped, wherever those see them.

use std::collections::HashMap;
use std::fs::{self, File};
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::contents;

/// Files that have their names only elsewhere, and stay open.
const MOST_HELD: usize = 256;

/// A file that is or was mapped.
#[derive(Debug)]
pub(super) struct Mapped {
    pub(super) path: PathBuf,
    device: u64,
    inode: u64,
    there: There,
}

/// Where that file can be found.
#[derive(Debug)]
enum There {
    UnderItsName,
    /// In the root of who mapped it.
    Held(File),
    Not(String),
}

impl Mapped {
    /// By which name it can be opened now, or why not.
    pub(super) fn file(&self) -> Result<PathBuf, String> {
        match &self.there {
            There::UnderItsName if is(&self.path, self.device, self.inode) => Ok(self.path.clone()),
            There::UnderItsName => Err("was loaded, and another file has its name now: what it is and needs is guessed from its name".into()),
            There::Held(file) => Ok(PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()))),
            There::Not(why) => Err(why.clone()),
        }
    }
}

fn is(path: &Path, device: u64, inode: u64) -> bool {
    fs::metadata(path).is_ok_and(|found| (found.dev(), found.ino()) == (device, inode))
}

/// All of them, each once.
#[derive(Debug, Default)]
pub(super) struct MappedFiles {
    pub(super) all: Vec<Mapped>,
    known: HashMap<(PathBuf, u64, u64), usize>,
    held: usize,
}

impl MappedFiles {
    /// A file that a process has mapped. It is looked for at once: the process may be gone
    /// soon, and its root with it.
    pub(super) fn mapped(&mut self, pid: u32, path: PathBuf, device: u64, inode: u64) -> usize {
        let identity = (path, device, inode);
        if let Some(place) = self.known.get(&identity) {
            return *place;
        }
        let path = identity.0.clone();
        let there = if is(&path, device, inode) {
            There::UnderItsName
        } else {
            self.elsewhere(pid, &path, device, inode)
        };
        self.all.push(Mapped {
            path,
            device,
            inode,
            there,
        });
        self.known.insert(identity, self.all.len() - 1);
        self.all.len() - 1
    }

    fn elsewhere(&mut self, pid: u32, path: &Path, device: u64, inode: u64) -> There {
        let mut inside = PathBuf::from(format!("/proc/{pid}/root"));
        inside.extend(path.strip_prefix("/").ok());
        let opened = contents::open(&inside).and_then(|file| Ok((file.metadata()?, file)));
        match opened {
            Ok((found, file))
                if (found.dev(), found.ino()) == (device, inode) && self.held < MOST_HELD =>
            {
                self.held += 1;
                There::Held(file)
            }
            _ => There::Not(format!(
                "process {pid} has loaded it from a place that cannot be read from here (another root, or a file that was replaced): what it is and needs is guessed from its name"
            )),
        }
    }
}

/// `st_dev` of the two parts that `statx` tells.
pub(super) fn device(parts: u64) -> u64 {
    libc::makedev(parts as u32, (parts >> 32) as u32)
}
