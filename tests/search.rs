//! Which runtime is taken, and what is said of those that are not.

mod common;
mod loader;

use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};

use common::{cc, clean, libraries, scratch, skip};
use loader::{
    Link, Tiny, candidates, client, companion, disguise, fenced_client, link_arguments, linked,
    steps, steps_and_log,
};

/// A scratch folder by its real path, which is what the fence compares with.
fn folder(test: &str) -> PathBuf {
    scratch(&format!("search-{test}")).canonicalize().unwrap()
}

// HIPLAZY_RUNTIME

#[test]
fn hiplazy_runtime_comes_before_everything_else() {
    let here = folder("hiplazy-runtime-first");
    let named = Tiny::new(5, 1).build(&here.join("named"));
    let mapped = Tiny::new(7, 2).build(&here.join("mapped"));
    Tiny::new(7, 3).build(&here.join("library-path"));
    let out = steps(
        fenced_client(&[&here])
            .env("HIPLAZY_RUNTIME", &named)
            .env("LD_LIBRARY_PATH", here.join("library-path")),
        &[&format!("open:{}", mapped.display()), "count", "path"],
    );
    assert_eq!(out, format!("count 0 1\npath {}\n", named.display()));
}

#[test]
fn hiplazy_runtime_may_be_a_name_that_ld_so_finds() {
    let here = folder("hiplazy-runtime-name");
    let six = Tiny::new(6, 6).build(&here);
    Tiny::new(7, 7).build(&here);
    let out = steps(
        fenced_client(&[&here])
            .env("HIPLAZY_RUNTIME", "libamdhip64.so.6")
            .env("LD_LIBRARY_PATH", &here),
        &["count", "path"],
    );
    assert_eq!(out, format!("count 0 6\npath {}\n", six.display()));
}

#[test]
fn an_unusable_hiplazy_runtime_is_the_error_and_nothing_else_is_tried() {
    let here = folder("hiplazy-runtime-alone");
    Tiny::new(7, 3).build(&here.join("library-path"));
    Tiny::new(7, 4).build(&here.join("rocm/lib"));
    companion(
        &here.join("library-path"),
        "libhsa-runtime64.so.1",
        "HSA",
        0,
    );
    let missing = here.join("no-such-runtime.so");
    let (out, log) = steps_and_log(
        fenced_client(&[&here])
            .env("HIPLAZY_RUNTIME", &missing)
            .env("ROCM_PATH", here.join("rocm"))
            .env("LD_LIBRARY_PATH", here.join("library-path")),
        &[
            "count", "malloc", "rtc", "hsa", "path", "mapped", "count", "error",
        ],
    );
    let (answers, error) = out.split_once("error ").unwrap();
    assert_eq!(
        answers,
        "count 100 0\nmalloc 303 unwritten\nrtc 11 -7\nhsa 4096\npath none\ncount 100 0\n"
    );
    assert_eq!(
        candidates(error),
        [format!(
            "HIPLAZY_RUNTIME: {}: no such file",
            missing.display()
        )]
    );
    assert!(error.contains("HIPLAZY_RUNTIME is tried alone"), "{error}");
    let line = format!(
        "error: HIPLAZY_RUNTIME: {}: no such file",
        missing.display()
    );
    assert!(log.contains(&line), "told without HIPLAZY_LOG:\n{log}");
}

/// Opening the file that is then refused moves the link map, which must not be taken
/// for a runtime that somebody mapped meanwhile.
#[test]
fn a_refused_hiplazy_runtime_does_not_fall_back_to_a_mapped_one() {
    let here = folder("hiplazy-runtime-refused");
    let stub = disguise(&here.join("stub"), "libamdhip64.so.7");
    let mapped = Tiny::new(7, 2).build(&here.join("mapped"));
    let out = steps(
        fenced_client(&[&here]).env("HIPLAZY_RUNTIME", &stub),
        &[
            &format!("open:{}", mapped.display()),
            "count",
            "path",
            "count",
            "path",
        ],
    );
    assert_eq!(out, "count 100 0\npath none\ncount 100 0\npath none\n");
}

#[test]
fn hiplazy_runtime_may_name_an_abi_that_is_not_known_yet() {
    let here = folder("hiplazy-runtime-future");
    let eight = Tiny::new(8, 8).build(&here);
    let out = steps(
        fenced_client(&[&here]).env("HIPLAZY_RUNTIME", &eight),
        &["count"],
    );
    assert_eq!(out, "count 0 8\n");
}

// Python packages

/// A program that links a `libhiplazy.so` in `packages/tvm/lib`, as `runpath` names it.
fn python_client(here: &Path, packages: &Path, runpath: &Path) -> PathBuf {
    let folder = packages.join("tvm/lib");
    fs::create_dir_all(&folder).unwrap();
    fs::copy(
        libraries().join("libhiplazy.so"),
        folder.join("libhiplazy.so"),
    )
    .unwrap();
    let program = here.join("client");
    cc(
        &["client.c"],
        &program,
        &link_arguments(Link::Shared, &runpath.join("tvm/lib")),
    );
    program
}

fn python_packages_test(here: &Path, program: &Path, packages: &Path) {
    let sdk = packages.join("_rocm_sdk_core/lib");
    let torch = Tiny::new(6, 2).build(&packages.join("torch/lib"));
    Tiny::new(7, 3).build(&here.join("library-path"));
    let ask = || {
        let mut command = common::fenced(program, &[here]);
        command.env("LD_LIBRARY_PATH", here.join("library-path"));
        steps(&mut command, &["count", "path"])
    };
    assert_eq!(ask(), format!("count 0 2\npath {}\n", torch.display()));
    let sdk = Tiny::new(7, 1).build(&sdk);
    assert_eq!(ask(), format!("count 0 1\npath {}\n", sdk.display()));
}

#[test]
fn python_packages_around_hiplazy_come_before_installed_runtimes() {
    for name in ["site-packages", "dist-packages"] {
        let here = folder(&format!("python-{name}"));
        let packages = here.join("lib/python3.12").join(name);
        let program = python_client(&here, &packages, &packages);
        python_packages_test(&here, &program, &packages);
    }
}

#[test]
fn python_packages_are_seen_through_a_link_to_hiplazy() {
    let here = folder("python-link");
    let packages = here.join("venv/site-packages");
    fs::create_dir_all(&packages).unwrap();
    symlink(&packages, here.join("link")).unwrap();
    let program = python_client(&here, &packages, &here.join("link"));
    python_packages_test(&here, &program, &packages);
}

#[test]
fn python_packages_are_those_around_an_extension_with_hiplazy_inside() {
    let here = folder("python-extension");
    let packages = here.join("venv/site-packages");
    let extension = packages.join("tilelang/_ext.so");
    fs::create_dir_all(extension.parent().unwrap()).unwrap();
    fs::copy(client(Link::Extension), &extension).unwrap();
    let sdk = Tiny::new(7, 1).build(&packages.join("_rocm_sdk_core/lib"));
    let mut command = common::fenced(loader::host(), &[&here]);
    command.arg(&extension);
    let out = steps(&mut command, &["count", "path"]);
    assert_eq!(out, format!("count 0 1\npath {}\n", sdk.display()));
}

// Installed runtimes

#[test]
fn the_newest_abi_comes_first_wherever_it_is() {
    let here = folder("majors");
    for major in [5, 6] {
        Tiny::new(major, major).build(&here.join("library-path"));
    }
    Tiny::new(7, 7).build(&here.join("hip/lib64"));
    let mut command = fenced_client(&[&here]);
    command
        .env("LD_LIBRARY_PATH", here.join("library-path"))
        .env("HIP_PATH", here.join("hip"));
    assert_eq!(steps(&mut command, &["count"]), "count 0 7\n");
}

#[test]
fn older_abis_are_taken_where_there_is_no_newer() {
    for major in [6, 5] {
        let here = folder(&format!("only-{major}"));
        Tiny::new(major, major).build(&here);
        let mut command = fenced_client(&[&here]);
        command.env("LD_LIBRARY_PATH", &here);
        assert_eq!(
            steps(&mut command, &["count"]),
            format!("count 0 {major}\n")
        );
    }
}

/// TileLang's stub knows `.so`, `.so.6` and `.so.5`; ROCm 7 wheels ship only `.so.7`.
#[test]
fn only_so_7_is_enough_where_the_tilelang_stub_dies() {
    let here = folder("only-7");
    Tiny::new(7, 7).build(&here);
    let mut command = fenced_client(&[&here]);
    command.env("LD_LIBRARY_PATH", &here);
    assert_eq!(steps(&mut command, &["count"]), "count 0 7\n");

    let stub = match xtask::fetch::tilelang_0_1_10() {
        Ok(folder) => folder.join("libhip_stub.so"),
        Err(why) => return skip("the TileLang stub with only .so.7", &why.to_string()),
    };
    let output = fenced_client(&[&here])
        .env("LD_LIBRARY_PATH", &here)
        .arg(format!("library:{}", stub.display()))
        .output()
        .unwrap();
    assert_eq!(
        output.status.signal(),
        Some(6),
        "{}",
        common::text_of(&output)
    );
}

#[test]
fn ld_so_comes_before_rocm_path_and_that_before_hip_path() {
    let here = folder("order");
    let places = [
        "library-path",
        "rocm/lib",
        "rocm/lib64",
        "hip/lib",
        "hip/lib64",
    ];
    for (tag, place) in (1..).zip(places) {
        Tiny::new(7, tag).build(&here.join(place));
    }
    for (tag, place) in (1..).zip(places) {
        let mut command = fenced_client(&[&here]);
        command
            .env("LD_LIBRARY_PATH", here.join("library-path"))
            .env("ROCM_PATH", here.join("rocm"))
            .env("HIP_PATH", here.join("hip"));
        assert_eq!(
            steps(&mut command, &["count"]),
            format!("count 0 {tag}\n"),
            "{place}"
        );
        fs::remove_dir_all(here.join(place)).unwrap();
    }
}

#[test]
fn the_runpath_of_whoever_holds_hiplazy_is_searched() {
    let here = folder("runpath");
    Tiny::new(7, 7).build(&here.join("mine"));
    let program = here.join("client");
    let mut arguments = link_arguments(Link::Static, libraries());
    arguments.push("-Wl,--enable-new-dtags,-rpath,$ORIGIN/mine".into());
    cc(&["client.c"], &program, &arguments);
    // Not fenced: RUNPATH comes before what the machine has.
    let out = steps(&mut clean(&program), &["count"]);
    assert_eq!(out, "count 0 7\n");
}

#[test]
fn the_unversioned_name_comes_last() {
    let here = folder("unversioned");
    let plain = Tiny::new(7, 7)
        .file("libamdhip64.so")
        .build(&here.join("library-path"));
    let ask = |steps_: &[&str]| {
        let mut command = fenced_client(&[&here]);
        command
            .env("LD_LIBRARY_PATH", here.join("library-path"))
            .env("ROCM_PATH", here.join("rocm"));
        steps(&mut command, steps_)
    };
    assert_eq!(
        ask(&["count", "path"]),
        format!("count 0 7\npath {}\n", plain.display())
    );
    Tiny::new(5, 5).build(&here.join("rocm/lib"));
    assert_eq!(ask(&["count"]), "count 0 5\n");
}

#[test]
fn an_abi_that_does_not_exist_yet_is_not_opened() {
    let here = folder("future");
    Tiny::new(8, 8).build(&here);
    Tiny::new(10, 10).build(&here);
    let mut command = fenced_client(&[&here]);
    command.env("LD_LIBRARY_PATH", &here);
    assert_eq!(steps(&mut command, &["count", "mapped"]), "count 100 0\n");
}

#[test]
fn an_unversioned_file_of_an_unknown_abi_is_refused() {
    let here = folder("future-unversioned");
    Tiny::new(8, 8).file("libamdhip64.so").build(&here);
    let mut command = fenced_client(&[&here]);
    command.env("LD_LIBRARY_PATH", &here);
    let out = steps(&mut command, &["count", "error"]);
    assert!(out.starts_with("count 100 0\n"), "{out}");
    assert!(
        out.contains("its ABI major, 8, is not one of 5, 6, 7"),
        "{out}"
    );
}

#[test]
fn every_candidate_is_recorded_in_its_order() {
    let here = folder("record");
    let out = steps(
        fenced_client(&[&here])
            .env("ROCM_PATH", here.join("rocm"))
            .env("HIP_PATH", here.join("hip")),
        &["count", "error"],
    );
    let found = candidates(&out);
    let here = here.display();
    let mut expected = Vec::new();
    for name in [
        "libamdhip64.so.7",
        "libamdhip64.so.6",
        "libamdhip64.so.5",
        "libamdhip64.so",
    ] {
        expected.push(format!(
            "ld.so: {name}: {name}: cannot open shared object file: No such file or directory"
        ));
        for place in ["rocm/lib", "rocm/lib64", "hip/lib", "hip/lib64"] {
            let variable = if place.starts_with("rocm") {
                "ROCM_PATH"
            } else {
                "HIP_PATH"
            };
            expected.push(format!("{variable}: {here}/{place}/{name}: no such file"));
        }
    }
    // A machine with ROCm in /opt has more of these, and reasons of their own.
    let found: Vec<&String> = found
        .iter()
        .filter(|line| !line.starts_with("usual"))
        .collect();
    assert_eq!(found, expected.iter().collect::<Vec<_>>());
    assert!(
        out.contains("hipGetDeviceCount: no HIP runtime (libamdhip64)"),
        "{out}"
    );
    assert!(
        out.contains("Install ROCm, or set HIPLAZY_RUNTIME"),
        "{out}"
    );
}

// Later runtimes

#[test]
fn a_runtime_mapped_after_a_failed_call_is_used_by_the_next_call() {
    let here = folder("later");
    let later = Tiny::new(7, 7).build(&here);
    for link in [Link::Shared, Link::Static, Link::Extension] {
        let out = steps(
            &mut linked(link, &[&here]),
            &[
                "count",
                "malloc",
                &format!("open:{}", later.display()),
                "malloc",
                "count",
            ],
        );
        assert_eq!(
            out, "count 100 0\nmalloc 303 unwritten\nmalloc 0 written\ncount 0 7\n",
            "{link:?}"
        );
    }
}

#[test]
fn a_file_that_appears_is_not_looked_for_until_something_is_loaded() {
    let here = folder("appears");
    let aside = Tiny::new(7, 7).build(&here.join("aside"));
    let unrelated = companion(&here, "libunrelated.so", "PLAIN", 0);
    let place = here.join("library-path/libamdhip64.so.7");
    fs::create_dir_all(place.parent().unwrap()).unwrap();
    let out = steps(
        fenced_client(&[&here]).env("LD_LIBRARY_PATH", here.join("library-path")),
        &[
            "count",
            &format!("move:{}={}", aside.display(), place.display()),
            "count",
            "load",
            "mapped",
            &format!("open:{}", unrelated.display()),
            "count",
        ],
    );
    assert_eq!(out, "count 100 0\ncount 100 0\nload 303\ncount 0 7\n");
}

// The other libraries

#[test]
fn hiprtc_is_the_one_beside_the_runtime() {
    let here = folder("hiprtc-beside");
    Tiny::new(7, 7).build(&here.join("lib"));
    companion(&here.join("lib"), "libhiprtc.so.7", "HIPRTC", 7);
    companion(&here.join("other"), "libhiprtc.so.7", "HIPRTC", 8);
    let out = steps(
        fenced_client(&[&here])
            .env("ROCM_PATH", &here)
            .env("LD_LIBRARY_PATH", here.join("other")),
        &["rtc", "count"],
    );
    assert_eq!(out, "rtc 0 7\ncount 0 7\n");
}

#[test]
fn hiprtc_is_the_one_inside_up_to_hip_6() {
    let here = folder("hiprtc-inside");
    Tiny::new(6, 6).with("-DHIPRTC").build(&here.join("six"));
    Tiny::new(7, 7).with("-DHIPRTC").build(&here.join("seven"));
    for (folder, expected) in [("six", "rtc 0 106\n"), ("seven", "rtc 11 -7\n")] {
        let mut command = fenced_client(&[&here]);
        command.env("LD_LIBRARY_PATH", here.join(folder));
        assert_eq!(steps(&mut command, &["rtc"]), expected, "{folder}");
    }
}

#[test]
fn hiprtc_of_another_abi_is_not_taken() {
    let here = folder("hiprtc-abi");
    Tiny::new(7, 7).build(&here);
    companion(&here, "libhiprtc.so.6", "HIPRTC", 6);
    let out = steps(
        fenced_client(&[&here]).env("LD_LIBRARY_PATH", &here),
        &["rtc", "count"],
    );
    assert_eq!(out, "rtc 11 -7\ncount 0 7\n");
}

#[test]
fn hsa_is_a_mapped_one_first_and_works_without_hip() {
    let here = folder("hsa");
    let mapped = companion(&here.join("mapped"), "libhsa-runtime64.so.1", "HSA", 11);
    companion(&here.join("path"), "libhsa-runtime64.so.1", "HSA", 12);
    let ask = |steps_: &[&str]| {
        let mut command = fenced_client(&[&here]);
        command.env("LD_LIBRARY_PATH", here.join("path"));
        steps(&mut command, steps_)
    };
    assert_eq!(
        ask(&[&format!("open:{}", mapped.display()), "hsa"]),
        "hsa 11\n"
    );
    assert_eq!(ask(&["hsa", "count"]), "hsa 12\ncount 100 0\n");
}
