//! The consumer of TVM's shape, and the functions that it uses.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use xtask::fetch;

use crate::common::{scratch, skip};
use crate::process::{Runtime, Said, process};
use crate::toolchain::{Kind, cmake, tool};
use crate::{define_path, elf, expect, installed, with_both_compilers};

/// The functions that TVM's ROCm runtime calls (`src/runtime/rocm` in the sources that
/// come with TileLang 0.1.15), by link name. Its objects refer to all but
/// `hipModuleGetGlobal`, which no caller of theirs reaches.
const FUNCTIONS: [&str; 27] = [
    "hipDeviceGetAttribute",
    "hipDeviceGetName",
    "hipEventCreate",
    "hipEventDestroy",
    "hipEventElapsedTime",
    "hipEventRecord",
    "hipEventSynchronize",
    "hipFree",
    "hipGetDevice",
    "hipGetDeviceCount",
    "hipGetDevicePropertiesR0600",
    "hipGetErrorString",
    "hipHostFree",
    "hipHostMalloc",
    "hipMalloc",
    "hipMemcpy",
    "hipMemcpyAsync",
    "hipMemcpyPeerAsync",
    "hipModuleGetFunction",
    "hipModuleGetGlobal",
    "hipModuleLaunchKernel",
    "hipModuleLoadData",
    "hipModuleUnload",
    "hipSetDevice",
    "hipStreamSynchronize",
    "hsa_init",
    "hsa_shut_down",
];

/// HIP's names that the objects refer to, before hiplazy is linked.
fn referenced(build: &Path) -> BTreeSet<String> {
    let objects = build.join("CMakeFiles/tvm_runtime_objs.dir/src");
    fs::read_dir(&objects)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "o"))
        .flat_map(|path| elf::references(&path))
        .filter(|name| elf::is_hip(name))
        .collect()
}

/// `headers` is the name of a real header set; `None`: those that come with hiplazy.
fn works(kind: Kind, headers: Option<&str>) {
    let name = format!("tvm-{}", headers.unwrap_or("own-headers"));
    let (Some(compiler), Some(_)) = (kind.there(&name), tool("cmake", &name)) else {
        return;
    };
    let name = format!("{name}-{}", compiler.name);
    let folder = scratch(&name);
    let mut definitions = vec![
        "ROCM_HIPHCC_LIBRARY=hiplazy::dropin".to_string(),
        define_path(
            "CMAKE_PROJECT_INCLUDE",
            &installed::hiplazy().join("lib/cmake/hiplazy/hiplazyConfig.cmake"),
        ),
    ];
    match headers {
        None => {
            let prefix = installed::hiplazy();
            definitions.push(define_path("USE_ROCM", prefix));
            definitions.push(define_path(
                "CMAKE_CXX_STANDARD_INCLUDE_DIRECTORIES",
                &prefix.join("include/hiplazy/rocm"),
            ));
        }
        Some(set) => match rocm_folder(&folder, set) {
            Ok(rocm) => definitions.push(define_path("USE_ROCM", &rocm)),
            Err(missing) => return skip(&name, &missing.to_string()),
        },
    }
    let build = folder.join("build");
    let library = cmake("tvm", "tvm_runtime", &compiler, &build, &definitions);

    let mut functions = BTreeSet::from(FUNCTIONS.map(str::to_string));
    if headers == Some("headers-5.2") {
        // The name that HIP 5 has for it.
        functions.remove("hipGetDevicePropertiesR0600");
        functions.insert("hipGetDeviceProperties".to_string());
    }
    assert_eq!(referenced(&build), functions);

    let (exports, undefined) = (elf::exports(&library), elf::undefined(&library));
    assert!(exports.contains("consume"));
    for (names, what) in [(exports, "exports"), (undefined, "needs")] {
        let leaked: Vec<&String> = names.iter().filter(|name| elf::is_hip(name)).collect();
        assert!(leaked.is_empty(), "the runtime {what} {leaked:?}");
    }
    runs(&name, &library);
}

/// A folder like ROCm's with the headers of `set`. Where they lack HSA, the two
/// functions come from hiplazy's own header.
fn rocm_folder(folder: &Path, set: &str) -> Result<PathBuf, fetch::Missing> {
    let headers = fetch::fetch(set)?;
    let include = folder.join("rocm/include");
    fs::create_dir_all(&include).unwrap();
    symlink(headers.join("hip"), include.join("hip")).unwrap();
    let hsa = [headers, installed::hiplazy().join("include/hiplazy/rocm")]
        .map(|place| place.join("hsa"))
        .into_iter()
        .find(|place| place.is_dir());
    symlink(hsa.unwrap(), include.join("hsa")).unwrap();
    Ok(folder.join("rocm"))
}

#[track_caller]
fn runs(name: &str, path: &Path) {
    for runtime in Runtime::ALL {
        let library = runtime.library(name);
        if library.is_none() && runtime != Runtime::Headless {
            continue;
        }
        let mut command = process(runtime, library.as_deref());
        // TVM opens its runtime globally.
        command.arg(format!("global:{}", path.display()));
        let said = Said::by(command.arg("run"));
        let part = said.part("libtvm_runtime.so", 0);
        let thrown = part["thrown"][0];
        match runtime {
            Runtime::Headless => {
                assert_eq!(part["devices"], ["0"]);
                let expected = "303, hipGetDevice(&current): shared object initialization failed";
                assert_eq!(thrown, expected);
                assert_eq!(part["hsa"], ["not to be had"]);
            }
            Runtime::Fake6 | Runtime::Fake7 => {
                assert_eq!(part["devices"], ["1"]);
                assert_eq!(part["device"], ["fakehip device 0, gfx942, warp size 64"]);
                assert_eq!(part["memory"], ["came back"]);
                assert_eq!(part["global"], ["4 bytes"]);
                assert_eq!(part["launch"], ["timed"]);
                assert_eq!(thrown, "101, hipSetDevice(id_): invalid device ordinal");
                assert_eq!(part["hsa"], ["started"]);
            }
            // What it says without a GPU is the runtime's own.
            Runtime::Real7 => assert!(
                thrown.starts_with("100, hipGetDevice(&current): ")
                    || thrown.starts_with("101, hipSetDevice(id_): "),
                "{thrown}"
            ),
        }
        expect::process_is_clean(library.as_deref(), &said);
    }
}

with_both_compilers! {
    own_headers: |kind| works(kind, None);
    headers_5_2: |kind| works(kind, Some("headers-5.2"));
    headers_6_2: |kind| works(kind, Some("headers-6.2"));
    headers_7_1: |kind| works(kind, Some("headers-7.1"));
}
