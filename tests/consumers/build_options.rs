//! Options of a build that change how names come together: link-time optimization,
//! sections that the linker drops, precompiled headers, several sources in one, a newer
//! C++. Whatever they are, calls bind and nothing is exported.

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::scratch;
use crate::expect::Consumer;
use crate::process::Runtime;
use crate::toolchain::{Compiler, Kind, cmake, tool};
use crate::{exports_only, found_in, installed, with_both_compilers, works_everywhere};

/// Builds all six consumers and checks them; gives the folder of the build.
#[track_caller]
fn works(name: &str, compiler: &Compiler, definitions: &[&str]) -> PathBuf {
    let name = format!("build-options-{name}-{}", compiler.name);
    let build = scratch(&name).join("build");
    let mut all = found_in(installed::hiplazy());
    all.extend(definitions.iter().map(ToString::to_string));
    cmake("build_options", "static_c", compiler, &build, &all);
    for (link, enters) in [
        ("hiplazy", Some("libhiplazy.so.1")),
        ("static", None),
        ("dropin", None),
    ] {
        for language in ["c", "cxx"] {
            let file = format!("lib{link}_{language}.so");
            let library = build.join(&file);
            exports_only(&library, &["bound", "consume"]);
            let consumer = Consumer {
                library: &library,
                enters: Some(enters.unwrap_or(&file)),
                tells_binding: true,
                has_headers: true,
            };
            let runtimes = [Runtime::Headless, Runtime::Fake7];
            works_everywhere(&format!("{name}-{link}"), &consumer, &runtimes);
        }
    }
    build
}

/// The files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    paths
        .flat_map(|path| match path.is_dir() {
            true => files(&path),
            false => vec![path],
        })
        .collect()
}

/// The objects of the consumers, without those of CMake's own look at the compiler.
fn objects(build: &Path) -> Vec<PathBuf> {
    let mut found = files(&build.join("CMakeFiles"));
    found.retain(|path| {
        path.extension().is_some_and(|ending| ending == "o")
            && path
                .iter()
                .any(|part| part.to_string_lossy().ends_with(".dir"))
    });
    found
}

fn contains(path: &Path, what: &[u8]) -> bool {
    let data = fs::read(path).unwrap();
    data.windows(what.len()).any(|part| part == what)
}

/// The compiler, if there is CMake too.
fn there(kind: Kind, what: &str) -> Option<Compiler> {
    tool("cmake", what)?;
    kind.there(what)
}

fn link_time_optimization(kind: Kind) {
    let Some(compiler) = there(kind, "link-time optimization") else {
        return;
    };
    let on = "CMAKE_INTERPROCEDURAL_OPTIMIZATION:BOOL=ON";
    let build = works("lto", &compiler, &[on]);
    let objects = objects(&build);
    assert!(objects.len() >= 18, "{objects:?}");
    for object in objects {
        let mark = match kind {
            Kind::Gcc => contains(&object, b".gnu.lto_"),
            Kind::Clang => fs::read(&object).unwrap().starts_with(b"BC"),
        };
        assert!(mark, "{} is machine code", object.display());
    }
}

fn dropped_sections(kind: Kind) {
    let Some(compiler) = there(kind, "sections that are dropped") else {
        return;
    };
    let build = works(
        "sections",
        &compiler,
        &[
            "CMAKE_C_FLAGS:STRING=-ffunction-sections -fdata-sections",
            "CMAKE_CXX_FLAGS:STRING=-ffunction-sections -fdata-sections",
            "CMAKE_MODULE_LINKER_FLAGS:STRING=-Wl,--gc-sections",
        ],
    );
    let in_sections = objects(&build)
        .iter()
        .filter(|path| contains(path, b".text.consume"))
        .count();
    assert_eq!(in_sections, 6);
}

fn precompiled_headers(kind: Kind) {
    let Some(compiler) = there(kind, "precompiled headers") else {
        return;
    };
    // What clang has precompiled renames only what it declares; the linking guide says so.
    let headers = match kind {
        Kind::Gcc => "PRECOMPILE:STRING=<hip/hip_runtime_api.h>",
        Kind::Clang => "PRECOMPILE:STRING=<hip/hip_runtime_api.h>;<hip/hiprtc.h>;<hsa/hsa.h>",
    };
    let build = works("precompiled", &compiler, &[headers]);
    let precompiled = files(&build)
        .into_iter()
        .filter(|path| {
            let ending = path.extension().unwrap_or_default();
            ending == "gch" || ending == "pch"
        })
        .count();
    // The C++ consumers have the source in C that records the version.
    assert_eq!(precompiled, 9);
}

fn unity(kind: Kind) {
    let Some(compiler) = there(kind, "a unity build") else {
        return;
    };
    let build = works("unity", &compiler, &["CMAKE_UNITY_BUILD:BOOL=ON"]);
    for target in ["hiplazy", "static", "dropin"] {
        let source = build.join(format!("CMakeFiles/{target}_c.dir/Unity/unity_0_c.c"));
        let text = fs::read_to_string(source).unwrap();
        for part in ["consumer.c", "bound.c"] {
            assert!(text.contains(part), "{text}");
        }
    }
}

fn newest_cxx(kind: Kind) {
    let Some(compiler) = there(kind, "C++23") else {
        return;
    };
    works(
        "cxx23",
        &compiler,
        &[
            "CMAKE_CXX_STANDARD:STRING=23",
            "CMAKE_CXX_STANDARD_REQUIRED:BOOL=ON",
        ],
    );
}

with_both_compilers! {
    lto: link_time_optimization;
    gc_sections: dropped_sections;
    precompiled: precompiled_headers;
    unity_build: unity;
    cxx23: newest_cxx;
}
