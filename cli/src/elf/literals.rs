//! Literals that spell a HIP function whose struct changed.
//!
//! A library that looks functions up by name has the names as literals. The name
//! `hipGetDeviceProperties` alone means the old, short struct, also to a caller whose
//! header renamed the call to `hipGetDevicePropertiesR0600`.

use memchr::memmem::Finder;
use object::read::elf::{ProgramHeader, SectionHeader, SectionTable};
use object::{Endianness, elf};

use super::dynamic::{Elf64, Segment};

/// The spellings of a renamed function: the first one is legacy.
pub const RENAMED: [[&str; 3]; 2] = [
    [
        "hipGetDeviceProperties",
        "hipGetDevicePropertiesR0000",
        "hipGetDevicePropertiesR0600",
    ],
    [
        "hipChooseDevice",
        "hipChooseDeviceR0000",
        "hipChooseDeviceR0600",
    ],
];

/// The spellings of [`RENAMED`] that data holds as literals. `names` is where the dynamic
/// strings are, which are no literals: offset and size.
pub(super) fn find(
    endian: Endianness,
    data: &[u8],
    segments: &[Segment],
    sections: &SectionTable<'_, Elf64>,
    names: (u64, u64),
) -> Vec<String> {
    let mut found = Vec::new();
    for bytes in data_of(endian, data, segments, sections, names) {
        for family in RENAMED {
            for spelling in family {
                if !found.iter().any(|known| known == spelling) && holds(bytes, spelling) {
                    found.push(spelling.to_string());
                }
            }
        }
    }
    found.sort();
    found
}

/// Whether `bytes` hold the text as a literal, with a zero after it. The linker keeps a
/// literal that another one ends with only as that one's end, so that a message may be in
/// front; what is part of a longer name is none.
fn holds(bytes: &[u8], text: &str) -> bool {
    let finder = Finder::new(text);
    finder.find_iter(bytes).any(|start| {
        let before = start.checked_sub(1).map(|before| bytes[before]);
        let after = bytes.get(start + text.len());
        let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        before.is_none_or(|byte| !is_word(byte)) && after.is_none_or(|byte| *byte == 0)
    })
}

/// The data, also what may be written, as tables of names are: by section where there are
/// sections, else by segment.
fn data_of<'data>(
    endian: Endianness,
    data: &'data [u8],
    segments: &[Segment],
    sections: &SectionTable<'data, Elf64>,
    (names, names_size): (u64, u64),
) -> Vec<&'data [u8]> {
    let by_section: Vec<&[u8]> = sections
        .iter()
        .filter(|section| {
            let flags = section.sh_flags(endian);
            section.sh_type(endian) == elf::SHT_PROGBITS
                && flags.contains(elf::SHF_ALLOC)
                && !flags.contains(elf::SHF_EXECINSTR)
        })
        .filter_map(|section| section.data(endian, data).ok())
        .collect();
    if !by_section.is_empty() {
        return by_section;
    }
    let mut parts = Vec::new();
    for segment in segments {
        if segment.p_type(endian) != elf::PT_LOAD {
            continue;
        }
        let Ok(bytes) = segment.data(endian, data) else {
            continue;
        };
        let start = segment.p_offset(endian);
        // Without the dynamic strings, wherever they lie in it.
        let cut = |at: u64| {
            usize::try_from(at.saturating_sub(start)).map_or(bytes.len(), |at| at.min(bytes.len()))
        };
        let (before, after) = (cut(names), cut(names.saturating_add(names_size)));
        parts.push(&bytes[..before]);
        parts.push(&bytes[after..]);
    }
    parts
}
