//! Finds definitions by name the way the dynamic linker does: through the hash table,
//! not by reading all symbols.

use std::collections::BTreeSet;
use std::ops::Range;

use object::elf::gnu_hash;
use object::read::StringTable;
use object::read::elf::{
    FileHeader, GnuHashTable, ProgramHeader, Rela, SectionTable, Sym, SymbolTable, VersionTable,
};
use object::{Endianness, SymbolIndex, elf};

use super::dynamic::{Dynamic, Elf64, Section, Segment};
use super::read::relocation_of;
use super::{Binding, Error, Relocation};

/// The section headers that an object's dynamic segment implies. They are kept apart
/// from [`Definitions`], which borrows them.
pub struct Sections(Vec<Section>);

impl Sections {
    /// Those of the object in `data`; `None` for a static program.
    ///
    /// # Errors
    ///
    /// Where the object contradicts itself.
    pub fn implied(data: &[u8]) -> Result<Option<Self>, Error> {
        let (endian, segments) = headers(data)?;
        let Some(dynamic) = Dynamic::parse(endian, data, segments)? else {
            return Ok(None);
        };
        let relocations = dynamic.relocations()?;
        Ok(Some(Sections(dynamic.sections(&relocations)?)))
    }
}

fn headers(data: &[u8]) -> Result<(Endianness, &[Segment]), Error> {
    let header = Elf64::parse(data).map_err(|why| Error::corrupt("the ELF header", why))?;
    let endian = header
        .endian()
        .map_err(|why| Error::corrupt("the ELF header", why))?;
    let segments = header
        .program_headers(endian, data)
        .map_err(|why| Error::corrupt("the program headers", why))?;
    Ok((endian, segments))
}

/// The dynamic symbols of an object, by name.
pub struct Definitions<'data> {
    endian: Endianness,
    data: &'data [u8],
    segments: &'data [Segment],
    symbols: SymbolTable<'data, Elf64>,
    versions: VersionTable<'data, Elf64>,
    hash: Option<(GnuHashTable<'data, Elf64>, u32)>,
}

/// A symbol that may satisfy a reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Definition<'data> {
    /// The version node's name.
    pub node: Option<&'data [u8]>,
    /// The version index; below 2 there is no node.
    pub version: u16,
    /// `name@node`, not `name@@node`.
    pub hidden: bool,
    /// Global, weak or unique.
    pub binding: Binding,
    /// Chosen by a resolver when it is bound (`STT_GNU_IFUNC`): the word that is bound
    /// holds another address.
    pub indirect: bool,
    /// The address within the object.
    pub address: u64,
}

impl<'data> Definitions<'data> {
    /// The tables of the object in `data`; `None` for a static program.
    ///
    /// # Errors
    ///
    /// Where the object contradicts itself.
    pub fn parse(data: &'data [u8], sections: &'data Sections) -> Result<Option<Self>, Error> {
        let (endian, segments) = headers(data)?;
        let Some(dynamic) = Dynamic::parse(endian, data, segments)? else {
            return Ok(None);
        };
        let sections = SectionTable::<Elf64>::new(&sections.0, StringTable::default());
        let symbols = sections
            .symbols(endian, data, elf::SHT_DYNSYM)
            .map_err(|why| Error::corrupt("the dynamic symbols", why))?;
        let versions = sections
            .versions(endian, data)
            .map_err(|why| Error::corrupt("the symbol versions", why))?
            .unwrap_or_default();
        const READING: &str = "the symbol hash table";
        let hash = match dynamic.table(elf::DT_GNU_HASH, READING)? {
            None => None,
            Some((_, bytes)) => {
                let table = GnuHashTable::parse(endian, bytes)
                    .map_err(|why| Error::corrupt(READING, why))?;
                let (header, _) = object::pod::from_bytes::<elf::GnuHashHeader<Endianness>>(bytes)
                    .map_err(|()| Error::corrupt(READING, "the header is cut"))?;
                // `object` shifts by it; no hash has more bits.
                let shift = header.bloom_shift.get(endian);
                if shift >= u32::BITS {
                    let why = format!("its filter shifts hashes by {shift} of 32 bits");
                    return Err(Error::corrupt(READING, why));
                }
                Some((table, header.bucket_count.get(endian)))
            }
        };
        Ok(Some(Definitions {
            endian,
            data,
            segments,
            symbols,
            versions,
            hash,
        }))
    }

    /// Whether the object has version tables at all.
    pub fn has_versions(&self) -> bool {
        !self.versions.is_empty()
    }

    /// Every definition of `name` that the dynamic linker would consider, in its order.
    pub fn named(&self, name: &[u8]) -> Vec<Definition<'data>> {
        let Some((table, buckets)) = &self.hash else {
            let all = self.symbols.enumerate();
            return all
                .filter(|(_, symbol)| symbol.name(self.endian, self.symbols.strings()) == Ok(name))
                .filter_map(|(index, symbol)| self.definition(index, symbol))
                .collect();
        };
        let hash = gnu_hash(name);
        let any = VersionTable::default();
        let Some((first, _)) = table.find(self.endian, name, hash, None, &self.symbols, &any)
        else {
            return Vec::new();
        };
        // The same name on other nodes follows in the same bucket.
        let bucket = |name: &[u8]| gnu_hash(name) % buckets;
        let mut found = Vec::new();
        for index in first.0..self.symbols.len() {
            let index = SymbolIndex(index);
            let Ok(symbol) = self.symbols.symbol(index) else {
                break;
            };
            match symbol.name(self.endian, self.symbols.strings()) {
                Ok(other) if other == name => found.extend(self.definition(index, symbol)),
                Ok(other) if bucket(other) == hash % buckets => {}
                _ => break,
            }
        }
        found
    }

    fn definition(
        &self,
        index: SymbolIndex,
        symbol: &elf::Sym64<Endianness>,
    ) -> Option<Definition<'data>> {
        let endian = self.endian;
        let binding = match symbol.st_bind() {
            elf::STB_GLOBAL => Binding::Global,
            elf::STB_WEAK => Binding::Weak,
            elf::STB_GNU_UNIQUE => Binding::Unique,
            _ => return None,
        };
        let kind = symbol.st_type();
        let allowed = [
            elf::STT_NOTYPE,
            elf::STT_OBJECT,
            elf::STT_FUNC,
            elf::STT_COMMON,
            elf::STT_TLS,
            elf::STT_GNU_IFUNC,
        ];
        let place = symbol.st_shndx(endian);
        let address = symbol.st_value(endian);
        let nowhere = address == 0 && place != elf::SHN_ABS && kind != elf::STT_TLS;
        let visibility = symbol.st_visibility();
        if place == elf::SHN_UNDEF
            || nowhere
            || !allowed.contains(&kind)
            || visibility == elf::STV_HIDDEN
            || visibility == elf::STV_INTERNAL
        {
            return None;
        }
        let version = self.versions.version_index(endian, index);
        let node = self.versions.version(version.index()).ok().flatten();
        Some(Definition {
            node: node.map(|node| node.name()),
            version: version.index().0,
            hidden: version.is_hidden(),
            binding,
            indirect: kind == elf::STT_GNU_IFUNC,
            address,
        })
    }

    /// The addresses of the variables that the object has copies of: a program's own
    /// definitions of names that its libraries define as well.
    pub fn copies(&self) -> BTreeSet<u64> {
        let endian = self.endian;
        let machine = Elf64::parse(self.data).map_or(0, |header| header.e_machine(endian).0);
        let dynamic = Dynamic::parse(endian, self.data, self.segments);
        // What contradicts itself was told of when these tables were parsed.
        let relocations = dynamic.ok().flatten().and_then(|it| it.relocations().ok());
        let all = relocations.into_iter().flatten().flatten();
        all.filter(|entry| {
            relocation_of(machine, entry.r_type(endian, false).0) == Relocation::Copy
        })
        .map(|entry| entry.r_offset(endian))
        .collect()
    }

    /// The addresses that the object takes, before the load address is added.
    pub fn span(&self) -> Range<u64> {
        let (mut start, mut end) = (u64::MAX, 0);
        for segment in self.segments {
            if segment.p_type(self.endian) == elf::PT_LOAD {
                let from = segment.p_vaddr(self.endian);
                start = start.min(from);
                end = end.max(from.saturating_add(segment.p_memsz(self.endian)));
            }
        }
        start.min(end)..end
    }

    /// The word at an address as it is in the file, before the dynamic linker touched it.
    pub fn word(&self, address: u64) -> Option<u64> {
        self.segments.iter().find_map(|segment| {
            if segment.p_type(self.endian) != elf::PT_LOAD {
                return None;
            }
            let inside = address.checked_sub(segment.p_vaddr(self.endian))?;
            if inside.checked_add(8)? > segment.p_filesz(self.endian) {
                return None;
            }
            let start = usize::try_from(segment.p_offset(self.endian).checked_add(inside)?).ok()?;
            let bytes = self
                .data
                .get(start..start.checked_add(8)?)?
                .try_into()
                .ok()?;
            Some(match self.endian {
                Endianness::Little => u64::from_le_bytes(bytes),
                Endianness::Big => u64::from_be_bytes(bytes),
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn c_library() -> Vec<u8> {
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let library = maps
            .lines()
            .filter_map(|line| line.split_whitespace().nth(5))
            .find(|path| path.ends_with("/libc.so.6"));
        std::fs::read(library.expect("a C library")).unwrap()
    }

    /// A fuzzer found it: the shift overflowed.
    #[test]
    fn a_filter_that_shifts_hashes_away_is_corrupt() {
        let mut data = c_library();
        let (endian, segments) = headers(&data).unwrap();
        let dynamic = Dynamic::parse(endian, &data, segments).unwrap().unwrap();
        let (start, _) = dynamic.table(elf::DT_GNU_HASH, "it").unwrap().unwrap();
        // The fourth word of the table.
        let shift = start as usize + 12;
        for (bits, expected) in [(31u32, true), (32, false), (u32::MAX, false)] {
            data[shift..shift + 4].copy_from_slice(&bits.to_le_bytes());
            let sections = Sections::implied(&data).unwrap().unwrap();
            let parsed = Definitions::parse(&data, &sections);
            if let Ok(Some(definitions)) = &parsed {
                definitions.named(b"malloc");
            }
            assert_eq!(parsed.is_ok(), expected, "{bits}");
        }
    }

    /// The test program itself has needs, and versions of them, and defines little; its
    /// C library defines much.
    #[test]
    fn the_c_library_defines_names_on_several_nodes() {
        let data = c_library();
        let sections = Sections::implied(&data).unwrap().unwrap();
        let library = Definitions::parse(&data, &sections).unwrap().unwrap();
        let found = library.named(b"memcpy");
        assert!(found.iter().any(|definition| definition.indirect));
        assert!(found.iter().all(|definition| definition.node.is_some()));
        let defaults = found.iter().filter(|definition| !definition.hidden);
        assert_eq!(defaults.count(), 1);
        if cfg!(target_arch = "x86_64") {
            assert_eq!(found.len(), 2, "GLIBC_2.2.5 and GLIBC_2.14");
        }
        assert_eq!(library.named(b"hipMalloc"), []);
        assert!(library.has_versions());
        let span = library.span();
        assert!(span.contains(&found[0].address));
    }
}
