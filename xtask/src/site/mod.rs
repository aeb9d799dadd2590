//! The small `site-packages` folder that `docs/doctor.md` looks at: every symptom of the
//! page, without a GPU. What it holds is real where that matters (TileLang's own stub,
//! two copies of HIP 7.14) and otherwise a few lines of C and Python beside this file.

use std::env;
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use fakehip::{Library, Version};

use crate::fetch::{self, Missing};

/// What the libraries and programs of the folder are made of.
const SOURCES: [(&str, &str); 6] = [
    ("extension.c", include_str!("extension.c")),
    ("advise.c", include_str!("advise.c")),
    ("unlinked.c", include_str!("unlinked.c")),
    ("logging.c", include_str!("logging.c")),
    ("generator.c", include_str!("generator.c")),
    ("compiler.c", include_str!("compiler.c")),
];

/// The programs that are started from the folder.
const PROGRAMS: [(&str, &str); 4] = [
    ("waiting.py", include_str!("waiting.py")),
    ("serve.py", include_str!("serve.py")),
    ("two.py", include_str!("two.py")),
    ("logging_twice.py", include_str!("logging_twice.py")),
];

/// Makes the folder; gives what could not be fetched, and is left out.
///
/// # Errors
///
/// The C compiler failed or a file could not be written.
pub fn make(folder: &Path) -> Result<Vec<Missing>, Box<dyn std::error::Error>> {
    for inner in [
        "src",
        "tilelang/lib",
        "tvm_ffi/lib",
        "torch/lib",
        "older",
        "extension",
        "mori",
        "rocm",
    ] {
        let inner = folder.join(inner);
        fs::create_dir_all(&inner)
            .map_err(|error| format!("cannot create {}: {error}", inner.display()))?;
    }
    for (name, text) in SOURCES {
        fs::write(folder.join("src").join(name), text)?;
    }
    for (name, text) in PROGRAMS {
        fs::write(folder.join(name), text)?;
    }
    fakehip::build(&folder.join("torch/lib"), &[Library::hip(Version::V7_14)])?;
    // TileLang's stub asks for this name, and looks in this folder first. Otherwise it might
    // find another runtime on the machine.
    link(
        "../../torch/lib/libamdhip64.so.7",
        &folder.join("tvm_ffi/lib/libamdhip64.so"),
    )?;
    fakehip::build(&folder.join("older"), &[Library::hip(Version::V7_0)])?;
    let runtime = [
        "-L",
        "torch/lib",
        "-l:libamdhip64.so.7",
        "-Wl,-rpath,$ORIGIN/../torch/lib",
    ];
    // As an extension is linked that leaves it to its users to find a runtime.
    let found = ["-L", "torch/lib", "-l:libamdhip64.so.7"];
    let generator = ["-Wl,-soname,librocroller.so", "-Wl,--no-as-needed"];
    let compiler = [
        "-Wl,-soname,libamd_comgr.so.3",
        "-L",
        "rocm",
        "-l:librocroller.so",
        "-Wl,-rpath,$ORIGIN",
    ];
    for (output, sources, arguments) in [
        ("extension/_C.so", &["extension.c"][..], &runtime[..]),
        ("extension/_advise.so", &["advise.c"], &found),
        ("extension/_unlinked.so", &["unlinked.c"], &[]),
        ("mori/_C.so", &["logging.c"], &[]),
        (
            "rocm/librocroller.so",
            &["generator.c", "logging.c"],
            &generator,
        ),
        ("rocm/libamd_comgr.so.3", &["compiler.c"], &compiler),
    ] {
        compile(folder, output, sources, arguments)?;
    }
    let mut missing = Vec::new();
    match fetch::tilelang_0_1_10() {
        Ok(real) => {
            let stub = "libhip_stub.so";
            let to = folder.join("tilelang/lib").join(stub);
            remove(&to)?;
            fs::copy(real.join(stub), &to)
                .map_err(|error| format!("cannot write {}: {error}", to.display()))?;
        }
        Err(why) => missing.push(why),
    }
    let copies = [
        ("one.libs", fetch::runtime_7_14 as fn() -> _),
        ("other.libs", fetch::runtime_7_14_copy),
    ];
    for (name, fetch) in copies {
        match fetch() {
            Ok(runtime) => bring_all(&runtime, &folder.join(name))?,
            Err(why) => missing.push(why),
        }
    }
    Ok(missing)
}

fn compile(
    folder: &Path,
    output: &str,
    sources: &[&str],
    arguments: &[&str],
) -> Result<(), String> {
    let compiler = env::var_os("CC").unwrap_or_else(|| "cc".into());
    let mut command = Command::new(&compiler);
    command.current_dir(folder);
    // Some distributions' compilers leave what looks unneeded out, or bind at load.
    command.args(["-O2", "-Wall", "-Wextra", "-shared", "-fPIC", "-Wl,-z,lazy"]);
    command.args(["-o", output]);
    command.args(sources.iter().map(|source| format!("src/{source}")));
    let done = command.args(arguments).output().map_err(|error| {
        let compiler = compiler.display();
        format!("cannot start {compiler}: {error}; a C compiler is needed, CC names it")
    })?;
    if done.status.success() {
        Ok(())
    } else {
        let said = String::from_utf8_lossy(&done.stderr);
        Err(format!("cannot build {output}: {command:?}: {said}"))
    }
}

/// A runtime with all that lies beside it: it finds its own libraries there.
fn bring_all(runtime: &Path, folder: &Path) -> Result<(), Box<dyn std::error::Error>> {
    fs::create_dir_all(folder)?;
    let from = runtime.parent().unwrap_or(runtime);
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        if entry.path().is_file() {
            bring(&entry.path(), &folder.join(entry.file_name()))?;
        }
    }
    Ok(())
}

fn link(target: &str, to: &Path) -> Result<(), String> {
    remove(to)?;
    symlink(target, to).map_err(|error| format!("cannot create {}: {error}", to.display()))
}

fn remove(file: &Path) -> Result<(), String> {
    match fs::remove_file(file) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(format!("cannot replace {}: {error}", file.display()))
        }
        _ => Ok(()),
    }
}

/// A second name for a file of the cache, or a copy if the folder is on another disk.
/// Not a symbolic link: a process would show the cache's path.
fn bring(from: &Path, to: &Path) -> Result<(), String> {
    let from: PathBuf = fs::canonicalize(from).unwrap_or_else(|_| from.into());
    remove(to)?;
    if fs::hard_link(&from, to).is_ok() {
        return Ok(());
    }
    let copied = fs::copy(&from, to);
    copied.map(drop).map_err(|error| {
        format!(
            "cannot copy {} to {}: {error}",
            from.display(),
            to.display()
        )
    })
}
