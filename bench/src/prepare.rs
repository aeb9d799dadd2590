//! Builds everything that is measured.

use std::ffi::OsString;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io};

use anyhow::{Context, Result};
use hiplazy_abi::{FUNCTIONS_TXT, Library, parse_functions};

use crate::build::{artefacts, compile, named, target_folder};
use crate::calls::FakeRuntime;
use crate::{Folder, Variant};

/// What was built.
pub struct Prepared {
    /// Where it is.
    pub folder: Folder,
    /// Why the TileLang stub is not measured; `None` if it is.
    pub without_tilelang: Option<String>,
}

/// Builds hiplazy's C libraries (release), the fake HIP 7 runtime, the probes and all
/// variants; fetches the TileLang stub. `slowed` gets a delay in every call.
///
/// # Errors
///
/// The output of the compiler that failed. A stub that cannot be had is no error.
pub fn prepare(slowed: Option<Variant>) -> Result<Prepared> {
    let folder = Folder::create(&target_folder()?.join("hiplazy-bench"))?;
    let libraries = artefacts(&[
        "build",
        "--release",
        "--package=hiplazy-shared",
        "--package=hiplazy-static",
    ])?;
    copy(
        named(&libraries, "libhiplazy.so")?,
        &folder.shared_library(),
    )?;
    copy(named(&libraries, "libhiplazy.a")?, &folder.static_library())?;
    build_fake_runtime(&folder)?;
    compile(&["probe.c"], &folder.probe(), &["-ldl"])?;
    fs::write(folder.names(), names_and_nodes()?)?;

    let without_tilelang = match xtask::fetch::tilelang_0_1_10() {
        Ok(stub) => {
            let stub = fs::canonicalize(stub)?;
            symlink(stub, folder.tilelang_link()).context("cannot link the TileLang stub")?;
            None
        }
        Err(missing) => Some(missing.to_string()),
    };
    for variant in Variant::ALL {
        if variant != Variant::Tilelang || without_tilelang.is_none() {
            build_variant(&folder, variant, slowed == Some(variant))?;
        }
    }
    Ok(Prepared {
        folder,
        without_tilelang,
    })
}

/// The functions of libamdhip64 with their version nodes, as hiplazy looks them up.
fn names_and_nodes() -> Result<String> {
    let functions = parse_functions(FUNCTIONS_TXT)?;
    let lines = functions
        .iter()
        .filter(|function| function.library == Library::Hip)
        .map(|function| {
            let node = function.node.as_deref().unwrap_or("-");
            format!("{} {node}\n", function.name)
        });
    Ok(lines.collect())
}

/// The benchmark program of criterion, built.
///
/// In the dev profile: what is timed is C and the same in every profile, and
/// optimising the program around it would only take time.
///
/// # Errors
///
/// The compiler's output.
pub fn benchmark() -> Result<PathBuf> {
    let files = artefacts(&["build", "--package=hiplazy-bench", "--bench=dispatch"])?;
    files
        .into_iter()
        .rev()
        .find(|path| {
            path.file_name()
                .is_some_and(|name| name.to_string_lossy().starts_with("dispatch-"))
        })
        .context("cargo built no benchmark program")
}

/// [`Folder::command`] with the devices that the loops select.
pub fn measuring_command(folder: &Folder, program: &Path) -> Command {
    let mut command = folder.command(program);
    let (name, value) = FakeRuntime::DEVICES;
    command.env(name, value);
    command
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::copy(from, to)
        .map(drop)
        .with_context(|| format!("cannot copy {} to {}", from.display(), to.display()))
}

fn build_fake_runtime(folder: &Folder) -> Result<()> {
    let runtime = folder.fake_runtime();
    let parent = runtime.parent().unwrap_or(folder.path());
    fakehip::build(parent, &[fakehip::Library::hip(fakehip::Version::V7_14)])
        .context("cannot build the fake runtime")?;
    // The name that the TileLang stub asks for; ld.so sees that it is the same file.
    let unversioned = runtime.with_extension("");
    symlink("libamdhip64.so.7", &unversioned).or_else(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => Ok(()),
        _ => Err(error),
    })?;
    Ok(())
}

/// The measured loops, linked in the variant's way.
fn build_variant(folder: &Folder, variant: Variant, slowed: bool) -> Result<()> {
    // Aligned loops: a call by address is a byte longer than one by name, which would
    // otherwise put the rest of the loop on other cache lines.
    let mut arguments: Vec<OsString> = ["-shared", "-fPIC", "-Wl,-z,defs", "-falign-loops=64"]
        .map(OsString::from)
        .to_vec();
    if slowed {
        arguments.push("-DBENCH_SLOWED".into());
    }
    match variant {
        Variant::Direct => link_to(&mut arguments, &folder.fake_runtime()),
        Variant::Pointer => arguments.push("-DBENCH_POINTERS".into()),
        Variant::Shared => {
            arguments.push("-DBENCH_PREFIX".into());
            link_to(&mut arguments, &folder.shared_library());
        }
        Variant::Static => {
            arguments.push("-DBENCH_PREFIX".into());
            arguments.push(folder.static_library().into());
        }
        Variant::Tilelang => {
            arguments.push("-DBENCH_STUB".into());
            let stub = folder
                .tilelang()
                .context("the stub's folder has no libhip_stub.so")?;
            link_to(&mut arguments, &stub);
        }
    }
    // For C libraries older than glibc 2.34, where dlopen is in a library of its own.
    arguments.push("-Wl,--as-needed".into());
    arguments.push("-ldl".into());
    compile(
        &["calls.c", "check.c"],
        &folder.variant(variant),
        &arguments,
    )
    .with_context(|| format!("cannot build the variant \"{variant}\""))
}

/// Links to this very file: an RPATH, unlike a RUNPATH, comes before LD_LIBRARY_PATH.
fn link_to(arguments: &mut Vec<OsString>, library: &Path) {
    if let (Some(folder), Some(name)) = (library.parent(), library.file_name()) {
        let mut search = OsString::from("-L");
        search.push(folder);
        let mut link = OsString::from("-l:");
        link.push(name);
        let mut path = OsString::from("-Wl,--disable-new-dtags,-rpath,");
        path.push(folder);
        // The stub's own C++ libraries are ld.so's business, not the linker's.
        let unresolved = OsString::from("-Wl,--allow-shlib-undefined");
        arguments.extend([search, link, path, unresolved]);
    }
}
