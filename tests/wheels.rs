//! What published Python wheels need of HIP, linked against the drop-in archive.
//!
//! `abi/clients/undefined.txt` has the undefined HIP symbols of 25 wheels. For each
//! wheel a client with exactly those is linked against `libhiplazy_dropin.a`, with
//! `-z defs`: a name that the archive lacks fails the link.

mod common;
#[path = "consumers/elf.rs"]
mod elf;
#[allow(dead_code)]
#[path = "install/installed.rs"]
mod installed;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::{say, scratch, text_of};

const TABLE: &str = include_str!("../abi/clients/undefined.txt");

/// Link names by wheel. The nodes tell what the wheels were linked with; a client
/// that is compiled anew asks for none.
fn wheels() -> BTreeMap<&'static str, BTreeSet<&'static str>> {
    let mut wheels = BTreeMap::<_, BTreeSet<_>>::new();
    let rows = TABLE
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    for row in rows {
        let columns: Vec<&str> = row.split(" | ").collect();
        let [wheel, _node, names] = columns[..] else {
            panic!("not \"wheel | node | link names\": {row}");
        };
        wheels
            .entry(wheel)
            .or_default()
            .extend(names.split_whitespace());
    }
    wheels
}

/// The source of a library that refers to all `names` and exports its table of them.
fn client_source(names: &BTreeSet<&str>) -> String {
    let mut source = String::new();
    for name in names {
        writeln!(source, "void {name}(void);").unwrap();
    }
    source.push_str("void (*const client[])(void) = {\n");
    for name in names {
        writeln!(source, "    {name},").unwrap();
    }
    source.push_str("};\n");
    source
}

/// Links a client of `names` against `archive`, or gives what the linker said.
fn link(
    folder: &Path,
    wheel: &str,
    names: &BTreeSet<&str>,
    archive: &Path,
) -> Result<PathBuf, String> {
    let source = folder.join(format!("{wheel}.c"));
    fs::write(&source, client_source(names)).unwrap();
    let library = folder.join(format!("{wheel}.so"));
    let compiler = std::env::var_os("CC").unwrap_or_else(|| OsString::from("cc"));
    let output = Command::new(compiler)
        .args(["-shared", "-fPIC", "-Wl,-z,defs", "-o"])
        .arg(&library)
        .args([&source, archive])
        .output()
        .unwrap();
    match output.status.success() {
        true => Ok(library),
        false => Err(text_of(&output)),
    }
}

#[test]
fn the_table_has_25_wheels() {
    let wheels = wheels();
    assert_eq!(wheels.len(), 25);
    for (wheel, names) in &wheels {
        let others: Vec<&&str> = names
            .iter()
            .filter(|name| !elf::is_hip(name) || name.starts_with("hiplazy_"))
            .collect();
        assert!(others.is_empty(), "{wheel}: {others:?}");
    }
}

#[test]
fn the_drop_in_archive_has_every_symbol_that_25_wheels_need() {
    let folder = scratch("wheels");
    let archive = installed::hiplazy().join("lib/libhiplazy_dropin.a");
    let wheels = wheels();
    let (mut needed, mut resolved) = (0, 0);
    let mut failures = String::new();
    for (wheel, names) in &wheels {
        needed += names.len();
        let library = match link(&folder, wheel, names, &archive) {
            Ok(library) => library,
            Err(text) => {
                writeln!(failures, "{wheel}:\n{text}").unwrap();
                continue;
            }
        };
        assert_eq!(
            elf::exports(&library),
            BTreeSet::from(["client".to_string()]),
            "{wheel} exports its own table alone"
        );
        let undefined = elf::undefined(&library);
        let left: Vec<&String> = undefined.iter().filter(|name| elf::is_hip(name)).collect();
        assert!(left.is_empty(), "{wheel}: {left:?} are left to the process");
        resolved += names.len();
    }
    let distinct: BTreeSet<&str> = wheels.values().flatten().copied().collect();
    say(&format!(
        "{resolved} of {needed} undefined HIP symbols of {} wheels resolve ({} distinct names)",
        wheels.len(),
        distinct.len()
    ));
    assert!(failures.is_empty(), "{failures}");
    assert_eq!(resolved, needed);
}

/// Without this the test above could pass because nothing was checked.
#[test]
fn a_name_that_hip_has_not_fails_the_link() {
    let folder = scratch("wheels-negative");
    let archive = installed::hiplazy().join("lib/libhiplazy_dropin.a");
    let names = BTreeSet::from(["hipMalloc", "hipNobodyHasThis"]);
    let said = link(&folder, "negative", &names, &archive).unwrap_err();
    assert!(said.contains("hipNobodyHasThis"), "{said}");
    assert!(!said.contains("`hipMalloc'"), "{said}");
}
