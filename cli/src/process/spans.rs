//! The addresses that an object takes in a process, by its program headers in memory:
//! its file may be gone, replaced or unreadable.

use std::ops::Range;

use object::read::elf::{FileHeader, ProgramHeader};
use object::{Endianness, elf};

use super::memory::Memory;
use super::proc_folder::Mapping;

type Header = elf::FileHeader64<Endianness>;

/// As much of an object's beginning as is read: the ELF header, and behind it the program
/// headers.
const START: usize = 4096;

/// The span of the object with this load address, of which `mappings[at]` is a part.
pub(super) fn of(memory: Memory, mappings: &[Mapping], at: usize, bias: u64) -> Range<u64> {
    let part = &mappings[at];
    // One file may be mapped several times, by namespaces: the nearest beginning is it.
    let first = mappings[..=at]
        .iter()
        .rev()
        .find(|mapping| mapping.offset == 0 && mapping.is_of_the_file_of(part));
    let span = first.and_then(|first| by_headers(memory, first.range.start, bias));
    span.filter(|span| span.contains(&part.range.start))
        .unwrap_or_else(|| by_mappings(mappings, at))
}

fn by_headers(memory: Memory, start: u64, bias: u64) -> Option<Range<u64>> {
    let mut bytes = vec![0; START];
    let read = memory.read(start, &mut bytes).ok()?;
    let bytes = &bytes[..read];
    let header = Header::parse(bytes).ok()?;
    let endian = header.endian().ok()?;
    let segments = header.program_headers(endian, bytes).ok()?;
    let loaded = segments
        .iter()
        .filter(|segment| segment.p_type(endian) == elf::PT_LOAD);
    let (mut from, mut to) = (u64::MAX, 0);
    for segment in loaded {
        let address = segment.p_vaddr(endian);
        // Whole pages are mapped.
        from = from.min(address & !0xfff);
        to = to.max(address.saturating_add(segment.p_memsz(endian)));
    }
    (from < to).then(|| bias.wrapping_add(from)..bias.wrapping_add(to))
}

/// What is mapped of the file without a gap.
fn by_mappings(mappings: &[Mapping], at: usize) -> Range<u64> {
    let part = &mappings[at];
    let mut span = part.range.clone();
    let before = mappings[..at].iter().rev();
    for mapping in before.take_while(|mapping| mapping.is_of_the_file_of(part)) {
        if mapping.range.end != span.start {
            break;
        }
        span.start = mapping.range.start;
    }
    let after = mappings[at + 1..].iter();
    for mapping in after.take_while(|mapping| mapping.is_of_the_file_of(part)) {
        if mapping.range.start != span.end {
            break;
        }
        span.end = mapping.range.end;
    }
    span
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::proc_folder::ProcFolder;

    /// The C library of this process has its code, data and zeroed data inside.
    #[test]
    fn headers_in_memory_tell_the_whole_object() {
        let own = std::process::id();
        let mappings = ProcFolder::of(own).mappings().unwrap();
        let is_libc = |mapping: &Mapping| mapping.path.ends_with("libc.so.6");
        let first = mappings.iter().position(is_libc).unwrap();
        let last = mappings.iter().rposition(is_libc).unwrap();
        let bias = mappings[first].range.start;
        let span = of(Memory::of(own), &mappings, last, bias);
        assert_eq!(span.start, bias);
        assert!(span.end > mappings[last].range.start, "{span:x?}");
        // SAFETY: takes nothing and only returns an address.
        let variable = unsafe { libc::__errno_location() } as u64;
        assert!(!span.contains(&variable), "thread-local, elsewhere");
        assert!(span.contains(&(libc::getpid as *const () as u64)));
    }

    #[test]
    fn without_headers_it_is_what_is_mapped_together() {
        let mapping = |range: Range<u64>, path: &str| Mapping {
            range,
            offset: 0x1000,
            inode: 7,
            path: path.into(),
            deleted: true,
            executable: true,
        };
        let mappings = [
            mapping(0x1000..0x2000, "/lib/a.so"),
            mapping(0x4000..0x5000, "/lib/a.so"),
            mapping(0x5000..0x6000, "/lib/a.so"),
            mapping(0x6000..0x7000, "/lib/b.so"),
        ];
        let memory = Memory::of(std::process::id());
        assert_eq!(of(memory, &mappings, 2, 0), 0x4000..0x6000);
        assert_eq!(of(memory, &mappings, 1, 0), 0x4000..0x6000);
    }
}
