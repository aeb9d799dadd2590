//! An archive that brings its own names and no others.

use std::error::Error;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use super::names::{BUILT_PREFIX, Names, RECORD};
use super::symbols;
use super::tools::Tools;

/// One object of all that the built archive `library` needs, in which only `wrappers`
/// and the control functions are global, under their installed names.
///
/// Cargo's archive has the whole of Rust's compiler support beside it, in global
/// symbols that every Rust static library has, and global symbols of its own between
/// its objects. As one object, all of that is local; and what stays global is weak, so
/// that an object that is linked for one function which the others lack is no second
/// definition of the rest. Any number of them, of whatever builds, and any other Rust
/// library, go into one binary. Each wrapper jumps through the table of its own object,
/// which it refers to by a local name.
pub(super) fn object(
    tools: &Tools,
    library: &Path,
    names: &Names,
    wrappers: Vec<String>,
    work: &Path,
) -> Result<PathBuf, Box<dyn Error>> {
    let stem = library.with_extension("");
    let stem = stem.file_name().unwrap_or_default().to_string_lossy();
    let file = |ending: &str| work.join(format!("{stem}{ending}"));

    // The linker takes from the archive what it needs for this one function, which is
    // the object of ours and whatever that refers to.
    let merged = file("-merged.o");
    let anchor = format!("-Wl,-u,{BUILT_PREFIX}load");
    tools.cc([
        "-nostdlib".as_ref(),
        "-r".as_ref(),
        "-o".as_ref(),
        merged.as_os_str(),
        anchor.as_ref(),
        library.as_os_str(),
    ])?;

    let mut built = Names::control()?;
    built.extend(wrappers);
    let defined = symbols::defined(&fs::read(&merged)?)
        .map_err(|error| format!("{}: {error}", merged.display()))?;
    if let Some(missing) = built.iter().find(|name| !defined.contains(*name)) {
        return Err(format!(
            "{} does not define {missing}: the library and the manifest differ",
            library.display()
        )
        .into());
    }

    let installed = |name: &String| format!("{}\n", names.installed(name));
    let keep = file("-keep.txt");
    fs::write(&keep, built.iter().map(installed).collect::<String>())?;
    let record = format!("{BUILT_PREFIX}{RECORD}");
    let renamed: String = built
        .iter()
        .chain([&record])
        .map(|name| (name, names.installed(name)))
        .filter(|(name, installed)| *name != installed)
        .map(|(name, installed)| format!("{name} {installed}\n"))
        .collect();
    let rename = file("-rename.txt");
    fs::write(&rename, renamed)?;

    let named = file("-named.o");
    tools.objcopy([
        option("--redefine-syms=", &rename).as_os_str(),
        merged.as_os_str(),
        named.as_os_str(),
    ])?;
    // In a second run: what is kept is looked up by the new name.
    let object = work.join(format!(
        "{}{}.o",
        names.name(),
        stem.strip_prefix("libhiplazy").unwrap_or_default()
    ));
    tools.objcopy([
        option("--keep-global-symbols=", &keep).as_os_str(),
        // Not --weaken, which makes what is wanted of libc optional as well.
        option("--weaken-symbols=", &keep).as_os_str(),
        // Nobody's business, and the only place of paths of the build.
        "--strip-unneeded".as_ref(),
        "--strip-debug".as_ref(),
        "--remove-section=.comment".as_ref(),
        named.as_os_str(),
        object.as_os_str(),
    ])?;
    Ok(object)
}

fn option(name: &str, value: &Path) -> OsString {
    let mut option = OsString::from(name);
    option.push(value);
    option
}

/// The archive of one object.
pub(super) fn write(tools: &Tools, object: &Path, archive: &Path) -> Result<(), String> {
    // D: no dates and owners, so that every run gives the same bytes.
    tools.ar(["rcsD".as_ref(), archive.as_os_str(), object.as_os_str()])
}
