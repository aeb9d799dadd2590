//! What a built library exports and needs, read from its dynamic symbols.

#![allow(dead_code, unreachable_pub)]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use object::read::elf::{ElfFile64, FileHeader};
use object::read::{Object, ObjectSymbol};

/// Whether a name is one of HIP's or of ours. A consumer exports none of them.
pub fn is_hip(name: &str) -> bool {
    ["hip", "__hip", "hsa_", "hiplazy", "tl_"]
        .iter()
        .any(|prefix| name.starts_with(prefix))
}

/// The names that a library or program exports.
pub fn exports(path: &Path) -> BTreeSet<String> {
    dynamic(path, |symbol| symbol.is_definition())
}

/// The names that it leaves to the process.
pub fn undefined(path: &Path) -> BTreeSet<String> {
    dynamic(path, |symbol| symbol.is_undefined())
}

fn dynamic(
    path: &Path,
    wanted: impl Fn(&object::read::elf::ElfSymbol64<'_, '_>) -> bool,
) -> BTreeSet<String> {
    let data = fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let file: ElfFile64 = ElfFile64::parse(&*data).unwrap();
    file.dynamic_symbols()
        .filter(wanted)
        .map(|symbol| symbol.name().unwrap().to_string())
        .filter(|name| !name.is_empty())
        .collect()
}

/// The names that an object file refers to and does not define.
pub fn references(path: &Path) -> BTreeSet<String> {
    let data = fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let file: ElfFile64 = ElfFile64::parse(&*data).unwrap();
    file.symbols()
        .filter(|symbol| symbol.is_undefined())
        .map(|symbol| symbol.name().unwrap().to_string())
        .filter(|name| !name.is_empty())
        .collect()
}

/// The SONAMEs that it needs.
pub fn needed(path: &Path) -> BTreeSet<String> {
    let data = fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let file: ElfFile64 = ElfFile64::parse(&*data).unwrap();
    let (endian, data) = (file.endian(), file.data());
    let sections = file.elf_header().sections(endian, data).unwrap();
    let table = sections.dynamic_table(endian, data).unwrap();
    table
        .iter()
        .filter(|entry| entry.tag == object::elf::DT_NEEDED)
        .map(|entry| String::from_utf8(table.string(entry).unwrap().to_vec()).unwrap())
        .collect()
}
