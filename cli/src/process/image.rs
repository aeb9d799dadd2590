//! An object as it lies in memory, put together as its file was: for who may read the
//! process and not the file, which is gone, was replaced, or belongs to somebody else.
//!
//! All that binding needs is in loaded segments. Not the same as in the file are the
//! words that the dynamic linker has filled, and the addresses in the dynamic segment,
//! to which it adds the load address; the latter is undone here.

use std::ops::Range;

use object::read::elf::{FileHeader, ProgramHeader};
use object::{Endianness, elf};

use super::memory::Memory;

type Header = elf::FileHeader64<Endianness>;
type Segment = elf::ProgramHeader64<Endianness>;
type Entry = elf::Dyn64<Endianness>;

/// As much of an object's beginning as is read: the ELF header, and behind it the program
/// headers.
const START: usize = 4096;

/// The bytes that the objects of one process may take together: a process says itself how
/// large they are, and the largest runtimes have some hundred megabytes with what they need.
pub(super) const MOST: usize = 1 << 30;

/// The object that takes `span`, loaded at `bias`; `left` is how many bytes there may be, and
/// becomes how many there may be after it.
///
/// # Errors
///
/// Why it cannot be put together.
pub(super) fn read(
    memory: Memory,
    span: &Range<u64>,
    bias: u64,
    left: &mut usize,
) -> Result<Vec<u8>, String> {
    let mut start = vec![0; START];
    let read = memory.read(span.start, &mut start);
    start.truncate(read.map_err(|error| error.to_string())?);
    let header = Header::parse(&*start).map_err(|why| why.to_string())?;
    let endian = header.endian().map_err(|why| why.to_string())?;
    let segments = header.program_headers(endian, &*start);
    let segments = segments.map_err(|why| why.to_string())?;
    let loaded = || {
        segments
            .iter()
            .filter(|segment| segment.p_type(endian) == elf::PT_LOAD)
    };
    let mut length = 0;
    for segment in loaded() {
        let file = place(segment, endian).ok_or("a segment has no end")?;
        length = length.max(file.end);
    }
    *left = left
        .checked_sub(length)
        .ok_or_else(|| format!("{length} bytes are more than are read ({left} left)"))?;
    let mut image = vec![0; length];
    for segment in loaded() {
        let file = place(segment, endian).ok_or("a segment has no end")?;
        let address = bias.wrapping_add(segment.p_vaddr(endian));
        let inside = address >= span.start && address <= span.end;
        let part = image.get_mut(file).filter(|_| inside);
        let part = part.ok_or("a segment lies outside of the object")?;
        let wanted = part.len();
        if wanted > 0 && memory.read(address, part).ok() != Some(wanted) {
            return Err(format!("a segment at {address:#x} cannot be read"));
        }
    }
    for segment in segments {
        if segment.p_type(endian) == elf::PT_DYNAMIC {
            let file = place(segment, endian).and_then(|file| image.get_mut(file));
            restore_addresses(file.unwrap_or_default(), endian, span, bias);
        }
    }
    Ok(image)
}

/// Where a segment is in the file.
fn place(segment: &Segment, endian: Endianness) -> Option<Range<usize>> {
    let start = usize::try_from(segment.p_offset(endian)).ok()?;
    let size = usize::try_from(segment.p_filesz(endian)).ok()?;
    Some(start..start.checked_add(size)?)
}

/// Takes the load address away again where the dynamic linker has added it.
fn restore_addresses(dynamic: &mut [u8], endian: Endianness, span: &Range<u64>, bias: u64) {
    const ADDRESSES: [elf::DynamicTag; 9] = [
        elf::DT_PLTGOT,
        elf::DT_HASH,
        elf::DT_GNU_HASH,
        elf::DT_STRTAB,
        elf::DT_SYMTAB,
        elf::DT_RELA,
        elf::DT_JMPREL,
        elf::DT_VERSYM,
        elf::DT_RELR,
    ];
    let whole = dynamic.len() / size_of::<Entry>();
    let Ok((entries, _)) = object::pod::slice_from_bytes_mut::<Entry>(dynamic, whole) else {
        return;
    };
    for entry in entries {
        let value = entry.d_val.get(endian);
        if ADDRESSES.contains(&entry.d_tag.get(endian)) && bias != 0 && span.contains(&value) {
            entry.d_val.set(endian, value.wrapping_sub(bias));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::elf::{Definitions, Sections};
    use crate::process::proc_folder::{Mapping, ProcFolder};

    fn c_library() -> (Range<u64>, u64) {
        let own = std::process::id();
        let mappings = ProcFolder::of(own).mappings().unwrap();
        let is_libc = |mapping: &Mapping| mapping.path.ends_with("libc.so.6");
        let first = mappings.iter().position(is_libc).unwrap();
        let bias = mappings[first].range.start;
        let span = super::super::spans::of(Memory::of(own), &mappings, first, bias);
        (span, bias)
    }

    /// The C library of this process, by its memory alone.
    #[test]
    fn names_are_found_in_memory_as_in_the_file() {
        let (span, bias) = c_library();
        let memory = Memory::of(std::process::id());
        let mut left = MOST;
        let image = read(memory, &span, bias, &mut left).unwrap();
        assert_eq!(left, MOST - image.len());
        let sections = Sections::implied(&image).unwrap().unwrap();
        let library = Definitions::parse(&image, &sections).unwrap().unwrap();
        let [found] = library.named(b"getpid")[..] else {
            panic!("{:?}", library.named(b"getpid"));
        };
        let address = bias.wrapping_add(found.address);
        assert_eq!(address, libc::getpid as *const () as u64);
        assert!(found.node.is_some_and(|node| node.starts_with(b"GLIBC_")));
    }

    #[test]
    fn what_a_process_says_of_its_size_has_a_limit() {
        let (span, bias) = c_library();
        let memory = Memory::of(std::process::id());
        let why = read(memory, &span, bias, &mut 4096).unwrap_err();
        assert!(why.ends_with("more than are read (4096 left)"), "{why}");
    }
}
