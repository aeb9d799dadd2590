//! The shared library, linked by the C compiler.

use std::error::Error;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::Path;

use super::names::Names;
use super::symbols;
use super::tools::Tools;

/// Links the archive's `object` into the shared library `output`, with everything that
/// it defines, but what only archives have, exported on the version node.
///
/// Not cargo's own cdylib: rustc's version script exports without a node and allows no
/// second script.
pub(super) fn link(
    tools: &Tools,
    object: &Path,
    names: &Names,
    work: &Path,
    output: &Path,
) -> Result<(), Box<dyn Error>> {
    let mut bytes = fs::read(object)?;
    let broken = |error| format!("{}: {error}", object.display());
    symbols::expose(&mut bytes).map_err(broken)?;
    let exports = symbols::defined(&bytes).map_err(broken)?;
    let exposed = work.join("exposed.o");
    fs::write(&exposed, bytes)?;

    let mut script = format!("{} {{\n  global:\n", names.node());
    for name in exports.iter().filter(|name| !names.is_for_archives(name)) {
        script += &format!("    {name};\n");
    }
    script += "  local:\n    *;\n};\n";
    let map = work.join("exports.map");
    fs::write(&map, script)?;

    let mut arguments: Vec<OsString> = [
        "-shared",
        // No start-up code: loading the library runs nothing.
        "-nostdlib",
        // All relocations at load, and read-only memory for what they wrote.
        "-Wl,-z,now,-z,relro,-z,text,-z,noexecstack",
        // Slots point into runtimes, and threads may be inside: never unloaded.
        "-Wl,-z,nodelete",
        // Calls inside the library cannot be interposed.
        "-Wl,-Bsymbolic",
        "-Wl,-z,defs",
        "-Wl,--gc-sections",
        // Local names and debug information.
        "-Wl,-s",
    ]
    .map(OsString::from)
    .to_vec();
    arguments.push(format!("-Wl,-soname,{}", names.soname()).into());
    let mut option = OsString::from("-Wl,--version-script=");
    option.push(&map);
    arguments.push(option);
    arguments.extend([OsStr::new("-o"), output.as_os_str(), exposed.as_os_str()].map(Into::into));
    // dlopen and pthread keys are in libraries of their own before glibc 2.34.
    arguments.extend(["-Wl,--as-needed", "-lc", "-ldl", "-lpthread"].map(OsString::from));
    tools.cc(arguments)?;
    Ok(())
}
