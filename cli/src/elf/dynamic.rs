//! The tables that the dynamic segment points to.
//!
//! `object` reads version tables only through section headers. [`Dynamic`] writes the
//! section headers that the dynamic segment implies, so that `object` reads what the
//! dynamic linker would read, whatever the file's own section headers say.

use object::endian::{U32, U64};
use object::read::StringTable;
use object::read::elf::{FileHeader, GnuHashTable, HashTable, ProgramHeader, Rela, SectionTable};
use object::{Endianness, SymbolIndex, elf};

use super::Error;

pub(super) type Elf64 = elf::FileHeader64<Endianness>;
pub(super) type Segment = elf::ProgramHeader64<Endianness>;
pub(super) type Section = elf::SectionHeader64<Endianness>;
pub(super) type Rela64 = elf::Rela64<Endianness>;

/// The places of the sections that are written.
const STRINGS: u32 = 1;
const SYMBOLS: u32 = 2;

/// The dynamic segment's entries, and where they point in the file.
pub(super) struct Dynamic<'data> {
    endian: Endianness,
    data: &'data [u8],
    segments: &'data [Segment],
    entries: Vec<(elf::DynamicTag, u64)>,
}

impl<'data> Dynamic<'data> {
    /// `None` for a static program, which has no dynamic segment.
    pub(super) fn parse(
        endian: Endianness,
        data: &'data [u8],
        segments: &'data [Segment],
    ) -> Result<Option<Self>, Error> {
        let mut entries = None;
        for segment in segments {
            if let Some(found) = segment
                .dynamic(endian, data)
                .map_err(|why| Error::corrupt("the dynamic segment", why))?
            {
                entries = Some(found);
            }
        }
        let Some(entries) = entries else {
            return Ok(None);
        };
        let entries = entries
            .iter()
            .map(|entry| (entry.d_tag.get(endian), entry.d_val.get(endian)))
            .take_while(|(tag, _)| *tag != elf::DT_NULL)
            .collect();
        Ok(Some(Dynamic {
            endian,
            data,
            segments,
            entries,
        }))
    }

    /// The last value of a tag: the dynamic linker, too, lets a later entry win.
    pub(super) fn value(&self, tag: elf::DynamicTag) -> Option<u64> {
        self.values(tag).last()
    }

    pub(super) fn values(&self, tag: elf::DynamicTag) -> impl Iterator<Item = u64> + '_ {
        self.entries
            .iter()
            .filter(move |(found, _)| *found == tag)
            .map(|(_, value)| *value)
    }

    /// The part of the file that is mapped from `address` to the end of its segment:
    /// offset in the file and bytes.
    pub(super) fn mapped(&self, address: u64) -> Option<(u64, &'data [u8])> {
        self.segments.iter().find_map(|segment| {
            if segment.p_type.get(self.endian) != elf::PT_LOAD {
                return None;
            }
            let inside = address.checked_sub(segment.p_vaddr.get(self.endian))?;
            let left = segment.p_filesz.get(self.endian).checked_sub(inside)?;
            let start = segment.p_offset.get(self.endian).checked_add(inside)?;
            let bytes = self.data.get(usize::try_from(start).ok()?..)?;
            let left = bytes.len().min(usize::try_from(left).ok()?);
            (left > 0).then(|| (start, &bytes[..left]))
        })
    }

    /// The table that a tag points to, or what is wrong with it.
    pub(super) fn table(
        &self,
        tag: elf::DynamicTag,
        reading: &'static str,
    ) -> Result<Option<(u64, &'data [u8])>, Error> {
        match self.value(tag) {
            None => Ok(None),
            Some(address) => match self.mapped(address) {
                Some(table) => Ok(Some(table)),
                None => Err(Error::corrupt(
                    reading,
                    format!("address {address:#x} is not in the file"),
                )),
            },
        }
    }

    /// A table with its size in another tag.
    fn sized(
        &self,
        tag: elf::DynamicTag,
        size: elf::DynamicTag,
        reading: &'static str,
    ) -> Result<&'data [u8], Error> {
        let Some((_, bytes)) = self.table(tag, reading)? else {
            return Ok(&[]);
        };
        let size = self.value(size).unwrap_or(0);
        usize::try_from(size)
            .ok()
            .and_then(|size| bytes.get(..size))
            .ok_or_else(|| Error::corrupt(reading, format!("{size} bytes are not in the file")))
    }

    /// The dynamic strings.
    pub(super) fn strings(&self) -> Result<StringTable<'data>, Error> {
        let (start, size) = self.strings_range()?;
        Ok(StringTable::new(self.data, start, start + size))
    }

    /// Offset and size of the dynamic strings in the file.
    pub(super) fn strings_range(&self) -> Result<(u64, u64), Error> {
        const READING: &str = "the dynamic strings";
        let bytes = self.sized(elf::DT_STRTAB, elf::DT_STRSZ, READING)?;
        let start = self
            .table(elf::DT_STRTAB, READING)?
            .map_or(0, |(start, _)| start);
        Ok((start, bytes.len() as u64))
    }

    /// The relocations that name symbols: of data first, then of the PLT.
    pub(super) fn relocations(&self) -> Result<[&'data [Rela64]; 2], Error> {
        const READING: &str = "the relocations";
        let of = |bytes: &'data [u8]| {
            // A table may not end with half an entry; the dynamic linker ignores that.
            let whole = bytes.len() / size_of::<Rela64>();
            object::pod::slice_from_bytes(bytes, whole)
                .map(|(entries, _)| entries)
                .map_err(|()| Error::corrupt(READING, "the table is cut"))
        };
        let data = self.sized(elf::DT_RELA, elf::DT_RELASZ, READING)?;
        let plt = match self.value(elf::DT_PLTREL) {
            Some(kind) if kind == elf::DT_RELA.0 as u64 => {
                self.sized(elf::DT_JMPREL, elf::DT_PLTRELSZ, READING)?
            }
            _ => &[],
        };
        Ok([of(data)?, of(plt)?])
    }

    /// How many dynamic symbols there are. No tag says so: the hash table does, as far
    /// as symbols are defined, and the relocations name the others.
    fn symbol_count(&self, relocations: &[&[Rela64]]) -> Result<u64, Error> {
        const READING: &str = "the symbol hash table";
        let mut count = 0;
        if let Some((_, bytes)) = self.table(elf::DT_HASH, READING)? {
            let table = HashTable::<Elf64>::parse(self.endian, bytes)
                .map_err(|why| Error::corrupt(READING, why))?;
            count = table.symbol_table_length();
        }
        if let Some((_, bytes)) = self.table(elf::DT_GNU_HASH, READING)? {
            let table = GnuHashTable::<Elf64>::parse(self.endian, bytes)
                .map_err(|why| Error::corrupt(READING, why))?;
            let length = table.symbol_table_length(self.endian);
            count = count.max(length.unwrap_or(0));
        }
        let named = relocations
            .iter()
            .flat_map(|table| table.iter())
            .filter_map(|entry| entry.symbol(self.endian, false))
            .map(|SymbolIndex(index)| index as u64 + 1)
            .max();
        Ok(u64::from(count).max(named.unwrap_or(0)))
    }

    /// The section headers that the dynamic segment implies.
    pub(super) fn sections(&self, relocations: &[&[Rela64]]) -> Result<Vec<Section>, Error> {
        let (strings, strings_size) = self.strings_range()?;
        let mut sections = vec![
            self.section(elf::SHT_NULL, 0, 0, 0, 0),
            self.section(elf::SHT_STRTAB, strings, strings_size, 0, 0),
        ];
        let Some((start, bytes)) = self.table(elf::DT_SYMTAB, "the dynamic symbols")? else {
            return Ok(sections);
        };
        let count = self.symbol_count(relocations)?;
        let size = count * size_of::<elf::Sym64<Endianness>>() as u64;
        if size > bytes.len() as u64 {
            return Err(Error::corrupt(
                "the dynamic symbols",
                format!("{count} symbols are not in the file"),
            ));
        }
        sections.push(self.section(elf::SHT_DYNSYM, start, size, STRINGS, 0));
        if let Some((start, bytes)) = self.table(elf::DT_VERSYM, "the symbol versions")? {
            let size = count * size_of::<elf::Versym<Endianness>>() as u64;
            if size > bytes.len() as u64 {
                return Err(Error::corrupt(
                    "the symbol versions",
                    format!("{count} entries are not in the file"),
                ));
            }
            sections.push(self.section(elf::SHT_GNU_VERSYM, start, size, SYMBOLS, 0));
        }
        for (kind, tag, number, reading) in [
            (
                elf::SHT_GNU_VERDEF,
                elf::DT_VERDEF,
                elf::DT_VERDEFNUM,
                "the version definitions",
            ),
            (
                elf::SHT_GNU_VERNEED,
                elf::DT_VERNEED,
                elf::DT_VERNEEDNUM,
                "the version needs",
            ),
        ] {
            // A chain that ends by itself; its length in bytes is said nowhere.
            if let Some((start, bytes)) = self.table(tag, reading)? {
                let entries = self.value(number).unwrap_or(0) as u32;
                let size = bytes.len() as u64;
                sections.push(self.section(kind, start, size, STRINGS, entries));
            }
        }
        Ok(sections)
    }

    fn section(
        &self,
        kind: elf::SectionType,
        offset: u64,
        size: u64,
        link: u32,
        info: u32,
    ) -> Section {
        let endian = self.endian;
        Section {
            sh_name: U32::new(endian, 0),
            sh_type: U32::new(endian, kind),
            sh_flags: U64::new(endian, elf::SectionFlags(0)),
            sh_addr: U64::new(endian, 0),
            sh_offset: U64::new(endian, offset),
            sh_size: U64::new(endian, size),
            sh_link: U32::new(endian, link),
            sh_info: U32::new(endian, info),
            sh_addralign: U64::new(endian, 0),
            sh_entsize: U64::new(endian, 0),
        }
    }
}

/// The file's own section headers; nothing where they are missing or wrong.
pub(super) fn own_sections<'data>(
    header: &Elf64,
    endian: Endianness,
    data: &'data [u8],
) -> SectionTable<'data, Elf64> {
    header.sections(endian, data).unwrap_or_default()
}
