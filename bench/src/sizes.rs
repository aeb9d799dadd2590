//! How many bytes hiplazy adds.

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;
use std::{env, fs};

use anyhow::{Context, Result};
use hiplazy_abi::{CONTROL_FUNCTIONS, SLOTS_TXT, parse_slots};
use serde::Serialize;

use crate::Folder;
use crate::build::{compile, run};

/// Sizes in bytes.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Sizes {
    /// `libhiplazy.so` as cargo builds it.
    pub shared: u64,
    /// The same without symbol table and debug information.
    pub shared_stripped: u64,
    /// By how much a stripped extension grows that calls one function of
    /// `libhiplazy.a`.
    pub growth_one: u64,
    /// The same for an extension linked with `--gc-sections`.
    pub growth_one_collected: u64,
    /// By how much a stripped extension grows that has every wrapper and control
    /// function of `libhiplazy.a` in it.
    pub growth_all: u64,
    /// How many entries that is.
    pub entries: usize,
}

/// Builds and strips what is to be compared.
///
/// # Errors
///
/// The compiler's or strip's output.
pub fn measure(folder: &Folder) -> Result<Sizes> {
    let place = folder.path().join("sizes");
    fs::create_dir_all(&place).with_context(|| format!("cannot create {}", place.display()))?;
    let names = wrappers()?;
    let archive = OsString::from(folder.static_library());
    let extension = |name: &str, arguments: Vec<OsString>| -> Result<u64> {
        let file = place.join(name);
        let mut all: Vec<OsString> = ["-shared", "-fPIC", "-Wl,-z,defs"]
            .map(OsString::from)
            .to_vec();
        all.extend(arguments);
        all.extend(["-Wl,--as-needed", "-ldl"].map(OsString::from));
        compile(&["extension.c"], &file, &all)?;
        stripped(&file)
    };
    let collect = OsString::from("-Wl,--gc-sections");
    let calls = OsString::from("-DEXTENSION_CALLS");
    let empty = extension("empty.so", vec![])?;
    let empty_collected = extension("empty_collected.so", vec![collect.clone()])?;
    let one = extension("one.so", vec![calls.clone(), archive.clone()])?;
    let one_collected = extension("one_collected.so", vec![collect, calls, archive.clone()])?;
    // As roots of the link, not as a table of addresses: that would be the caller's own.
    let roots = names.iter().map(|name| format!("-Wl,-u,{name}").into());
    let all = extension("all.so", roots.chain([archive]).collect())?;
    let shared_stripped = {
        let file = place.join("libhiplazy.so");
        fs::copy(folder.shared_library(), &file)?;
        stripped(&file)?
    };
    Ok(Sizes {
        shared: size(&folder.shared_library())?,
        shared_stripped,
        growth_one: one.saturating_sub(empty),
        growth_one_collected: one_collected.saturating_sub(empty_collected),
        growth_all: all.saturating_sub(empty),
        entries: names.len(),
    })
}

/// The names of all wrappers and control functions.
fn wrappers() -> Result<Vec<String>> {
    let slots = parse_slots(SLOTS_TXT)
        .map_err(|error| anyhow::anyhow!("the slot table's order cannot be read: {error}"))?;
    let names = slots.entries().iter().map(String::as_str);
    Ok(names
        .chain(CONTROL_FUNCTIONS)
        .map(|name| format!("hiplazy_{name}"))
        .collect())
}

fn size(file: &Path) -> Result<u64> {
    let metadata = fs::metadata(file).with_context(|| format!("no {}", file.display()))?;
    Ok(metadata.len())
}

/// Strips the file and returns its size then.
fn stripped(file: &Path) -> Result<u64> {
    let strip = env::var_os("STRIP").unwrap_or_else(|| "strip".into());
    let mut command = Command::new(strip);
    command.arg("--strip-all").arg(file);
    run(&mut command, "strip is needed (binutils, or STRIP)")?;
    size(file)
}
