//! Reads an [`Object`] from bytes.

use object::elf;
use object::read::StringTable;
use object::read::elf::{
    FileHeader, ProgramHeader, Rela, SectionHeader, SectionTable, Sym, VerdefIterator,
    VerneedIterator, VersionTable,
};
use object::{Endianness, SymbolIndex};

use super::dynamic::{Dynamic, Elf64, Rela64, Segment, own_sections};
use super::{Binding, Error, Export, Flags, Keep, Kind, Object, Reference, Relocation, Slot};
use super::{literals, names_in};

/// No object has more version nodes: their numbers have 15 bits.
const MOST_NODES: usize = 1 << 15;

/// Reads the object in `data`; `path` is what reports call it.
///
/// # Errors
///
/// Why the file is no object, or where it contradicts itself.
pub fn read(path: &str, data: &[u8], keep: Keep<'_>) -> Result<Object, Error> {
    if data.get(..4) != Some(&elf::ELFMAG[..]) {
        return Err(Error::NotElf);
    }
    match data.get(4) {
        Some(class) if *class == elf::ELFCLASS64.0 => {}
        Some(class) if *class == elf::ELFCLASS32.0 => return Err(Error::NotSixtyFourBit),
        _ => return Err(Error::corrupt("the ELF header", "the class is unknown")),
    }
    let header = Elf64::parse(data).map_err(|why| Error::corrupt("the ELF header", why))?;
    let endian = header
        .endian()
        .map_err(|why| Error::corrupt("the ELF header", why))?;
    // Code objects are ELF files as well, thousands of them in some wheels.
    if [elf::EM_AMDGPU, elf::EM_CUDA].contains(&header.e_machine(endian)) {
        return Err(Error::NotForTheHost);
    }
    let kind = header.e_type(endian);
    if kind != elf::ET_DYN && kind != elf::ET_EXEC {
        return Err(Error::NotLoadable);
    }
    let segments = header
        .program_headers(endian, data)
        .map_err(|why| Error::corrupt("the program headers", why))?;
    if !segments
        .iter()
        .any(|segment| segment.p_type(endian) == elf::PT_LOAD)
    {
        return Err(Error::NotLoadable);
    }
    let mut object = Object {
        path: path.to_string(),
        size: data.len() as u64,
        machine: header.e_machine(endian).0,
        build_id: build_id(endian, data, segments)?,
        ..Object::default()
    };
    object.flags.executable = kind == elf::ET_EXEC;
    object.flags.executable_stack = executable_stack(endian, segments);
    let Some(dynamic) = Dynamic::parse(endian, data, segments)? else {
        return Ok(object);
    };
    let own = own_sections(header, endian, data);
    if is_debug_information(&own, endian) {
        return Err(Error::NotLoadable);
    }
    let strings = dynamic.strings()?;
    read_links(&mut object, &dynamic, strings)?;
    let relocations = dynamic.relocations()?;
    let sections = dynamic.sections(&relocations)?;
    read_symbols(
        &mut object,
        endian,
        data,
        &SectionTable::new(&sections, StringTable::default()),
        &relocations,
        keep,
    )?;
    let names = dynamic.strings_range()?;
    object.literals = literals::find(endian, data, segments, &own, names);
    Ok(object)
}

/// Debug information kept apart has the library's headers, without what they describe.
fn is_debug_information(sections: &SectionTable<'_, Elf64>, endian: Endianness) -> bool {
    sections
        .section_by_name(endian, b".dynamic")
        .is_some_and(|(_, section)| section.sh_type(endian) == elf::SHT_NOBITS)
}

/// Without the header the kernel makes the stack executable.
fn executable_stack(endian: Endianness, segments: &[Segment]) -> bool {
    segments
        .iter()
        .find(|segment| segment.p_type(endian) == elf::PT_GNU_STACK)
        .is_none_or(|segment| segment.p_flags(endian).contains(elf::PF_X))
}

fn build_id(
    endian: Endianness,
    data: &[u8],
    segments: &[Segment],
) -> Result<Option<String>, Error> {
    for segment in segments {
        let Ok(Some(mut notes)) = segment.notes(endian, data) else {
            continue;
        };
        while let Ok(Some(note)) = notes.next() {
            if note.name() == elf::ELF_NOTE_GNU && note.n_type(endian) == elf::NT_GNU_BUILD_ID {
                let digits = note
                    .desc()
                    .iter()
                    .take(64)
                    .map(|byte| format!("{byte:02x}"));
                return Ok(Some(digits.collect()));
            }
        }
    }
    Ok(None)
}

/// SONAME, NEEDED, search paths and flags.
fn read_links(
    object: &mut Object,
    dynamic: &Dynamic<'_>,
    strings: StringTable<'_>,
) -> Result<(), Error> {
    let text = |offset: u64| {
        let offset = u32::try_from(offset).ok();
        let bytes = offset.and_then(|offset| strings.get(offset).ok());
        bytes.map(text_of).ok_or_else(|| {
            Error::corrupt(
                "the dynamic segment",
                "a name is not in the dynamic strings",
            )
        })
    };
    let list = |tag| -> Result<Vec<String>, Error> {
        let joined = dynamic.value(tag).map(text).transpose()?;
        Ok(joined.map_or_else(Vec::new, |joined| {
            joined.split(':').map(str::to_string).collect()
        }))
    };
    object.soname = dynamic.value(elf::DT_SONAME).map(text).transpose()?;
    object.needed = dynamic
        .values(elf::DT_NEEDED)
        .map(text)
        .collect::<Result<_, _>>()?;
    object.filters = [elf::DT_FILTER, elf::DT_AUXILIARY]
        .into_iter()
        .flat_map(|tag| dynamic.values(tag))
        .map(text)
        .collect::<Result<_, _>>()?;
    object.rpath = list(elf::DT_RPATH)?;
    object.runpath = list(elf::DT_RUNPATH)?;
    let flags = elf::DynamicFlags(dynamic.value(elf::DT_FLAGS).unwrap_or(0) as _);
    let flags_1 = elf::DynamicFlags1(dynamic.value(elf::DT_FLAGS_1).unwrap_or(0) as _);
    object.flags = Flags {
        now: flags.contains(elf::DF_BIND_NOW)
            || flags_1.contains(elf::DF_1_NOW)
            || dynamic.value(elf::DT_BIND_NOW).is_some(),
        nodelete: flags_1.contains(elf::DF_1_NODELETE),
        symbolic: flags.contains(elf::DF_SYMBOLIC) || dynamic.value(elf::DT_SYMBOLIC).is_some(),
        global: flags_1.contains(elf::DF_1_GLOBAL),
        text_relocations: flags.contains(elf::DF_TEXTREL)
            || dynamic.value(elf::DT_TEXTREL).is_some(),
        executable: object.flags.executable || flags_1.contains(elf::DF_1_PIE),
        executable_stack: object.flags.executable_stack,
        dynamic: true,
    };
    Ok(())
}

/// Exports and references with their nodes and slots.
fn read_symbols(
    object: &mut Object,
    endian: Endianness,
    data: &[u8],
    sections: &SectionTable<'_, Elf64>,
    relocations: &[&[Rela64]],
    keep: Keep<'_>,
) -> Result<(), Error> {
    let symbols = sections
        .symbols(endian, data, elf::SHT_DYNSYM)
        .map_err(|why| Error::corrupt("the dynamic symbols", why))?;
    let versions = versions(endian, data, sections)?;
    object.nodes = defined_nodes(endian, data, sections, symbols.strings())?;
    // What a reference's place in `object.references` is, by symbol index.
    let mut places = vec![None::<u32>; symbols.len()];
    // Names may overlap in the string table, so hostile tables cost the square of their
    // size; honest ones share only endings.
    let mut budget = data.len().saturating_mul(8);
    for (index, symbol) in symbols.iter().enumerate().skip(1) {
        let binding = match symbol.st_bind() {
            elf::STB_GLOBAL => Binding::Global,
            elf::STB_WEAK => Binding::Weak,
            elf::STB_GNU_UNIQUE => Binding::Unique,
            _ => continue,
        };
        let Ok(name) = symbol.name(endian, symbols.strings()) else {
            return Err(Error::corrupt(
                "the dynamic symbols",
                format!("the name of symbol {index} is not in the file"),
            ));
        };
        budget = budget.checked_sub(name.len()).ok_or_else(|| {
            Error::corrupt("the dynamic symbols", "the names overlap without end")
        })?;
        let defined = symbol.st_shndx(endian) != elf::SHN_UNDEF;
        if defined && is_node_symbol(symbol, endian) {
            // A version node, as the linker writes it beside the version table.
            continue;
        }
        let visibility = symbol.st_visibility();
        if defined {
            if visibility == elf::STV_HIDDEN || visibility == elf::STV_INTERNAL {
                continue;
            }
            object.defined += 1;
        }
        if !names_in(keep, name, binding) {
            continue;
        }
        let version = versions.as_ref().map(|table| {
            let index = table.version_index(endian, SymbolIndex(index));
            (index, table.version(index.index()).ok().flatten())
        });
        if version.is_some_and(|(index, _)| defined && index.is_local()) {
            continue;
        }
        let node = version.and_then(|(_, version)| version);
        let name = text_of(name);
        if defined {
            let protected = visibility == elf::STV_PROTECTED;
            object.exports.push(Export {
                name: name.clone(),
                node: node.map(|node| text_of(node.name())),
                default: !version.is_some_and(|(index, _)| index.is_hidden()),
                binding,
                kind: kind_of(symbol.st_type()),
                protected,
                address: symbol.st_value(endian),
            });
            if protected {
                continue;
            }
        }
        places[index] = u32::try_from(object.references.len()).ok();
        object.references.push(Reference {
            name,
            node: node.map(|node| text_of(node.name())),
            library: node.and_then(|node| node.file()).map(text_of),
            weak: binding == Binding::Weak,
            own: defined,
            slots: Vec::new(),
        });
    }
    for entry in relocations.iter().flat_map(|table| table.iter()) {
        let place = entry
            .symbol(endian, false)
            .and_then(|SymbolIndex(index)| places.get(index).copied().flatten());
        if let Some(place) = place {
            object.references[place as usize].slots.push(Slot {
                address: entry.r_offset(endian),
                relocation: relocation_of(object.machine, entry.r_type(endian, false).0),
                addend: entry.r_addend(endian),
            });
        }
    }
    // A definition that nothing looks up is no reference.
    object
        .references
        .retain(|reference| !reference.own || !reference.slots.is_empty());
    Ok(())
}

/// The linker defines one absolute symbol per node, with the node's name.
fn is_node_symbol(symbol: &elf::Sym64<Endianness>, endian: Endianness) -> bool {
    symbol.st_shndx(endian) == elf::SHN_ABS
        && symbol.st_type() == elf::STT_OBJECT
        && symbol.st_size(endian) == 0
}

fn versions<'data>(
    endian: Endianness,
    data: &'data [u8],
    sections: &SectionTable<'data, Elf64>,
) -> Result<Option<VersionTable<'data, Elf64>>, Error> {
    // The tables are chains, whose entries may overlap: count before following them.
    let needs = sections.gnu_verneed(endian, data);
    if let Ok(Some((needs, _))) = needs {
        let entries = needs_length(endian, needs);
        if entries > MOST_NODES {
            return Err(Error::corrupt("the version needs", "the chain has no end"));
        }
    }
    sections
        .versions(endian, data)
        .map_err(|why| Error::corrupt("the symbol versions", why))
}

fn needs_length(endian: Endianness, mut needs: VerneedIterator<'_, Elf64>) -> usize {
    let mut entries = 0;
    while let Ok(Some((need, _))) = needs.next() {
        entries += 1 + usize::from(need.vn_cnt.get(endian));
        if entries > MOST_NODES {
            break;
        }
    }
    entries
}

fn defined_nodes<'data>(
    endian: Endianness,
    data: &'data [u8],
    sections: &SectionTable<'data, Elf64>,
    strings: StringTable<'data>,
) -> Result<Vec<String>, Error> {
    let defined = sections
        .gnu_verdef(endian, data)
        .map_err(|why| Error::corrupt("the version definitions", why))?;
    let Some((mut defined, _)) = defined else {
        return Ok(Vec::new());
    };
    let mut nodes = Vec::new();
    while let Some((node, mut names)) = next_definition(&mut defined)? {
        if node.vd_flags.get(endian).contains(elf::VER_FLG_BASE) {
            continue;
        }
        // Only the first name is the node's; the others are its parents.
        if let Ok(Some(first)) = names.next()
            && let Ok(name) = first.name(endian, strings)
        {
            nodes.push(text_of(name));
        }
        if nodes.len() > MOST_NODES {
            return Err(Error::corrupt(
                "the version definitions",
                "the chain has no end",
            ));
        }
    }
    Ok(nodes)
}

type Definition<'data> = (
    &'data elf::Verdef<Endianness>,
    object::read::elf::VerdauxIterator<'data, Elf64>,
);

fn next_definition<'data>(
    defined: &mut VerdefIterator<'data, Elf64>,
) -> Result<Option<Definition<'data>>, Error> {
    defined
        .next()
        .map_err(|why| Error::corrupt("the version definitions", why))
}

fn kind_of(kind: elf::SymbolType) -> Kind {
    match kind {
        elf::STT_FUNC | elf::STT_GNU_IFUNC => Kind::Function,
        elf::STT_OBJECT | elf::STT_COMMON => Kind::Data,
        _ => Kind::Other,
    }
}

pub(super) fn relocation_of(machine: u16, kind: u32) -> Relocation {
    let known = match elf::Machine(machine) {
        elf::EM_X86_64 => [
            elf::R_X86_64_JUMP_SLOT,
            elf::R_X86_64_GLOB_DAT,
            elf::R_X86_64_64,
            elf::R_X86_64_COPY,
        ],
        elf::EM_AARCH64 => [
            elf::R_AARCH64_JUMP_SLOT,
            elf::R_AARCH64_GLOB_DAT,
            elf::R_AARCH64_ABS64,
            elf::R_AARCH64_COPY,
        ],
        _ => return Relocation::Other(kind),
    };
    match known.iter().position(|known| known.0 == kind) {
        Some(0) => Relocation::JumpSlot,
        Some(1) => Relocation::GlobDat,
        Some(2) => Relocation::Absolute,
        Some(_) => Relocation::Copy,
        None => Relocation::Other(kind),
    }
}

/// Names are bytes; what is no UTF-8 is shown with replacement characters.
fn text_of(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
