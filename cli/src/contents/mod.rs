//! Files of others: opened without waiting, mapped without trusting that they stay as
//! they are.

mod guard;
mod within;

use std::fs::{self, File, FileType, OpenOptions};
use std::io;
use std::ops::Deref;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

use memmap2::Mmap;

use guard::Watched;
pub use within::{open_in, resolve};

/// The contents of a file: mapped, since most of a library is never looked at, or put
/// together from elsewhere.
///
/// If the file is cut short meanwhile, what is lost reads as zeros, and [`Contents::cut`]
/// says so.
pub struct Contents {
    // First: while this is there, the pages are.
    watched: Option<Watched>,
    data: Data,
}

enum Data {
    Mapped(Mmap),
    Own(Vec<u8>),
}

impl Contents {
    /// Maps an open file.
    ///
    /// # Errors
    ///
    /// What the system says, for an empty file as well.
    pub fn of(file: &File) -> io::Result<Contents> {
        // SAFETY: the mapping is private and never written to. Others can change its
        // bytes; every reader of them checks each value that it takes, and follows none
        // of them outside of the slice. Pages that go away are the guard's.
        let data = unsafe { Mmap::map(file) }?;
        Ok(Contents {
            watched: Some(guard::watch(data.as_ptr_range())),
            data: Data::Mapped(data),
        })
    }

    /// Bytes that stay as they are.
    pub fn own(bytes: Vec<u8>) -> Contents {
        Contents {
            watched: None,
            data: Data::Own(bytes),
        }
    }

    /// Why what was read so far cannot be relied on; `None` if nothing is known against it.
    pub fn cut(&self) -> Option<&'static str> {
        let watched = self.watched.as_ref();
        watched
            .is_some_and(Watched::cut)
            .then_some("became shorter, or could not be read to its end, while it was read; look again when nobody writes to it")
    }
}

impl Deref for Contents {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &self.data {
            Data::Mapped(data) => data,
            Data::Own(bytes) => bytes,
        }
    }
}

/// Opens a regular file. Opening a pipe would wait for its writer, and opening a device
/// can do anything: neither happens.
///
/// # Errors
///
/// What the system says, or what the path is instead of a file.
pub fn open(path: &Path) -> io::Result<File> {
    regular(fs::metadata(path)?.file_type())?;
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY)
        .open(path)?;
    // Another thing may have the name by now.
    regular(file.metadata()?.file_type())?;
    Ok(file)
}

fn regular(kind: FileType) -> io::Result<()> {
    match other_than_file(kind) {
        None => Ok(()),
        Some(what) => Err(io::Error::other(format!("is {what}, no file"))),
    }
}

/// What something is that is no file.
pub fn other_than_file(kind: FileType) -> Option<&'static str> {
    if kind.is_file() {
        None
    } else if kind.is_dir() {
        Some("a folder")
    } else if kind.is_fifo() || kind.is_socket() {
        Some("a pipe or socket")
    } else {
        Some("a device")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With the guard taken out, this ends the test program with SIGBUS.
    #[test]
    fn a_file_that_is_cut_short_reads_as_zeros_and_is_said_to_be_cut() {
        let path = std::env::temp_dir().join(format!("hiplazy-cut-{}", std::process::id()));
        fs::write(&path, vec![7; 1 << 20]).unwrap();
        let contents = Contents::of(&open(&path).unwrap()).unwrap();
        let other = Contents::of(&open(&path).unwrap()).unwrap();
        assert_eq!(contents[(1 << 20) - 1], 7);
        let file = OpenOptions::new().write(true).open(&path).unwrap();
        file.set_len(8192).unwrap();
        assert_eq!(contents.cut(), None, "nothing was lost that was read");
        // From several threads at a time.
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| assert!(contents[16384..].iter().all(|byte| *byte == 0)));
            }
        });
        assert!(contents[..8192].iter().all(|byte| *byte == 7));
        assert!(contents.cut().unwrap().contains("became shorter"));
        assert_eq!(other.cut(), None, "each mapping has its own state");
        drop(contents);
        assert_eq!(other[9000], 0);
        assert!(other.cut().is_some());
        fs::remove_file(&path).unwrap();
    }

    #[test]
    fn what_is_no_file_is_named_and_not_opened() {
        let why = |path: &str| open(Path::new(path)).unwrap_err().to_string();
        assert_eq!(why("/dev/zero"), "is a device, no file");
        assert_eq!(why("/"), "is a folder, no file");
    }
}
