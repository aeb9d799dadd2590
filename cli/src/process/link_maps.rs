//! The dynamic linker's own list of what it has loaded, as debuggers read it.
//!
//! The program's `DT_DEBUG` leads to `r_debug`, and that to the `link_map` of every
//! object. Since glibc 2.35, `r_next` leads on to the namespaces of `dlmopen`.

use std::collections::HashSet;
use std::io;

use object::read::elf::ProgramHeader;
use object::{Endianness, elf};

use super::Error;
use super::memory::Memory;
use super::proc_folder::{Auxiliary, Mapping, ProcFolder};
use crate::contents::Contents;
use crate::elf::{Definitions, Sections};

/// The words of a `link_map` that are read: its public part, and of its private part
/// more than any glibc has.
const WORDS: usize = 200;

/// The namespaces that glibc has (16), and some more.
const NAMESPACES: usize = 64;

/// The places of the public members, in words.
const ADDRESS: usize = 0;
const NAME: usize = 1;
const DYNAMIC: usize = 2;
const NEXT: usize = 3;
/// Where the private part begins.
pub(super) const PRIVATE: usize = 5;

/// One object as the dynamic linker knows it.
#[derive(Debug, Clone)]
pub struct LinkMap {
    /// Where this structure lies.
    pub address: u64,
    /// What is added to the object's own addresses.
    pub bias: u64,
    /// The name it was found by; empty for the program.
    pub name: String,
    /// Where its dynamic segment is mapped.
    pub dynamic: u64,
    /// The namespace: 0, and those of `dlmopen` from 1.
    pub namespace: usize,
    /// The structure's words.
    pub words: Vec<u64>,
}

/// All of them.
#[derive(Debug, Clone, Default)]
pub struct LinkMaps {
    /// By namespace, in the order in which they were loaded.
    pub maps: Vec<LinkMap>,
    /// The dynamic linker is in the middle of adding or removing objects.
    pub changing: bool,
}

impl LinkMaps {
    /// What changes when objects are loaded or unloaded.
    pub fn fingerprint(&self) -> Vec<(u64, u64, u64)> {
        let maps = self.maps.iter();
        maps.map(|map| (map.address, map.bias, map.dynamic))
            .collect()
    }
}

/// Where the process's `r_debug` is.
///
/// # Errors
///
/// If the program is static, 32-bit, not yet started, or may not be read.
pub(super) fn find_debug(
    pid: u32,
    folder: &ProcFolder,
    auxiliary: &Auxiliary,
    mappings: &[Mapping],
    program: &str,
) -> Result<u64, Error> {
    let memory = Memory::of(pid);
    let unexpected = |why: String| Error::Unexpected { pid, why };
    let (Some(headers), Some(count)) =
        (auxiliary.get(libc::AT_PHDR), auxiliary.get(libc::AT_PHNUM))
    else {
        return Err(unexpected("its auxiliary vector has no AT_PHDR".into()));
    };
    let size = size_of::<elf::ProgramHeader64<Endianness>>();
    let mut bytes = vec![0; size * (count as usize).min(1024)];
    let read = memory
        .read(headers, &mut bytes)
        .map_err(|error| Error::of(pid, "the program headers", &error))?;
    let (segments, _) =
        object::pod::slice_from_bytes::<elf::ProgramHeader64<Endianness>>(&bytes, read / size)
            .map_err(|()| unexpected("its program headers are cut".into()))?;
    let endian = Endianness::default();
    let of = |kind: elf::ProgramType| {
        segments
            .iter()
            .find(|segment| segment.p_type(endian) == kind)
    };
    if of(elf::PT_INTERP).is_none() {
        // The dynamic linker itself, started as a command with the program's name, or a
        // static program.
        let found = exported_debug(folder, mappings);
        return found.ok_or_else(|| Error::Static(program.to_string()));
    }
    let bias = match of(elf::PT_PHDR) {
        Some(own) => headers.wrapping_sub(own.p_vaddr(endian)),
        None => 0,
    };
    let dynamic = of(elf::PT_DYNAMIC).ok_or_else(|| Error::Static(program.to_string()))?;
    let start = bias.wrapping_add(dynamic.p_vaddr(endian));
    let length = (dynamic.p_memsz(endian) / 8).min(4096) as usize;
    let words = memory
        .array(start, length)
        .map_err(|error| Error::of(pid, "the dynamic segment", &error))?;
    let (entries, _) = words.as_chunks::<2>();
    let debug = entries
        .iter()
        .take_while(|[tag, _]| *tag != 0)
        .find(|[tag, _]| *tag as i64 == elf::DT_DEBUG.0);
    match debug {
        Some([_, 0]) => Err(Error::NotStarted(program.to_string())),
        Some([_, address]) => Ok(*address),
        // Some linkers leave DT_DEBUG out; the dynamic linker exports the structure.
        None => exported_debug(folder, mappings)
            .ok_or_else(|| unexpected("the program has no DT_DEBUG".into())),
    }
}

/// The dynamic linker's own symbol.
fn exported_debug(folder: &ProcFolder, mappings: &[Mapping]) -> Option<u64> {
    let starts = mappings.iter().filter(|mapping| {
        let name = mapping.path.file_name().and_then(|name| name.to_str());
        mapping.offset == 0 && name.is_some_and(|name| name.starts_with("ld"))
    });
    for mapping in starts {
        let found = folder.open(&mapping.path).ok().and_then(|file| {
            let data = Contents::of(&file).ok()?;
            let sections = Sections::implied(&data).ok()??;
            let definitions = Definitions::parse(&data, &sections).ok()??;
            let symbol = *definitions.named(b"_r_debug").first()?;
            let bias = mapping
                .range
                .start
                .wrapping_sub(definitions.span().start & !0xfff);
            Some(bias.wrapping_add(symbol.address))
        });
        if found.is_some() {
            return found;
        }
    }
    None
}

/// Follows the lists from `r_debug`. Every object takes a mapping at least, so a list
/// longer than `mappings` says, with the dynamic linker again in every namespace, is none.
pub(super) fn read(
    pid: u32,
    debug: u64,
    program: &str,
    mappings: usize,
) -> Result<LinkMaps, Error> {
    let memory = Memory::of(pid);
    let failed = |error: io::Error| Error::of(pid, "the link map", &error);
    let mut all = LinkMaps::default();
    let mut seen = HashSet::new();
    let mut next = debug;
    let mut namespace = 0;
    while next != 0 && namespace < NAMESPACES {
        // r_version, r_map, r_brk, r_state, r_ldbase and, from version 2, r_next.
        let words = memory.array(next, 6).map_err(failed)?;
        let [version, first, _, state, _, after] = words[..] else {
            return Err(Error::Unexpected {
                pid,
                why: "r_debug is cut".into(),
            });
        };
        let version = version as u32;
        if namespace == 0 && (version == 0 || first == 0) {
            return Err(Error::NotStarted(program.to_string()));
        }
        all.changing |= state as u32 != 0;
        let mut at = first;
        while at != 0 && seen.insert(at) {
            if all.maps.len() > mappings + NAMESPACES {
                return Err(Error::Unexpected {
                    pid,
                    why: format!(
                        "the list of its objects has no end: {mappings} mappings cannot hold them"
                    ),
                });
            }
            let words = memory.array(at, WORDS).map_err(failed)?;
            if words.len() <= PRIVATE {
                return Err(Error::Unexpected {
                    pid,
                    why: "a link map is cut".into(),
                });
            }
            let next_map = words[NEXT];
            let name = match words[NAME] {
                0 => Vec::new(),
                // An object that goes away while it is read leaves a name that is none;
                // the second look finds that out.
                text => memory.text(text).unwrap_or_default(),
            };
            all.maps.push(LinkMap {
                address: at,
                bias: words[ADDRESS],
                name: String::from_utf8_lossy(&name).into_owned(),
                dynamic: words[DYNAMIC],
                namespace,
                words,
            });
            at = next_map;
        }
        if version < 2 {
            break;
        }
        next = after;
        namespace += 1;
    }
    Ok(all)
}
