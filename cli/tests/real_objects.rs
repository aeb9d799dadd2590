//! Real stubs, real runtimes, and hiplazy's own libraries.

#[path = "common/mod.rs"]
mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use common::shared::{self, Fetched, there};
use common::{found, lint, report, wheel};
use xtask::fetch;

static OLD_STUBS: Fetched = Fetched::new();
static NEW_STUBS: Fetched = Fetched::new();
static RUNTIME_5: Fetched = Fetched::new();
static RUNTIME_7: Fetched = Fetched::new();

/// TileLang's libraries as their wheel has them.
fn tilelang(folder: &Path, version: &str) -> PathBuf {
    let packed = shared::scratch(&format!("tilelang-{version}")).join("tilelang.whl");
    let libraries = fs::read_dir(folder).unwrap();
    let libraries: Vec<PathBuf> = libraries.map(|entry| entry.unwrap().path()).collect();
    let names: Vec<String> = libraries
        .iter()
        .map(|path| {
            format!(
                "tilelang/lib/{}",
                path.file_name().unwrap().to_str().unwrap()
            )
        })
        .collect();
    let members: Vec<(&str, &Path)> = names
        .iter()
        .map(String::as_str)
        .zip(libraries.iter().map(PathBuf::as_path))
        .collect();
    wheel(&packed, &members);
    packed
}

fn rule(id: &str, object: &str) -> (String, String) {
    (id.into(), object.into())
}

#[test]
fn tilelang_0_1_10_exports_and_looks_up_by_the_old_name() {
    let Some(folder) = there(
        "lint of TileLang 0.1.10",
        &OLD_STUBS,
        fetch::tilelang_0_1_10,
    ) else {
        return;
    };
    let packed = tilelang(folder, "0.1.10");
    assert_eq!(
        found(&report(&packed)),
        [
            rule("bare-export", "libhip_stub.so"),
            rule("bare-export", "libhiprtc_stub.so"),
            rule("global-exporter", "libtvm_runtime.so"),
            rule("legacy-literal", "libhip_stub.so"),
            rule("unversioned-reference", "libtvm_runtime.so"),
        ]
    );
    let output = lint(&packed).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let text = shared::text_of(&output);
    assert!(
        text.contains("libhip_stub.so: 32 names, 32 without a node"),
        "{text}"
    );
}

#[test]
fn tilelang_0_1_15_still_exports() {
    let Some(folder) = there(
        "lint of TileLang 0.1.15",
        &NEW_STUBS,
        fetch::tilelang_0_1_15,
    ) else {
        return;
    };
    assert_eq!(
        found(&report(&tilelang(folder, "0.1.15"))),
        [
            rule("bare-export", "libstub_hip.so"),
            rule("bare-export", "libstub_hiprtc.so"),
            rule("global-exporter", "libtvm_runtime.so"),
            rule("unversioned-reference", "libtvm_runtime.so"),
        ]
    );
}

#[test]
fn the_real_5_2_3_runtime_is_one_and_has_an_executable_stack() {
    let Some(runtime) = there("lint of HIP 5.2.3", &RUNTIME_5, fetch::runtime_5_2) else {
        return;
    };
    let runtime = fs::canonicalize(runtime).unwrap();
    let report = report(&runtime);
    let (of_runtime, findings) = (&report["runtimes"][0], found(&report));
    assert_eq!(of_runtime["kind"], "hip");
    assert_eq!(of_runtime["major"], 5);
    assert_eq!(of_runtime["version"], "5.2.21153");
    let rules: Vec<&str> = findings.iter().map(|(rule, _)| rule.as_str()).collect();
    assert_eq!(rules, ["executable-stack"]);
}

#[test]
fn the_real_7_14_runtime_with_its_libraries_is_a_bundled_copy_and_nothing_else() {
    let Some(runtime) = there("lint of HIP 7.14", &RUNTIME_7, fetch::runtime_7_14) else {
        return;
    };
    let start = Instant::now();
    let report = report(runtime.parent().unwrap());
    // 18 libraries, 250 MB, of which little is read.
    assert!(
        start.elapsed() < Duration::from_secs(60),
        "{:?}",
        start.elapsed()
    );
    let kinds = report["runtimes"].as_array().unwrap();
    let kinds: Vec<&str> = kinds
        .iter()
        .map(|one| one["kind"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["comgr", "hip", "hiprtc", "hsa"]);
    for (rule, object) in found(&report) {
        assert_eq!(rule, "bundled-runtime", "{object}");
    }
    assert_eq!(report["findings"].as_array().unwrap().len(), 3);
    // Users of its own: generation and majors are read off them.
    let clients = report["clients"].as_array().unwrap();
    let fft = clients
        .iter()
        .find(|client| client["path"].as_str().unwrap().contains("librocfft"))
        .unwrap();
    assert_eq!(fft["structs"][0], "R0600");
    assert_eq!(fft["majors"][0], 7);
}

#[test]
fn the_legacy_literal_is_found_without_section_headers() {
    let Some(folder) = there("lint without sections", &OLD_STUBS, fetch::tilelang_0_1_10) else {
        return;
    };
    let bare = shared::scratch("no-sections").join("libhip_stub.so");
    let mut data = fs::read(folder.join("libhip_stub.so")).unwrap();
    // e_shoff, e_shnum and e_shstrndx of the ELF header, as `sstrip` leaves them.
    data[40..48].fill(0);
    data[60..64].fill(0);
    fs::write(&bare, data).unwrap();
    assert_eq!(
        found(&report(&bare)),
        [
            rule("bare-export", "libhip_stub.so"),
            rule("legacy-literal", "libhip_stub.so"),
        ]
    );
}

#[test]
fn hiplazy_s_own_installed_files_are_clean() {
    let folder = shared::scratch("installed");
    let prefix = folder.join("prefix");
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    // The one that the tests of the installation use: built once for all of them.
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("xtask-install");
    shared::run(
        Command::new(env!("CARGO"))
            .current_dir(workspace)
            .args([
                "run",
                "--quiet",
                "--locked",
                "--package",
                "xtask",
                "--",
                "install",
            ])
            .arg("--prefix")
            .arg(&prefix)
            .env("CARGO_TARGET_DIR", target),
    );
    let report = report(&prefix);
    assert_eq!(
        report["findings"].as_array().unwrap().len(),
        0,
        "{report:#}"
    );
    assert_eq!(
        report["unreadable"].as_array().unwrap().len(),
        0,
        "{report:#}"
    );
    assert_eq!(report["passed_over"]["static libraries"], 2, "{report:#}");
    let library = prefix.join("lib/libhiplazy.so.1");
    let output = lint(&library).output().unwrap();
    assert_eq!(
        output.status.code(),
        Some(0),
        "{}",
        shared::text_of(&output)
    );
    let command = prefix.join("bin/hiplazy");
    let output = lint(&command).output().unwrap();
    assert_eq!(
        output.status.code(),
        Some(0),
        "{}",
        shared::text_of(&output)
    );
    for file in [
        "share/man/man1/hiplazy.1",
        "share/bash-completion/completions/hiplazy",
    ] {
        assert!(prefix.join(file).is_file(), "{file}");
    }
}
