//! One tiny project for each way of linking hiplazy, built as its users would build it
//! and run without a runtime, on fake HIP 6 and 7 and on the real 7.14.
//!
//! | project | links |
//! | --- | --- |
//! | `cmake_shared` | `hiplazy::hiplazy` |
//! | `cmake_static` | `hiplazy::static` |
//! | `cmake_dropin` | `hiplazy::dropin` as another value of a library variable |
//! | `pkgconfig_make` | what pkg-config says: shared, static, drop-in |
//! | `vendor_prefix` | `tl_hip::tl_hip` and `tl_hip::static` of a vendor's own copy |
//! | `rust_cdylib` | the crate |
//! | `build_options` | all three, with options of the build, in C and C++ |
//! | `tvm` | `hiplazy::dropin` through `ROCM_HIPHCC_LIBRARY`, in C++ |
//!
//! Every consumer is a library that a host opens, as Python opens its extensions, and
//! prints what its calls reached.

#[path = "consumers/build_options.rs"]
mod build_options;
mod common;
#[path = "consumers/elf.rs"]
mod elf;
#[path = "consumers/expect.rs"]
mod expect;
#[path = "consumers/generations.rs"]
mod generations;
#[allow(dead_code)]
#[path = "install/installed.rs"]
mod installed;
#[path = "consumers/process.rs"]
mod process;
#[path = "consumers/together.rs"]
mod together;
#[path = "consumers/toolchain.rs"]
mod toolchain;
#[path = "consumers/tvm.rs"]
mod tvm;

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use common::{clean, root, run, scratch, skip};
use expect::Consumer;
use process::{Runtime, Said};
use toolchain::{Compiler, Kind, cmake, project_folder, tool};
use xtask::fetch;

/// Runs a consumer on every runtime, opened locally and globally.
#[track_caller]
fn works_everywhere(what: &str, consumer: &Consumer, runtimes: &[Runtime]) {
    for runtime in runtimes {
        let library = runtime.library(what);
        if library.is_none() && *runtime != Runtime::Headless {
            continue;
        }
        for scope in ["local", "global"] {
            let mut command = process::process(*runtime, library.as_deref());
            command.arg(format!("{scope}:{}", consumer.library.display()));
            let said = Said::by(command.arg("run"));
            expect::worked(consumer, *runtime, library.as_deref(), &said, 0);
            expect::process_is_clean(library.as_deref(), &said);
        }
    }
}

/// A consumer exports its own functions alone, and does not need HIP.
#[track_caller]
fn exports_only(library: &Path, names: &[&str]) {
    let expected: BTreeSet<String> = names.iter().map(|name| (*name).to_string()).collect();
    assert_eq!(elf::exports(library), expected, "{}", library.display());
    for soname in elf::needed(library) {
        let is_runtime = ["libamdhip64", "libhiprtc", "libhsa-runtime64"]
            .iter()
            .any(|name| soname.starts_with(name));
        assert!(!is_runtime, "{} needs {soname}", library.display());
    }
}

fn define_path(name: &str, path: &Path) -> String {
    format!("{name}={}", path.display())
}

/// Definitions that have a project find the package in `prefix`.
fn found_in(prefix: &Path) -> Vec<String> {
    vec![define_path("CMAKE_PREFIX_PATH:PATH", prefix)]
}

/// A way of linking with CMake.
struct Way {
    project: &'static str,
    definitions: &'static [&'static str],
    /// `None`: the consumer itself.
    enters: Option<&'static str>,
    tells_binding: bool,
}

const SHARED: Way = Way {
    project: "cmake_shared",
    definitions: &[],
    enters: Some("libhiplazy.so.1"),
    tells_binding: true,
};
const STATIC: Way = Way {
    project: "cmake_static",
    definitions: &[],
    enters: None,
    tells_binding: true,
};
const DROP_IN: Way = Way {
    project: "cmake_dropin",
    definitions: &["HIP_LIBRARY:STRING=hiplazy::dropin"],
    enters: None,
    tells_binding: false,
};

impl Way {
    /// Builds it in a folder of its own.
    #[track_caller]
    fn build(&self, name: &str, compiler: &Compiler, prefix: &Path, more: &[String]) -> PathBuf {
        let folder = scratch(name);
        let mut definitions = found_in(prefix);
        definitions.extend(self.definitions.iter().map(ToString::to_string));
        definitions.extend_from_slice(more);
        cmake(
            self.project,
            self.project,
            compiler,
            &folder.join("build"),
            &definitions,
        )
    }

    fn consumer<'a>(&'a self, library: &'a Path) -> Consumer<'a> {
        let own = library.file_name().unwrap().to_str().unwrap();
        Consumer {
            library,
            enters: Some(self.enters.unwrap_or(own)),
            tells_binding: self.tells_binding,
            has_headers: true,
        }
    }

    fn exports(&self) -> &'static [&'static str] {
        match self.tells_binding {
            true => &["bound", "consume"],
            false => &["consume"],
        }
    }

    #[track_caller]
    fn works(&self, name: &str, kind: Kind, prefix: &Path) {
        let (Some(compiler), Some(_)) = (kind.there(name), tool("cmake", name)) else {
            return;
        };
        let name = format!("{name}-{}", compiler.name);
        let library = self.build(&name, &compiler, prefix, &[]);
        exports_only(&library, self.exports());
        works_everywhere(&name, &self.consumer(&library), &Runtime::ALL);
    }
}

/// A module of two tests of the same name, one for each compiler.
macro_rules! with_both_compilers {
    ($($name:ident: $test:expr;)*) => {$(
        mod $name {
            use super::*;

            #[test]
            fn gcc() {
                ($test)(Kind::Gcc);
            }

            #[test]
            fn clang() {
                ($test)(Kind::Clang);
            }
        }
    )*};
}
pub(crate) use with_both_compilers;

with_both_compilers! {
    cmake_shared: |kind| SHARED.works("cmake-shared", kind, installed::hiplazy());
    cmake_static: |kind| STATIC.works("cmake-static", kind, installed::hiplazy());
    cmake_dropin: |kind| DROP_IN.works("cmake-dropin", kind, installed::hiplazy());
    vendor_shared: |kind| Way {
        project: "vendor_prefix",
        definitions: &["LINK:STRING=tl_hip::tl_hip"],
        enters: Some("libtl_hip.so.1"),
        tells_binding: true,
    }.works("vendor-shared", kind, installed::vendor());
    vendor_static: |kind| Way {
        project: "vendor_prefix",
        definitions: &["LINK:STRING=tl_hip::static"],
        enters: None,
        tells_binding: true,
    }.works("vendor-static", kind, installed::vendor());
    pkgconfig_shared: |kind| pkgconfig(kind, "shared");
    pkgconfig_static: |kind| pkgconfig(kind, "static");
    pkgconfig_dropin: |kind| pkgconfig(kind, "dropin");
    real_headers_5_2: |kind| real_headers(kind, "headers-5.2");
    real_headers_6_2: |kind| real_headers(kind, "headers-6.2");
    real_headers_7_1: |kind| real_headers(kind, "headers-7.1");
}

/// The check that all of these rest on sees a leak.
#[test]
fn a_leaked_name_fails_the_check() {
    let folder = scratch("leaked-name");
    let source = folder.join("leaks.c");
    fs::write(
        &source,
        "int hipInit(unsigned flags) { return (int)flags; }\nint consume(void) { return 0; }\n",
    )
    .unwrap();
    let library = folder.join("libleaks.so");
    let arguments = ["-shared".as_ref(), "-fPIC".as_ref(), source.as_os_str()];
    common::cc(&[], &library, &arguments);
    let checked = std::panic::catch_unwind(|| exports_only(&library, &["consume"]));
    let said = checked.unwrap_err();
    let said = said.downcast_ref::<String>().unwrap();
    assert!(said.contains("hipInit"), "{said}");
}

/// `make` with what pkg-config says.
#[track_caller]
fn pkgconfig(kind: Kind, link: &str) {
    let name = format!("pkgconfig-{link}");
    let Some(compiler) = kind.there(&name) else {
        return;
    };
    if tool("pkg-config", &name).is_none() || tool("make", &name).is_none() {
        return;
    }
    let name = format!("{name}-{}", compiler.name);
    let folder = scratch(&name);
    // pkg-config cannot pass a folder on whose name has a blank.
    let prefix = folder.join("prefix");
    symlink(installed::hiplazy(), &prefix).unwrap();
    let mut make = clean(Path::new("make"));
    make.arg("-C").arg(project_folder("pkgconfig_make"));
    make.arg(define_path("OUT", &folder));
    make.arg(define_path("CC", &compiler.cc));
    make.arg(format!("LINK={link}"));
    make.env("PKG_CONFIG_PATH", prefix.join("lib/pkgconfig"));
    run(&mut make);
    let library = folder.join("libpkgconfig_make.so");
    exports_only(&library, &["bound", "consume"]);
    let own = "libpkgconfig_make.so";
    let consumer = Consumer {
        library: &library,
        enters: Some(if link == "shared" {
            "libhiplazy.so.1"
        } else {
            own
        }),
        tells_binding: true,
        has_headers: true,
    };
    works_everywhere(&name, &consumer, &Runtime::ALL);
}

/// An extension in Rust that depends on the crate, in both profiles.
#[test]
fn rust_cdylib() {
    let folder = scratch("rust-cdylib");
    let project = project_folder("rust_cdylib");
    fs::create_dir(folder.join("src")).unwrap();
    fs::copy(project.join("src/lib.rs"), folder.join("src/lib.rs")).unwrap();
    let manifest = fs::read_to_string(project.join("Cargo.toml")).unwrap();
    let here = format!("path = {:?}", root());
    assert!(manifest.contains("path = \"../../..\""));
    let manifest = manifest.replace("path = \"../../..\"", &here);
    fs::write(folder.join("Cargo.toml"), manifest).unwrap();
    // The versions that the repository has, which are here already.
    fs::copy(root().join("Cargo.lock"), folder.join("Cargo.lock")).unwrap();
    for (profile, output) in [("dev", "debug"), ("release", "release")] {
        let mut cargo = std::process::Command::new(env!("CARGO"));
        cargo
            .current_dir(&folder)
            .args(["build", "--offline", "--quiet", "--profile", profile])
            .env("CARGO_TARGET_DIR", folder.join("target"));
        run(&mut cargo);
        let library = folder.join("target").join(output).join("librust_cdylib.so");
        exports_only(&library, &["bound", "consume"]);
        let consumer = Consumer {
            library: &library,
            enters: None,
            tells_binding: true,
            has_headers: false,
        };
        works_everywhere(&format!("rust-cdylib-{profile}"), &consumer, &Runtime::ALL);
    }
}

/// The same sources, compiled with headers of AMD's.
#[track_caller]
fn real_headers(kind: Kind, headers: &str) {
    let name = format!("consumers-{headers}");
    let (Some(compiler), Some(_)) = (kind.there(&name), tool("cmake", &name)) else {
        return;
    };
    let include = match fetch::fetch(headers) {
        Ok(include) => include,
        Err(missing) => return skip(&name, &missing.to_string()),
    };
    let include = [define_path("HIP_INCLUDE:PATH", &include)];
    for way in [SHARED, STATIC, DROP_IN] {
        let name = format!("{name}-{}-{}", way.project, compiler.name);
        let library = way.build(&name, &compiler, installed::hiplazy(), &include);
        exports_only(&library, way.exports());
        let runtimes = [Runtime::Headless, Runtime::Fake6, Runtime::Fake7];
        works_everywhere(&name, &way.consumer(&library), &runtimes);
    }
}
