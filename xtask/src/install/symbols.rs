//! The symbols of a relocatable object.

use std::collections::BTreeSet;
use std::mem::offset_of;

use object::elf::{
    FileHeader64, SHT_SYMTAB, STB_GLOBAL, STV_DEFAULT, STV_HIDDEN, Sym64, SymbolInfo,
};
use object::read::elf::{FileHeader, SectionHeader, Sym};
use object::{Endianness, read};

/// The names of all global definitions.
pub(super) fn defined(object: &[u8]) -> read::Result<BTreeSet<String>> {
    let header = FileHeader64::<Endianness>::parse(object)?;
    let endian = header.endian()?;
    let sections = header.sections(endian, object)?;
    let symbols = sections.symbols(endian, object, SHT_SYMTAB)?;
    let mut names = BTreeSet::new();
    for symbol in symbols.iter() {
        if !symbol.is_local() && !symbol.is_undefined(endian) {
            let name = symbols.symbol_name(endian, symbol)?;
            names.insert(String::from_utf8_lossy(name).into_owned());
        }
    }
    Ok(names)
}

/// Gives all hidden definitions the default visibility, in place, so that a version
/// script can export them: no version script can export a hidden symbol, and objcopy can
/// hide symbols but not show them. And makes them strong, as exports are: weak they are
/// for archives.
pub(super) fn expose(object: &mut [u8]) -> read::Result<()> {
    let mut changes = Vec::new();
    {
        let data = &*object;
        let header = FileHeader64::<Endianness>::parse(data)?;
        let endian = header.endian()?;
        let sections = header.sections(endian, data)?;
        let symbols = sections.symbols(endian, data, SHT_SYMTAB)?;
        let start = sections.section(symbols.section())?.sh_offset(endian);
        let size = size_of::<Sym64<Endianness>>() as u64;
        for (index, symbol) in symbols.enumerate() {
            let hidden = symbol.st_visibility() == STV_HIDDEN;
            if hidden && !symbol.is_local() && !symbol.is_undefined(endian) {
                let at = |member: usize| start + index.0 as u64 * size + member as u64;
                let strong = SymbolInfo::new(STB_GLOBAL, symbol.st_type()).0;
                let visible = symbol.st_other().with_visibility(STV_DEFAULT).0;
                changes.push((at(offset_of!(Sym64<Endianness>, st_info)), strong));
                changes.push((at(offset_of!(Sym64<Endianness>, st_other)), visible));
            }
        }
    }
    for (at, value) in changes {
        let byte = usize::try_from(at).ok().and_then(|at| object.get_mut(at));
        // The symbol was just read from there.
        if let Some(byte) = byte {
            *byte = value;
        }
    }
    Ok(())
}
