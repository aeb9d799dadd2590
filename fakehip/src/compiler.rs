//! Runs the C compiler.

use std::env;
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

use crate::error::Error;

/// `-Werror`: the sources are meant to be clean with gcc and clang alike.
const COMPILE: &[&str] = &[
    "-std=gnu11",
    "-fPIC",
    "-fvisibility=hidden",
    "-Wall",
    "-Wextra",
    "-Werror",
    "-c",
];

/// `-Bsymbolic`: addresses that `hipGetProcAddress` gives out are the library's
/// own, whatever else the process has loaded. `nodelete`: threads may end, and
/// return their memory, after a `dlclose`.
const LINK: &[&str] = &[
    "-shared",
    "-fPIC",
    "-Wl,-z,defs",
    "-Wl,-z,nodelete",
    "-Wl,-Bsymbolic",
];

/// `$CC`, which may carry arguments, or `cc`.
fn command() -> (String, Vec<String>) {
    let text = env::var("CC").ok().filter(|cc| !cc.trim().is_empty());
    let mut words = text
        .as_deref()
        .unwrap_or("cc")
        .split_whitespace()
        .map(str::to_owned);
    (words.next().unwrap_or_else(|| "cc".into()), words.collect())
}

/// What objects depend on besides their sources.
pub(crate) fn identity() -> String {
    let (program, arguments) = command();
    format!("{program} {}", arguments.join(" "))
}

fn run(arguments: impl IntoIterator<Item = OsString>, folder: &Path) -> Result<(), Error> {
    let (program, first) = command();
    let mut command = Command::new(&program);
    command.args(first).args(arguments).current_dir(folder);
    let output = command.output().map_err(|source| Error::NoCompiler {
        compiler: program,
        source,
    })?;
    if output.status.success() {
        return Ok(());
    }
    Err(Error::Compiler {
        command: format!("{command:?}"),
        output: [output.stdout, output.stderr]
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            .concat(),
    })
}

/// Compiles a file; both names may be relative to `folder`.
pub(crate) fn compile(
    folder: &Path,
    source: &Path,
    object: &Path,
    options: &[String],
) -> Result<(), Error> {
    let arguments = COMPILE
        .iter()
        .map(OsString::from)
        .chain(options.iter().map(OsString::from))
        .chain([source.into(), "-o".into(), object.into()]);
    run(arguments, folder)
}

/// Compiles a file that is not ours: nothing about its warnings or visibility,
/// and `fakehip.h` to include.
pub(crate) fn compile_foreign(folder: &Path, source: &Path, object: &Path) -> Result<(), Error> {
    let arguments = ["-O2", "-fPIC", "-Iinclude", "-c"]
        .map(OsString::from)
        .into_iter()
        .chain([source.into(), "-o".into(), object.into()]);
    run(arguments, folder)
}

/// Links a shared object; the names are relative to `folder`.
pub(crate) fn link(
    folder: &Path,
    soname: &str,
    version_script: &str,
    objects: &[String],
    more: &[OsString],
    output: &Path,
) -> Result<(), Error> {
    let arguments = LINK
        .iter()
        .map(OsString::from)
        .chain([
            format!("-Wl,-soname,{soname}").into(),
            format!("-Wl,--version-script,{version_script}").into(),
        ])
        .chain(objects.iter().map(OsString::from))
        .chain(["-o".into(), output.into()])
        .chain(more.iter().cloned());
    run(arguments, folder)
}
