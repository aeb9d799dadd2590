//! Real things to build and test against, in a cache that later runs reuse.
//!
//! Everything comes from the ordinary package clients: pip, apt, cargo. Nothing
//! needs root. Each thing has a folder of its own in the cache; it is filled
//! beside its place and renamed when it is complete, under a lock, so that two
//! processes may ask at once. The cache is `$HIPLAZY_CACHE`, else
//! `$XDG_CACHE_HOME/hiplazy`, else `~/.cache/hiplazy`.

mod cargo;
mod command;
mod debian;
mod missing;
mod pip;
mod store;
mod tools;

use std::path::{Path, PathBuf};

pub use missing::Missing;
pub use store::cache;
pub use tools::{TOOLS, Tool, tool, tools};

/// A thing that can be fetched.
pub struct Thing {
    /// The name on the command line and of the folder in the cache.
    pub name: &'static str,
    /// What it is.
    pub what: &'static str,
    /// Where it comes from.
    pub from: &'static str,
    get: fn() -> Result<PathBuf, Missing>,
}

/// Everything that [`fetch`] knows.
pub const THINGS: &[Thing] = &[
    Thing {
        name: "libclang-18.1.1",
        what: "libclang, the folder that holds libclang.so",
        from: "pip libclang",
        get: libclang,
    },
    Thing {
        name: "runtime-7.14",
        what: "HIP runtime 7.14.60850 with libhiprtc beside it",
        from: "pip vapoursynth-dfttest2-hip",
        get: runtime_7_14,
    },
    Thing {
        name: "runtime-7.14-copy",
        what: "a second copy of HIP runtime 7.14.60850, without libhiprtc",
        from: "pip vapoursynth-bm3dhip",
        get: runtime_7_14_copy,
    },
    Thing {
        name: "runtime-5.2",
        what: "HIP runtime 5.2.3",
        from: "Debian bookworm libamdhip64-5",
        get: runtime_5_2,
    },
    Thing {
        name: "runtime-5.7",
        what: "HIP runtime 5.7.1 with a C library of its age",
        from: "Debian trixie libamdhip64-5",
        get: || debian::runtime(&debian::V5_7),
    },
    Thing {
        name: "runtime-6.4",
        what: "HIP runtime 6.4.3 with a C library of its age",
        from: "Debian sid libamdhip64-6",
        get: || debian::runtime(&debian::V6_4),
    },
    Thing {
        name: "runtime-7.2",
        what: "HIP runtime 7.2.4 with a C library of its age",
        from: "Debian experimental libamdhip64-7",
        get: || debian::runtime(&debian::V7_2),
    },
    Thing {
        name: "headers-7.1",
        what: "HIP 7.1 headers, the ones the manifest is written from",
        from: "pip triton 3.6.0",
        get: headers_7_1,
    },
    Thing {
        name: "headers-5.2",
        what: "HIP 5.2.3 headers",
        from: "Debian bookworm libamdhip64-dev",
        get: headers_5_2,
    },
    Thing {
        name: "headers-6.1",
        what: "HIP 6.1 headers",
        from: "pip triton 3.2.0",
        get: || pip::headers("headers-6.1", "triton==3.2.0"),
    },
    Thing {
        name: "headers-6.2",
        what: "HIP 6.2 headers",
        from: "pip triton 3.5.0",
        get: || pip::headers("headers-6.2", "triton==3.5.0"),
    },
    Thing {
        name: "headers-5.7",
        what: "HIP 5.7.1 headers",
        from: "Debian trixie libamdhip64-dev",
        get: || debian::headers(&debian::V5_7),
    },
    Thing {
        name: "headers-6.4",
        what: "HIP 6.4.3 headers",
        from: "Debian sid libamdhip64-dev",
        get: || debian::headers(&debian::V6_4),
    },
    Thing {
        name: "headers-7.2",
        what: "HIP 7.2.4 headers",
        from: "Debian experimental libamdhip64-dev",
        get: || debian::headers(&debian::V7_2),
    },
    Thing {
        name: "declarations-7.14",
        what: "Rust declarations of HIP 6.2 to 7.14",
        from: "crate cubecl-hip-sys",
        get: cargo::bindings,
    },
    Thing {
        name: "tilelang-0.1.10",
        what: "TileLang's stubs with both faults, and its TVM runtime",
        from: "pip tilelang 0.1.10",
        get: tilelang_0_1_10,
    },
    Thing {
        name: "tilelang-0.1.10-wheel",
        what: "the whole wheel of TileLang 0.1.10",
        from: "pip tilelang 0.1.10",
        get: tilelang_0_1_10_wheel,
    },
    Thing {
        name: "tilelang-0.1.15",
        what: "TileLang's newest stubs, and its TVM runtime",
        from: "pip tilelang 0.1.15",
        get: tilelang_0_1_15,
    },
];

/// Header sets: HIP version (major, minor), name in [`THINGS`], and whether only
/// `cargo xtask abi --check --all` asks for it.
pub const HEADERS: &[((u32, u32), &str, bool)] = &[
    ((5, 2), "headers-5.2", false),
    ((7, 1), "headers-7.1", false),
    ((5, 7), "headers-5.7", true),
    ((6, 1), "headers-6.1", true),
    ((6, 2), "headers-6.2", true),
    ((6, 4), "headers-6.4", true),
    ((7, 2), "headers-7.2", true),
];

/// Fetches a thing by its name in [`THINGS`].
///
/// # Errors
///
/// What was tried and why it failed, or that the name is unknown.
pub fn fetch(name: &str) -> Result<PathBuf, Missing> {
    match THINGS.iter().find(|thing| thing.name == name) {
        Some(thing) => (thing.get)(),
        None => {
            let names: Vec<&str> = THINGS.iter().map(|thing| thing.name).collect();
            Err(Missing::new(
                name,
                format!("the known things are {}", names.join(", ")),
            ))
        }
    }
}

/// The folder that holds `libclang.so` 18, for `LIBCLANG_PATH`.
///
/// # Errors
///
/// What was tried and why it failed.
pub fn libclang() -> Result<PathBuf, Missing> {
    pip::files(&pip::Wheel {
        name: "libclang-18.1.1",
        requirement: "libclang==18.1.1",
        keep: "clang/native/",
        expect: "libclang.so",
    })
}

/// The file `libamdhip64-<hash>.so.7.14.*` of a real 7.14 runtime.
///
/// Its own dependencies lie in the same folder and are found by their RUNPATH:
/// use or link the whole folder. `libhiprtc` is there too ([`hiprtc_beside`]).
///
/// # Errors
///
/// What was tried and why it failed.
pub fn runtime_7_14() -> Result<PathBuf, Missing> {
    let folder = pip::files(&pip::Wheel {
        name: "runtime-7.14",
        requirement: "vapoursynth-dfttest2-hip==11.1.0",
        keep: "vapoursynth_dfttest2_hip.libs/",
        expect: "libamdhip64",
    })?;
    library_in(&folder, "libamdhip64")
}

/// A second file like [`runtime_7_14`], in a folder of its own and without hiprtc.
///
/// # Errors
///
/// What was tried and why it failed.
pub fn runtime_7_14_copy() -> Result<PathBuf, Missing> {
    let folder = pip::files(&pip::Wheel {
        name: "runtime-7.14-copy",
        requirement: "vapoursynth-bm3dhip==2.17.5",
        keep: "vapoursynth_bm3dhip.libs/",
        expect: "libamdhip64",
    })?;
    library_in(&folder, "libamdhip64")
}

/// The file `libamdhip64.so.5` of the real 5.2.3 runtime.
///
/// Installed packages are used where they are. As root on Debian bookworm the
/// package is installed; otherwise it is unpacked into the cache, where its
/// dependencies lie in the same folder and have to be found with
/// `LD_LIBRARY_PATH`.
///
/// # Errors
///
/// What was tried and why it failed.
pub fn runtime_5_2() -> Result<PathBuf, Missing> {
    debian::runtime_5_2()
}

/// The include folder of the HIP 7.1 headers.
///
/// # Errors
///
/// What was tried and why it failed.
pub fn headers_7_1() -> Result<PathBuf, Missing> {
    pip::headers("headers-7.1", "triton==3.6.0")
}

/// The include folder of the HIP 5.2.3 headers, installed or in the cache.
///
/// # Errors
///
/// What was tried and why it failed.
pub fn headers_5_2() -> Result<PathBuf, Missing> {
    debian::headers_5_2()
}

/// The folder with TileLang 0.1.10's stubs (`libhip_stub.so` and others) and
/// `libtvm_runtime.so`, which needs them.
///
/// # Errors
///
/// What was tried and why it failed.
pub fn tilelang_0_1_10() -> Result<PathBuf, Missing> {
    pip::files(&pip::Wheel {
        name: "tilelang-0.1.10",
        requirement: "tilelang==0.1.10",
        keep: "tilelang/lib/*stub*.so tilelang/lib/libtvm_runtime.so",
        expect: "libhip_stub.so",
    })
}

/// The whole wheel of TileLang 0.1.10, in a file `tilelang-0.1.10.whl`.
///
/// # Errors
///
/// What was tried and why it failed.
pub fn tilelang_0_1_10_wheel() -> Result<PathBuf, Missing> {
    pip::whole(
        "tilelang-0.1.10-wheel",
        "tilelang==0.1.10",
        "tilelang-0.1.10.whl",
    )
}

/// The folder with TileLang 0.1.15's stubs (`libstub_hip.so` and others) and
/// `libtvm_runtime.so`, which needs them.
///
/// # Errors
///
/// What was tried and why it failed.
pub fn tilelang_0_1_15() -> Result<PathBuf, Missing> {
    pip::files(&pip::Wheel {
        name: "tilelang-0.1.15",
        requirement: "tilelang==0.1.15",
        keep: "tilelang/lib/*stub*.so tilelang/lib/libtvm_runtime.so",
        expect: "libstub_hip.so",
    })
}

/// A file of Rust declarations, as bindgen wrote it from HIP's headers.
pub struct RustDeclarations {
    /// The HIP version of the headers: major, minor.
    pub version: (u32, u32),
    /// The file.
    pub file: PathBuf,
}

/// The Rust declarations of HIP 6.2 to 7.14, one file per version.
///
/// # Errors
///
/// What was tried and why it failed.
pub fn rust_declarations() -> Result<Vec<RustDeclarations>, Missing> {
    cargo::bindings_by_version()
}

/// The `libhiprtc` in the folder of a runtime, if there is one.
pub fn hiprtc_beside(runtime: &Path) -> Option<PathBuf> {
    library_in(runtime.parent()?, "libhiprtc-")
        .ok()
        .or_else(|| library_in(runtime.parent()?, "libhiprtc.so").ok())
}

/// The dynamic linker that came with a runtime of a newer Debian suite: run a
/// client as `LOADER --library-path FOLDER CLIENT`, where `FOLDER` is the
/// runtime's. `None` if the runtime works with the machine's own.
pub fn loader_beside(runtime: &Path) -> Option<PathBuf> {
    let loader = runtime.parent()?.join("ld-linux-x86-64.so.2");
    let is_the_machines_own = runtime.starts_with("/usr") || runtime.starts_with("/lib");
    (loader.is_file() && !is_the_machines_own).then_some(loader)
}

/// The file in `folder` whose name begins with `stem`, the shortest if several.
fn library_in(folder: &Path, stem: &str) -> Result<PathBuf, Missing> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .map(|entries| entries.flatten().map(|entry| entry.path()).collect())
        .unwrap_or_default();
    files.retain(|path| {
        path.file_name()
            .and_then(|name| name.to_str())
            .is_some_and(|name| name.starts_with(stem) && name.contains(".so"))
    });
    files.sort_by_key(|path| (path.as_os_str().len(), path.clone()));
    files.into_iter().next().ok_or_else(|| {
        Missing::new(
            stem,
            format!(
                "{} has no such file; remove the folder to fetch it again",
                folder.display()
            ),
        )
    })
}
