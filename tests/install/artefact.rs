//! What the built files must be, read from the files. Each check gives its complaint,
//! so that a file that breaks the rule can be shown to fail.

#![allow(unreachable_pub)]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use hiplazy_abi::{CONTROL_FUNCTIONS, FUNCTIONS_TXT, SLOTS_TXT, parse_functions, parse_slots};
use object::elf::{self, DynamicTag, FileHeader64};
use object::read::archive::ArchiveFile;
use object::read::elf::{ElfFile64, FileHeader, ProgramHeader, Rela, SectionHeader, Sym};
use object::read::{Object, ObjectSection, ObjectSymbol};
use object::{Endianness, FileFlags, RelocationTarget};

/// A complaint, or none.
pub type Checked = Result<(), String>;

/// The names of all entries, in the slot table's order.
pub fn entries() -> Vec<String> {
    parse_slots(SLOTS_TXT).unwrap().entries().to_vec()
}

/// The link names of all functions: what has a bare name in a drop-in archive.
pub fn functions() -> Vec<String> {
    let functions = parse_functions(FUNCTIONS_TXT).unwrap();
    functions
        .into_iter()
        .map(|function| function.name)
        .collect()
}

/// Everything that a shared library with this prefix exports.
pub fn expected(prefix: &str) -> BTreeSet<String> {
    let wrapped = entries().into_iter().map(|name| format!("{prefix}{name}"));
    let control_names = CONTROL_FUNCTIONS
        .iter()
        .chain(&["slots"])
        .map(|name| format!("{prefix}{name}"));
    wrapped
        .chain(control_names)
        .chain(table_lengths().map(|length| format!("{prefix}slots_{length}")))
        .collect()
}

/// Everything that an archive defines for others: what the shared library exports, and
/// the names that say that the table is in the same binary.
pub fn expected_hidden(prefix: &str) -> BTreeSet<String> {
    let mut names = expected(prefix);
    names.extend(table_lengths().map(|length| format!("{prefix}static_slots_{length}")));
    names
}

/// Every length that the table has had since its order was first promised.
fn table_lengths() -> impl Iterator<Item = usize> {
    684..=entries().len()
}

fn require(holds: bool, complaint: impl FnOnce() -> String) -> Checked {
    if holds { Ok(()) } else { Err(complaint()) }
}

fn same(what: &str, found: &BTreeSet<String>, wanted: &BTreeSet<String>) -> Checked {
    let more: Vec<_> = found.difference(wanted).collect();
    let less: Vec<_> = wanted.difference(found).collect();
    require(more.is_empty() && less.is_empty(), || {
        format!("{what}: not wanted: {more:?}, missing: {less:?}")
    })
}

/// The dynamic exports of a library as `name` and node, `""` for none.
fn exports(data: &[u8]) -> Vec<(String, String)> {
    let header = FileHeader64::<Endianness>::parse(data).unwrap();
    let endian = header.endian().unwrap();
    let sections = header.sections(endian, data).unwrap();
    let symbols = sections.symbols(endian, data, elf::SHT_DYNSYM).unwrap();
    let versions = sections.versions(endian, data).unwrap();
    let mut found = Vec::new();
    for (index, symbol) in symbols.enumerate() {
        if symbol.is_undefined(endian) || symbol.is_local() {
            continue;
        }
        let name = symbols.symbol_name(endian, symbol).unwrap();
        let name = String::from_utf8(name.to_vec()).unwrap();
        let node = versions.as_ref().and_then(|versions| {
            let number = versions.version_index(endian, index);
            versions
                .version(number.into())
                .unwrap()
                .map(|version| version.name())
        });
        let node = String::from_utf8(node.unwrap_or_default().to_vec()).unwrap();
        // The node itself is an absolute symbol of its own name.
        if name != node {
            found.push((name, node));
        }
    }
    found
}

/// The shared library exports exactly `names`, each on `node`.
pub fn exports_on_node(path: &Path, names: &BTreeSet<String>, node: &str) -> Checked {
    let exports = exports(&fs::read(path).unwrap());
    let stray: Vec<_> = exports.iter().filter(|(_, on)| on != node).collect();
    require(stray.is_empty(), || format!("not on {node}: {stray:?}"))?;
    let found = exports.into_iter().map(|(name, _)| name).collect();
    same("exports", &found, names)
}

/// Whoever links hiplazy exports nothing but `own`.
pub fn exports_only(path: &Path, own: &[&str]) -> Checked {
    let exports = exports(&fs::read(path).unwrap());
    let found = exports.into_iter().map(|(name, _)| name).collect();
    let wanted = own.iter().map(|name| name.to_string()).collect();
    same("exports", &found, &wanted)
}

/// The least that a processor protects at once.
const PAGE: u64 = 4096;

/// How the shared library is to be linked.
pub fn linked_well(path: &Path, soname: &str) -> Checked {
    let data = fs::read(path).unwrap();
    let header = FileHeader64::<Endianness>::parse(&*data).unwrap();
    let endian = header.endian().unwrap();
    let sections = header.sections(endian, &*data).unwrap();
    let table = sections.dynamic_table(endian, &*data).unwrap();
    let strings = |wanted: DynamicTag| -> Vec<String> {
        let entries = table.iter().filter(|entry| entry.tag == wanted);
        entries
            .map(|entry| String::from_utf8(table.string(entry).unwrap().to_vec()).unwrap())
            .collect()
    };
    let value = |wanted: DynamicTag| {
        let found = table.iter().find(|entry| entry.tag == wanted);
        found.map(|entry| entry.val)
    };
    let name = strings(elf::DT_SONAME);
    require(name == [soname], || format!("SONAME {name:?}"))?;
    let needed = strings(elf::DT_NEEDED);
    require(needed == ["libc.so.6"], || format!("needs {needed:?}"))?;
    let flags = value(elf::DT_FLAGS).unwrap_or(0);
    let flags_1 = value(elf::DT_FLAGS_1).unwrap_or(0);
    require(flags_1 & elf::DF_1_NODELETE.0 != 0, || {
        "not NODELETE".into()
    })?;
    require(flags_1 & elf::DF_1_NOW.0 != 0, || "not NOW".into())?;
    require(flags & elf::DF_BIND_NOW.0 != 0, || "not BIND_NOW".into())?;
    require(flags & elf::DF_SYMBOLIC.0 != 0, || "not SYMBOLIC".into())?;
    let text_relocations = value(elf::DT_TEXTREL).is_some() || flags & elf::DF_TEXTREL.0 != 0;
    require(!text_relocations, || "has text relocations".into())?;
    for (tag, what) in [
        (elf::DT_RPATH, "an RPATH"),
        (elf::DT_RUNPATH, "a RUNPATH"),
        (elf::DT_INIT, "an init function"),
        (elf::DT_FINI, "a fini function"),
        (elf::DT_INIT_ARRAY, "constructors"),
        (elf::DT_FINI_ARRAY, "destructors"),
    ] {
        require(value(tag).is_none(), || format!("has {what}"))?;
    }
    for (_, section) in sections.enumerate() {
        let name = sections.section_name(endian, section).unwrap();
        let name = String::from_utf8_lossy(name);
        let is_of_build = [".symtab", ".debug_", ".comment"]
            .iter()
            .any(|start| name.starts_with(start));
        require(!is_of_build, || format!("{name} is not stripped"))?;
    }
    let segments = header.program_headers(endian, &*data).unwrap();
    let segment = |wanted| {
        let mut found = segments
            .iter()
            .filter(|segment| segment.p_type(endian) == wanted);
        found.next()
    };
    let stack = segment(elf::PT_GNU_STACK).map(|segment| segment.p_flags(endian));
    require(
        stack.is_some_and(|flags| flags.0 & elf::PF_X.0 == 0),
        || format!("the stack may be executed: {stack:?}"),
    )?;
    let both = elf::PF_W.0 | elf::PF_X.0;
    let mixed = segments
        .iter()
        .any(|segment| segment.p_flags(endian).0 & both == both);
    require(!mixed, || "a segment is writable and executable".into())?;

    // What ld.so makes read-only: whole pages, the last one only if it is full.
    let relro = segment(elf::PT_GNU_RELRO).map(|segment| {
        let start = segment.p_vaddr(endian);
        start..(start + segment.p_memsz(endian)) / PAGE * PAGE
    });
    let relro = relro.ok_or("no RELRO")?;
    let covers = |start: u64, size: u64| relro.start <= start && start + size <= relro.end;
    for (_, section) in sections.enumerate() {
        let name = sections.section_name(endian, section).unwrap();
        let name = String::from_utf8_lossy(name);
        let is_table = [".dynamic", ".got", ".data.rel.ro"]
            .iter()
            .any(|start| name.starts_with(start));
        if is_table {
            let covered = covers(section.sh_addr(endian), section.sh_size(endian));
            require(covered, || format!("RELRO does not cover {name}"))?;
        }
    }
    let dynamic = segment(elf::PT_DYNAMIC).unwrap();
    let covered = covers(dynamic.p_vaddr(endian), dynamic.p_memsz(endian));
    require(covered, || "RELRO does not cover the dynamic table".into())?;
    // Whatever ld.so writes to is below it, but for the slots, which are bound later.
    let slots = sections
        .section_by_name(endian, b".hiplazy.slots")
        .map(|(_, section)| {
            let start = section.sh_addr(endian);
            start..start + section.sh_size(endian)
        });
    let slots = slots.ok_or("no section of slots")?;
    for (_, section) in sections.enumerate() {
        let Some((relocations, _)) = section.rela(endian, &*data).unwrap() else {
            continue;
        };
        for relocation in relocations {
            let at = relocation.r_offset(endian);
            require(covers(at, 8) || slots.contains(&at), || {
                format!("RELRO does not cover the relocated word at {at:#x}")
            })?;
        }
    }
    Ok(())
}

/// The archive is one object that defines exactly `names` for others, all hidden and weak,
/// refers to none of them itself, and has nothing of Rust's standard library, no panic and
/// no debug information.
pub fn archive_is_closed(path: &Path, names: &BTreeSet<String>) -> Checked {
    let data = fs::read(path).unwrap();
    let archive = ArchiveFile::parse(&*data).unwrap();
    let members: Vec<_> = archive.members().map(|member| member.unwrap()).collect();
    require(members.len() == 1, || format!("{} members", members.len()))?;
    let object = ElfFile64::<Endianness>::parse(members[0].data(&*data).unwrap()).unwrap();
    require(matches!(object.flags(), FileFlags::Elf { .. }), || {
        "not an ELF object".into()
    })?;
    let mut defined = BTreeSet::new();
    let mut mentioned = BTreeSet::new();
    for symbol in object.symbols() {
        let name = symbol.name().unwrap().to_string();
        if symbol.is_definition() && symbol.is_global() {
            let visibility = symbol.elf_symbol().st_visibility();
            require(visibility == elf::STV_HIDDEN, || {
                format!("{name} is not hidden")
            })?;
            // A second object that has them too is then no error.
            require(symbol.is_weak(), || format!("{name} is not weak"))?;
            defined.insert(name.clone());
        }
        // What is wanted of libc must be there; the consumer's record need not.
        if symbol.is_undefined() && symbol.is_weak() && symbol.index().0 != 0 {
            let optional = name.ends_with("consumer_hip_version");
            require(optional, || {
                format!("{name} is a weak reference: it may end as null")
            })?;
        }
        mentioned.insert(name);
    }
    same("global symbols", &defined, names)?;
    // Another object's definition may come in the place of these.
    for section in object.sections() {
        for (_, relocation) in section.relocations() {
            let RelocationTarget::Symbol(index) = relocation.target() else {
                continue;
            };
            let symbol = object.symbol_by_index(index).unwrap();
            let name = symbol.name().unwrap();
            require(!defined.contains(name), || {
                format!("{} refers to {name}", section.name().unwrap())
            })?;
        }
    }
    for section in object.sections() {
        mentioned.insert(section.name().unwrap().to_string());
    }
    for name in &mentioned {
        for word in [
            "panic",
            "rust_begin_unwind",
            "_Unwind",
            "3std",
            ".debug_",
            ".comment",
            "__rust_alloc",
        ] {
            require(!name.contains(word), || format!("{name} is in the archive"))?;
        }
    }
    let stack = object.section_by_name(".note.GNU-stack");
    require(stack.is_some(), || "asks for an executable stack".into())
}
