//! Which program a process runs. `exec` puts another one into its place, and number and
//! start stay as they are.

use std::fs;
use std::os::unix::fs::MetadataExt;

use super::memory::Memory;
use super::proc_folder::ProcFolder;

/// The program that a process runs, from its start to its end or to the next `exec`.
/// What may not be read is left out, each time.
#[derive(Debug, PartialEq, Eq)]
pub struct Running {
    /// In clock ticks since boot; `None` if there is no such process.
    started: Option<u64>,
    /// Device and inode of the program's file.
    file: Option<(u64, u64)>,
    /// The kernel gives every program random bytes of its own, also one that starts itself.
    random: Option<[u8; 16]>,
}

impl Running {
    /// What process or thread `pid` runs now.
    pub fn of(pid: u32) -> Running {
        let folder = ProcFolder::of(pid);
        let file = fs::metadata(folder.path("exe")).ok();
        Running {
            started: folder.status().ok().map(|status| status.started),
            file: file.map(|file| (file.dev(), file.ino())),
            random: random(pid, &folder),
        }
    }

    /// Whether there is such a process.
    pub fn is_there(&self) -> bool {
        self.started.is_some()
    }
}

fn random(pid: u32, folder: &ProcFolder) -> Option<[u8; 16]> {
    let at = folder.auxiliary().ok()?.get(libc::AT_RANDOM)?;
    let mut bytes = [0; 16];
    let read = Memory::of(pid).read(at, &mut bytes).ok()?;
    (read == bytes.len()).then_some(bytes)
}
