//! The files behind what is mapped.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::image;
use super::memory::Memory;
use super::proc_folder::{Mapping, ProcFolder};
use crate::contents::{self, Contents};
use crate::elf::Sections;

/// A file of the process, mapped here as well.
pub(crate) struct Opened {
    /// Its contents.
    pub(crate) data: Contents,
    /// What [`crate::elf::Definitions`] borrows.
    pub(crate) sections: Option<Sections>,
    /// Put together from the memory of the process: the words that the dynamic linker
    /// fills are not those of the file.
    pub(crate) from_memory: bool,
}

/// The beginning of a file that is compared where inodes cannot be: the ELF header and
/// program headers, which nothing relocates.
const START: usize = 64 + 8 * 56;

/// Opens the file of `mapping`, whose first mapping is `first`.
pub(super) fn open(
    folder: &ProcFolder,
    memory: Memory,
    mapping: &Mapping,
    first: &Mapping,
) -> Result<Opened, String> {
    let mut tried = Vec::new();
    let same = |file: io::Result<File>| open_same(file, memory, mapping, first);
    if mapping.deleted {
        tried.push("it was deleted or replaced since it was mapped".to_string());
    } else {
        match same(folder.open(&mapping.path)) {
            Ok(opened) => return Ok(opened),
            Err(why) => tried.push(why),
        }
        // `maps` has the paths of a process after `chroot` as we see them.
        if let Ok(opened) = same(contents::open(&mapping.path)) {
            return Ok(opened);
        }
    }
    let path = folder.mapped_file(&mapping.range);
    match same(contents::open(&path)) {
        Ok(opened) => Ok(opened),
        Err(why) => {
            tried.push(format!("{}: {why}", path.display()));
            Err(format!(
                "its file cannot be read: {}; restart the program, or run this as root",
                tried.join("; ")
            ))
        }
    }
}

fn open_same(
    file: io::Result<File>,
    memory: Memory,
    mapping: &Mapping,
    first: &Mapping,
) -> Result<Opened, String> {
    let (opened, inode) = read(file)?;
    // Layered file systems report one inode to `stat` and another in `maps`.
    if inode != mapping.inode && !same_start(&opened.data, memory, first) {
        return Err("another file has its name now".into());
    }
    Ok(opened)
}

/// Puts an object together from the memory of the process, where its file cannot be read.
pub(super) fn from_memory(
    memory: Memory,
    span: &Range<u64>,
    bias: u64,
    left: &mut usize,
) -> Result<Opened, String> {
    let data = image::read(memory, span, bias, left)?;
    let sections = Sections::implied(&data).map_err(|error| error.to_string())?;
    Ok(Opened {
        data: Contents::own(data),
        sections,
        from_memory: true,
    })
}

/// Opens a file by its name alone.
pub(super) fn open_named(path: &Path) -> Result<Opened, String> {
    Ok(read(contents::open(path))?.0)
}

/// A file's contents and inode.
fn read(file: io::Result<File>) -> Result<(Opened, u64), String> {
    let inode_and_data = file.and_then(|file| Ok((file.metadata()?.ino(), Contents::of(&file)?)));
    let (inode, data) = inode_and_data.map_err(|error| error.to_string())?;
    let sections = Sections::implied(&data).map_err(|error| error.to_string())?;
    let opened = Opened {
        data,
        sections,
        from_memory: false,
    };
    Ok((opened, inode))
}

fn same_start(data: &[u8], memory: Memory, first: &Mapping) -> bool {
    let mut mapped = vec![0; START.min(data.len())];
    first.offset == 0
        && memory.read(first.range.start, &mut mapped).ok() == Some(mapped.len())
        && data.starts_with(&mapped)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A mount or another root can put another file under the name of a mapped one, and
    /// then the kernel does not say "(deleted)".
    #[test]
    fn a_file_that_only_has_the_name_of_the_mapped_one_is_not_opened() {
        let own = std::process::id();
        let mappings = ProcFolder::of(own).mappings().unwrap();
        let mapped = mappings
            .into_iter()
            .find(|mapping| mapping.path.ends_with("libc.so.6"))
            .unwrap();
        let memory = Memory::of(own);
        let open = |path: &Path, mapping: &Mapping| {
            let file = contents::open(path);
            open_same(file, memory, mapping, mapping).map(|opened| opened.data.len())
        };
        let other = std::env::current_exe().unwrap();
        let refused = open(&other, &mapped).unwrap_err();
        assert!(
            refused.contains("another file has its name now"),
            "{refused}"
        );
        // The inode is another, and the file is the same: a layered file system.
        let layered = Mapping {
            inode: mapped.inode + 1,
            ..mapped.clone()
        };
        assert!(open(&mapped.path, &layered).is_ok());
    }
}
