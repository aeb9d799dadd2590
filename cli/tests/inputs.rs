//! What `hiplazy lint` looks at, and how: files, folders, links, wheels.

#[path = "common/mod.rs"]
mod common;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::shared;
use common::{found, hiplazy, lint, report, wheel};

/// Builds a library that exports `hipMalloc`.
fn stub(path: &Path) -> PathBuf {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let source = path.with_extension("c");
    fs::write(&source, "int hipMalloc(void) { return 0; }\n").unwrap();
    let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
    shared::run(
        Command::new(compiler)
            .args(["-shared", "-fPIC", "-o"])
            .args([path, &source]),
    );
    path.to_path_buf()
}

fn exporters(report: &serde_json::Value) -> Vec<String> {
    let mut names: Vec<String> = found(report)
        .into_iter()
        .filter(|(rule, _)| rule == "bare-export")
        .map(|(_, name)| name)
        .collect();
    names.sort();
    names
}

#[test]
fn folders_are_searched_to_the_bottom_and_links_do_not_run_in_circles() {
    let folder = shared::scratch("links");
    stub(&folder.join("a/b/c/libdeep.so"));
    symlink("libdeep.so", folder.join("a/b/c/libdeep.so.1")).unwrap();
    symlink("../..", folder.join("a/b/up")).unwrap();
    symlink("nowhere", folder.join("a/dangling")).unwrap();
    let elsewhere = shared::scratch("links-elsewhere");
    stub(&elsewhere.join("libother.so"));
    symlink(&elsewhere, folder.join("linked")).unwrap();
    let report = report(&folder);
    // Once each, by the names that are no links; folders behind links are followed.
    assert_eq!(exporters(&report), ["libdeep.so", "libother.so"]);
    assert_eq!(report["objects"], 2);
    assert_eq!(
        report["unreadable"].as_array().unwrap().len(),
        0,
        "{report:#}"
    );
}

#[test]
fn a_file_named_twice_is_looked_at_once() {
    let folder = shared::scratch("twice");
    let library = stub(&folder.join("libstub.so"));
    symlink("libstub.so", folder.join("liblink.so")).unwrap();
    let output = lint(&folder)
        .args([&library, &folder.join("liblink.so")])
        .arg("--json")
        .output()
        .unwrap();
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["objects"], 1);
}

#[test]
fn pipes_and_devices_are_not_opened() {
    let folder = shared::scratch("pipes");
    let pipe = folder.join("pipe");
    shared::run(Command::new("mkfifo").arg(&pipe));
    for (path, said) in [
        (pipe.as_path(), "is a pipe"),
        (Path::new("/dev/zero"), "is a device"),
    ] {
        let output = lint(path).output().unwrap();
        assert_eq!(output.status.code(), Some(3));
        assert!(shared::text_of(&output).contains(said));
    }
    // In a folder they are none of the files, and counted.
    let output = lint(&folder).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(shared::text_of(&output).contains(": no ELF object here\n"));
    let report = report(&folder);
    assert_eq!(report["passed_over"]["pipes, sockets and devices"], 1);
}

#[test]
fn folders_of_the_kernel_are_not_entered() {
    let folder = shared::scratch("kernel");
    stub(&folder.join("libstub.so"));
    symlink("/proc/self", folder.join("process")).unwrap();
    let inside = report(&folder);
    assert_eq!(inside["passed_over"]["folders of the kernel"], 1);
    assert_eq!(
        (&inside["objects"], &inside["unreadable"]),
        (&1.into(), &serde_json::json!([]))
    );
    let output = lint(Path::new("/proc/self")).output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    let text = shared::text_of(&output);
    assert!(text.contains(": nothing could be looked at\n"), "{text}");
    assert!(text.contains("hiplazy doctor --pid"), "{text}");
}

/// A wheel of Python files only is no fault, and nothing is said about its libraries.
#[test]
fn what_holds_no_object_is_said_to_hold_none() {
    let folder = shared::scratch("no-object");
    let text = folder.join("text.py");
    fs::write(&text, "import os\n").unwrap();
    let packed = folder.join("pure-1.0-py3-none-any.whl");
    wheel(&packed, &[("pure/__init__.py", &text)]);
    for path in [&packed, &folder] {
        let output = lint(path).output().unwrap();
        assert_eq!(output.status.code(), Some(0));
        let text = shared::text_of(&output);
        assert!(
            text.contains(": no ELF object here\nLooked at 0 objects"),
            "{text}"
        );
    }
    let output = lint(&folder.join("absent.whl")).output().unwrap();
    assert_eq!(output.status.code(), Some(3));
}

#[test]
fn what_is_clean_beside_something_unreadable_is_not_called_clean() {
    let folder = shared::scratch("partly");
    fs::write(folder.join("libcut.so"), b"\x7fELF\x02\x01\x01").unwrap();
    let output = hiplazy()
        .args(["lint", "/bin/sh"])
        .arg(&folder)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let text = shared::text_of(&output);
    assert!(
        text.contains(": clean as far as it could be read\n"),
        "{text}"
    );
}

#[test]
fn wheels_within_a_zip_file_are_looked_into() {
    let folder = shared::scratch("zip-of-wheels");
    let library = stub(&folder.join("source/libstub.so"));
    let inner = folder.join("source/inner-1.0-py3-none-any.whl");
    wheel(&inner, &[("pkg/libstub.so", &library)]);
    let outer = folder.join("all.zip");
    wheel(&outer, &[("dist/inner-1.0-py3-none-any.whl", &inner)]);
    let report = common::report(&outer);
    let expected = "all.zip!dist/inner-1.0-py3-none-any.whl!pkg/libstub.so";
    let object = report["exporters"][0]["path"].as_str().unwrap();
    assert!(object.ends_with(expected), "{object}");
    // No further: each level multiplies what a small file can hold.
    let deeper = folder.join("deeper.zip");
    wheel(&folder.join("source/middle.whl"), &[("inner.whl", &inner)]);
    wheel(
        &deeper,
        &[("middle.whl", &folder.join("source/middle.whl"))],
    );
    let report = common::report(&deeper);
    assert_eq!(report["objects"], 0);
    let why = report["unreadable"][0]["why"].as_str().unwrap();
    assert!(why.contains("unpack the outer one"), "{why}");
}

#[test]
fn static_libraries_are_no_objects_to_lint() {
    let folder = shared::scratch("archives");
    let archive = folder.join("libx.a");
    let source = folder.join("x.c");
    fs::write(&source, "int hipMalloc(void) { return 0; }\n").unwrap();
    let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
    shared::run(
        Command::new(compiler)
            .args(["-c", "-o"])
            .args([&folder.join("x.o"), &source]),
    );
    shared::run(
        Command::new("ar")
            .arg("rcs")
            .args([&archive, &folder.join("x.o")]),
    );
    let named = lint(&archive).output().unwrap();
    assert_eq!(named.status.code(), Some(3));
    assert!(shared::text_of(&named).contains("is a static library: no process loads it"));
    let report = report(&folder);
    assert_eq!(report["passed_over"]["static libraries"], 1, "{report:#}");
    assert_eq!(
        report["passed_over"]["object files and debug information"],
        1
    );
    assert_eq!(report["findings"].as_array().unwrap().len(), 0);
}

#[test]
fn wheels_are_read_in_place() {
    let folder = shared::scratch("wheels");
    let library = stub(&folder.join("source/libstub.so"));
    let text = folder.join("source/libstub.c");
    let packed = folder.join("pkg-1.0-py3-none-any.whl");
    wheel(
        &packed,
        &[("pkg/lib/libstub.so", &library), ("pkg/__init__.py", &text)],
    );
    let report = report(&packed);
    let object = report["findings"][0]["object"].as_str().unwrap();
    assert_eq!(object, format!("{}!pkg/lib/libstub.so", packed.display()));
    assert_eq!(report["passed_over"]["other files"], 1);
    // In the text the wheel's own name is said once.
    let text = shared::text_of(&lint(&packed).output().unwrap());
    assert!(
        text.contains("── pkg/lib/libstub.so: 1 name without"),
        "{text}"
    );
    // Wheels in folders as well, and nothing was unpacked anywhere.
    fs::remove_dir_all(folder.join("source")).unwrap();
    assert_eq!(exporters(&common::report(&folder)), ["libstub.so"]);
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
}

#[test]
fn packages_in_site_packages_are_judged_one_by_one() {
    let folder = shared::scratch("site-packages");
    let site = folder.join("lib/python3/site-packages");
    stub(&site.join("offender/lib/libstub.so"));
    // Without a word of HIP, and with a fault that is none of ours.
    let other = site.join("other/libother.so");
    fs::create_dir_all(other.parent().unwrap()).unwrap();
    let source = folder.join("other.c");
    fs::write(&source, "int other(void) { return 0; }\n").unwrap();
    let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
    let mut build = Command::new(compiler);
    build.args(["-shared", "-fPIC", "-Wl,-z,execstack", "-o"]);
    shared::run(build.args([&other, &source]));
    assert_eq!(
        found(&report(&folder)),
        [("bare-export".into(), "libstub.so".into())]
    );
    // Named by its own path it is looked at.
    assert_eq!(
        found(&report(&other)),
        [("executable-stack".into(), "libother.so".into())]
    );
}

#[test]
fn reports_have_a_version_the_rules_and_the_exit_status() {
    let folder = shared::scratch("schema");
    let library = stub(&folder.join("libstub.so"));
    let report = report(&library);
    assert_eq!(report["schema"], 1);
    assert_eq!(report["exit"], 2);
    assert_eq!(report["command"], "lint");
    assert_eq!(report["rules"][0]["id"], "bare-export");
    assert_eq!(report["rules"][0]["severity"], "conflict");
    assert_eq!(report["exporters"][0]["exported"][0], "hipMalloc");
}

#[test]
fn quiet_says_nothing_where_there_is_nothing_to_do() {
    let folder = shared::scratch("quiet");
    let library = stub(&folder.join("libstub.so"));
    let output = hiplazy().args(["lint", "-q", "/bin/sh"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(output.stdout.is_empty() && output.stderr.is_empty());
    let output = lint(&library).arg("-q").output().unwrap();
    assert!(shared::text_of(&output).contains("bare-export"));
}

#[test]
fn colours_are_for_terminals_and_who_asks_for_them() {
    let folder = shared::scratch("colours");
    let library = stub(&folder.join("libstub.so"));
    let plain = lint(&library).output().unwrap();
    assert!(!shared::text_of(&plain).contains('\u{1b}'));
    let forced = lint(&library).args(["--color", "always"]).output().unwrap();
    assert!(shared::text_of(&forced).contains("\u{1b}[1m"));
}

#[test]
fn the_man_page_and_completions_know_every_command() {
    let commands = ["doctor", "run", "lint", "log", "explain"];
    let man = shared::run(hiplazy().arg("man"));
    assert!(man.contains(".TH hiplazy 1"));
    for shell in ["bash", "zsh", "fish"] {
        let script = shared::run(hiplazy().args(["completions", shell]));
        for command in commands {
            assert!(script.contains(command), "{shell}: {command}");
            assert!(man.contains(command), "{command}");
        }
    }
}

/// What is not looked into is not called clean where it was named, and is counted elsewhere.
#[test]
fn packages_that_are_not_looked_into_say_so() {
    let folder = shared::scratch("packed");
    let library = stub(&folder.join("source/libstub.so"));
    let content = folder.join("source/x.tar.gz");
    shared::run(
        Command::new("tar")
            .current_dir(folder.join("source"))
            .arg("-czf")
            .args([&content, Path::new("libstub.so")]),
    );
    let packages = folder.join("packages");
    fs::create_dir(&packages).unwrap();
    fs::copy(&content, packages.join("x.tar.gz")).unwrap();
    fs::write(
        packages.join("x.deb"),
        b"!<arch>\ndebian-binary   1 0 0 644 4 `\n2.0\n",
    )
    .unwrap();
    fs::write(packages.join("x.rpm"), b"\xed\xab\xee\xdb\x03\x00").unwrap();
    wheel(&packages.join("x.conda"), &[("pkg-x.tar.zst", &content)]);
    for (name, what) in [
        ("x.tar.gz", "is a tar archive"),
        ("x.deb", "is a Debian package"),
        ("x.rpm", "is an RPM package"),
        ("x.conda", "is a conda package"),
    ] {
        let output = lint(&packages.join(name)).output().unwrap();
        assert_eq!(output.status.code(), Some(3), "{name}");
        let text = shared::text_of(&output);
        assert!(
            text.contains(what) && text.contains("not looked into"),
            "{text}"
        );
    }
    let whole = report(&packages);
    assert_eq!(whole["passed_over"]["packages not looked into"], 4);
    assert_eq!(whole["exit"], 0);
    // In a wheel they are counted as well, and a zip file in a zip file is looked into.
    let inner = folder.join("source/inner.zip");
    wheel(&inner, &[("libstub.so", &library)]);
    let outer = folder.join("outer.zip");
    wheel(&outer, &[("inner.zip", &inner), ("x.tar.gz", &content)]);
    let whole = report(&outer);
    assert_eq!(exporters(&whole), ["libstub.so"]);
    assert_eq!(whole["passed_over"]["packages not looked into"], 1);
}

/// A zip file behind a line for the shell, as Python's zipapp makes them.
#[test]
fn programs_that_are_zip_files_are_looked_into() {
    let folder = shared::scratch("zipapp");
    let library = stub(&folder.join("source/libstub.so"));
    let packed = folder.join("source/x.zip");
    wheel(&packed, &[("x/libstub.so", &library)]);
    let program = folder.join("program");
    let line = b"#!/usr/bin/env python3\n".to_vec();
    fs::write(&program, [line, fs::read(&packed).unwrap()].concat()).unwrap();
    assert_eq!(exporters(&report(&program)), ["libstub.so"]);
}

/// The page takes its file's place: that of an object or wheel would be lost.
#[test]
fn a_page_is_not_written_over_what_is_looked_at() {
    let folder = shared::scratch("page-over-input");
    let library = stub(&folder.join("libstub.so"));
    let before = fs::read(&library).unwrap();
    for (path, page) in [(&library, &library), (&folder, &library)] {
        for option in ["--html", "--dot"] {
            let output = lint(path).arg(option).arg(page).output().unwrap();
            assert_eq!(output.status.code(), Some(3), "{}", path.display());
            let text = shared::text_of(&output);
            assert!(text.contains("give the page another name"), "{text}");
            assert_eq!(fs::read(&library).unwrap(), before);
        }
    }
    // That of an earlier run is none of those.
    let page = folder.join("page.html");
    for _ in 0..2 {
        let output = lint(&folder).arg("--html").arg(&page).output().unwrap();
        assert_eq!(
            output.status.code(),
            Some(2),
            "{}",
            shared::text_of(&output)
        );
    }
}
