//! What the tests share: the built libraries, the C compiler, and processes in an
//! environment that is the test's own.

#![allow(dead_code, unreachable_pub, missing_docs)]

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;
use std::{env, fs, process};

use object::Endianness;
use object::read::elf::ElfFile64;
use object::read::{Object, ObjectSymbol};
use xtask::fetch::Missing;

/// The repository.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A folder for one test's files, empty at first.
pub fn scratch(test: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// The release build of the C libraries: `libhiplazy.so` and `libhiplazy.a`.
pub fn libraries() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| build_libraries("libraries", None, &[]))
}

/// The same with the typed wrappers and cold paths of other processors.
pub fn typed_libraries() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| build_libraries("typed", Some("--cfg hiplazy_typed"), &[]))
}

/// The same without the cargo feature `env`.
pub fn libraries_without_env() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| build_libraries("without-env", None, &["--no-default-features"]))
}

fn build_libraries(name: &str, flags: Option<&str>, arguments: &[&str]) -> PathBuf {
    // A target folder of their own: cargo may hold the lock of the tests' one.
    let target = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("artefacts")
        .join(name);
    let mut cargo = Command::new(env!("CARGO"));
    cargo
        .current_dir(root())
        .args([
            "build",
            "--release",
            "--locked",
            "-p",
            "hiplazy-shared",
            "-p",
            "hiplazy-static",
        ])
        .args(arguments)
        .arg("--target-dir")
        .arg(&target);
    if let Some(flags) = flags {
        cargo.env("RUSTFLAGS", flags);
    }
    run(&mut cargo);
    target.join("release")
}

/// Runs to success, or fails with all that was printed.
#[track_caller]
pub fn run(command: &mut Command) -> String {
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let text = text_of(&output);
    assert!(
        output.status.success(),
        "{command:?}: {}\n{text}",
        output.status
    );
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Standard output and error of a process, for messages.
pub fn text_of(output: &Output) -> String {
    format!(
        "--- stdout\n{}--- stderr\n{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

/// Compiles C (or, by its ending, C++) with warnings as errors: sources relative to
/// `tests/c`, then further arguments as they are.
#[track_caller]
pub fn cc<S: AsRef<OsStr>>(sources: &[&str], output: &Path, arguments: &[S]) {
    let cplusplus = sources.iter().any(|source| source.ends_with(".cpp"));
    let (variable, default) = if cplusplus {
        ("CXX", "c++")
    } else {
        ("CC", "cc")
    };
    let compiler = env::var_os(variable).unwrap_or_else(|| default.into());
    let mut command = Command::new(compiler);
    command.args(["-O2", "-g", "-Wall", "-Wextra", "-Werror", "-pthread", "-I"]);
    command.arg(root().join("include")).arg("-o").arg(output);
    command.args(
        sources
            .iter()
            .map(|source| root().join("tests/c").join(source)),
    );
    command.args(arguments);
    run(&mut command);
}

/// The library that keeps the machine's own ROCm out of a test process.
fn fence() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fence");
        fs::create_dir_all(&folder).unwrap();
        let library = folder.join(format!("fence-{}.so", process::id()));
        cc(&["fence.c"], &library, &["-shared", "-fPIC", "-ldl"]);
        library
    })
}

/// A process without the environment of this one, in which only runtimes below
/// `allowed` can be opened.
pub fn fenced(program: &Path, allowed: &[&Path]) -> Command {
    let mut command = clean(program);
    command.env("LD_PRELOAD", fence());
    // The fence compares real paths, and the cache may lie behind a link.
    let real = allowed
        .iter()
        .map(|folder| fs::canonicalize(folder).unwrap_or_else(|_| folder.into()));
    command.env("FENCE_ALLOW", env::join_paths(real).unwrap());
    command
}

/// Has `command` preload `library` as well.
pub fn preload(command: &mut Command, library: &Path) {
    let before = command.get_envs().find(|(name, _)| *name == "LD_PRELOAD");
    let mut value = before
        .and_then(|(_, value)| value)
        .map_or_else(OsString::new, OsString::from);
    if !value.is_empty() {
        value.push(":");
    }
    value.push(library);
    command.env("LD_PRELOAD", value);
}

/// A process without the environment of this one.
pub fn clean(program: &Path) -> Command {
    let mut command = Command::new(program);
    command.env_clear();
    for kept in ["PATH", "HOME", "TMPDIR", "LLVM_PROFILE_FILE"] {
        if let Some(value) = env::var_os(kept) {
            command.env(kept, value);
        }
    }
    command
}

/// A line that is seen although the test passes: the test harness keeps what
/// `eprintln!` prints to itself.
pub fn say(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}

/// Says that a test, or a part of one, could not run here, and why; `cargo xtask
/// test` counts these.
pub fn skip(what: &str, why: &str) {
    say(&format!("SKIPPED {what}: {why}"));
    if let Some(file) = env::var_os("HIPLAZY_SKIPS") {
        let opened = fs::OpenOptions::new().create(true).append(true).open(file);
        let line = format!("{what}: {}\n", why.replace('\n', " "));
        opened
            .and_then(|mut file| file.write_all(line.as_bytes()))
            .unwrap();
    }
}

/// A real thing that one test has fetched for all of its file.
pub type Fetched = OnceLock<Result<PathBuf, Missing>>;

/// The real thing, or a visible skip.
pub fn there(
    what: &str,
    fetched: &'static Fetched,
    fetch: fn() -> Result<PathBuf, Missing>,
) -> Option<&'static Path> {
    let path = fetched.get_or_init(fetch).as_deref();
    path.map_err(|missing| skip(what, &missing.to_string()))
        .ok()
}

/// The names that a shared library exports.
#[track_caller]
pub fn exports(library: &Path) -> BTreeSet<String> {
    let data = fs::read(library).unwrap();
    let file = ElfFile64::<Endianness>::parse(&*data).unwrap();
    let symbols = file
        .dynamic_symbols()
        .filter(|symbol| symbol.is_definition());
    symbols
        .map(|symbol| symbol.name().unwrap().to_string())
        .collect()
}
