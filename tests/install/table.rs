//! The slot table that `dispatch.h` leads to, and its order from one version to the next.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Output};
use std::{env, fs};

use fakehip::Version;

use crate::common::{cc, fenced, run, scratch, text_of};
use crate::installed::{ADDED, hiplazy, newer, vendor};
use crate::linkers::linkers;
use crate::{args, artefact, fake_runtime, run_with, source};

#[test]
fn the_slot_table_can_be_called_before_anything_is_bound() {
    let folder = scratch("install-slots");
    let runtime = fake_runtime(&folder);
    let version = Version::V7_14.runtime_version();
    let names = artefact::entries();
    let index = names.iter().position(|name| name == "hipRuntimeGetVersion");
    let index = format!("-DINDEX={}", index.unwrap());
    for (name, symbol, library) in [
        (
            "shared",
            "hiplazy_slots",
            hiplazy().join("lib/libhiplazy.so.1"),
        ),
        (
            "static",
            "hiplazy_slots",
            hiplazy().join("lib/libhiplazy.a"),
        ),
        (
            "dropin",
            "hiplazy_slots",
            hiplazy().join("lib/libhiplazy_dropin.a"),
        ),
        (
            "vendor-shared",
            "tl_slots",
            vendor().join("lib/libtl_hip.so.1"),
        ),
        (
            "vendor-static",
            "tl_slots",
            vendor().join("lib/libtl_hip.a"),
        ),
    ] {
        let program = folder.join(name);
        let rpath = format!("-Wl,-rpath,{}", library.parent().unwrap().display());
        let slots = format!("-DSLOTS={symbol}");
        let arguments = args([&index, &slots, &library, &rpath]);
        cc(&[&source("slots.c")], &program, &arguments);
        let said = run_with(&program, &runtime);
        assert_eq!(said, format!("0 {version} 0 {version}\n"), "{name}");
    }
}

/// A program that named the table directly would be given a copy of it, in which nothing
/// is ever bound.
#[test]
fn dispatch_goes_to_the_runtime_itself_once_it_is_bound() {
    let folder = scratch("install-dispatch");
    let runtime = fake_runtime(&folder);
    let expected = format!(
        "0 {} {}\n",
        Version::V7_14.runtime_version(),
        runtime.display()
    );
    let include = hiplazy().join("include");
    let rocm = include.join("hiplazy/rocm");
    for (name, library, more) in [
        ("shared", "libhiplazy.so.1", "-fPIE"),
        ("shared-no-pie", "libhiplazy.so.1", "-no-pie"),
        ("shared-static-define", "libhiplazy.a", "-DHIPLAZY_STATIC"),
        ("static", "libhiplazy.a", "-fPIE"),
        ("dropin", "libhiplazy_dropin.a", "-fno-pic"),
    ] {
        let program = folder.join(name);
        let library = hiplazy().join("lib").join(library);
        let rpath = format!("-Wl,-rpath,{}", library.parent().unwrap().display());
        let no_pie = if more == "-fno-pic" { "-no-pie" } else { "-O2" };
        let arguments = args([
            &more,
            &no_pie,
            &"-isystem",
            &include,
            &"-isystem",
            &rocm,
            &library,
            &rpath,
        ]);
        cc(&[&source("dispatch.c")], &program, &arguments);
        assert_eq!(run_with(&program, &runtime), expected, "{name}");
    }
}

/// The arguments that make `dispatch.c` of a tree's headers.
fn dispatching(tree: &Path) -> Vec<OsString> {
    let include = tree.join("include");
    let rocm = include.join("hiplazy/rocm");
    args([
        &"-isystem",
        &include,
        &"-isystem",
        &rocm,
        &source("dispatch.c"),
    ])
}

/// A link of `dispatch.c`, which may fail.
fn link(arguments: &[OsString], more: &[OsString], program: &Path) -> Output {
    Command::new(env::var_os("CC").unwrap_or_else(|| "cc".into()))
        .args(["-O2", "-Wall", "-Wextra", "-Werror", "-o"])
        .arg(program)
        .args(arguments)
        .args(more)
        .env("LC_ALL", "C")
        .output()
        .unwrap()
}

fn rpath(library: &Path) -> OsString {
    format!("-Wl,-rpath,{}", library.parent().unwrap().display()).into()
}

/// The places are those of the committed list, and a later version only adds to them.
#[test]
fn a_function_keeps_its_place_for_ever() {
    let places = |tree: &Path| -> Vec<String> {
        let text = fs::read_to_string(tree.join("include/hiplazy/dispatch.h")).unwrap();
        let lines = text.lines().map(str::trim);
        lines
            .filter(|line| line.starts_with("HIPLAZY_INDEX_") && line.contains(" = "))
            .map(str::to_string)
            .collect()
    };
    let own = places(hiplazy());
    let expected: Vec<String> = artefact::entries()
        .iter()
        .enumerate()
        .map(|(place, name)| format!("HIPLAZY_INDEX_{name} = {place},"))
        .collect();
    assert_eq!(own, expected);
    let later = places(newer());
    assert_eq!(later[..own.len()], own);
    assert_eq!(
        later[own.len()..],
        [format!("HIPLAZY_INDEX_{ADDED} = {},", own.len())]
    );
}

/// The later version has a function more, which by its name comes before this one.
#[test]
fn code_that_knows_a_shorter_table_runs_with_a_later_library() {
    let folder = scratch("install-shorter");
    let runtime = fake_runtime(&folder);
    let expected = format!(
        "0 {} {}\n",
        Version::V7_14.runtime_version(),
        runtime.display()
    );
    let old = hiplazy().join("lib/libhiplazy.so.1");
    let new = newer().join("lib");
    let program = folder.join("loaded");
    let output = link(
        &dispatching(hiplazy()),
        &args([&old, &rpath(&old)]),
        &program,
    );
    assert!(output.status.success(), "{}", text_of(&output));
    for lib in [old.parent().unwrap(), &new] {
        let said = run(fenced(&program, &[runtime.parent().unwrap()])
            .env("HIPLAZY_RUNTIME", &runtime)
            .env("LD_LIBRARY_PATH", lib));
        assert_eq!(said, expected, "{}", lib.display());
    }
    for (library, define) in [
        ("libhiplazy.so.1", "-DUNUSED"),
        ("libhiplazy.a", "-DUNUSED"),
        ("libhiplazy.a", "-DHIPLAZY_STATIC"),
        ("libhiplazy_dropin.a", "-DHIPLAZY_STATIC"),
    ] {
        let library = new.join(library);
        let program = folder.join("linked");
        let more = args([&define, &library, &rpath(&library)]);
        let output = link(&dispatching(hiplazy()), &more, &program);
        assert!(output.status.success(), "{}", text_of(&output));
        assert_eq!(
            run_with(&program, &runtime),
            expected,
            "{}",
            library.display()
        );
    }
}

/// It would read beyond the table's end.
#[test]
fn code_that_knows_a_longer_table_is_refused_by_name() {
    let folder = scratch("install-longer");
    let missing = format!("slots_{}", artefact::entries().len() + 1);
    for linker in linkers("code_that_knows_a_longer_table_is_refused_by_name") {
        for (library, define, symbol) in [
            ("libhiplazy.so.1", "-DUNUSED", "hiplazy_"),
            ("libhiplazy.a", "-DUNUSED", "hiplazy_"),
            ("libhiplazy.a", "-DHIPLAZY_STATIC", "hiplazy_static_"),
            ("libhiplazy_dropin.a", "-DHIPLAZY_STATIC", "hiplazy_static_"),
        ] {
            for kind in [
                args([&"-pie"]),
                args([&"-shared", &"-fPIC", &"-Wl,-z,defs"]),
            ] {
                let mut more = args([&linker, &define, &hiplazy().join("lib").join(library)]);
                more.extend(kind);
                let output = link(&dispatching(newer()), &more, &folder.join("refused"));
                let text = text_of(&output);
                assert!(!output.status.success(), "{linker} {library} {define}");
                assert!(text.contains(&format!("{symbol}{missing}")), "{text}");
            }
        }
    }
    // And linked with the later library, but loaded with this one.
    let new = newer().join("lib/libhiplazy.so.1");
    let program = folder.join("loaded");
    let output = link(&dispatching(newer()), &args([&new, &rpath(&new)]), &program);
    assert!(output.status.success(), "{}", text_of(&output));
    run(&mut fenced(&program, &[]));
    let output = fenced(&program, &[])
        .env("LD_LIBRARY_PATH", hiplazy().join("lib"))
        .output()
        .unwrap();
    let text = text_of(&output);
    assert!(!output.status.success(), "{text}");
    assert!(text.contains(&format!("hiplazy_{missing}")), "{text}");
}

/// gold used to link this, and every call went to address 0.
#[test]
fn the_shared_library_is_refused_where_the_table_is_to_be_in_the_same_binary() {
    let folder = scratch("install-static-define");
    let library = hiplazy().join("lib/libhiplazy.so.1");
    let missing = format!("hiplazy_static_slots_{}", artefact::entries().len());
    for linker in linkers("the_shared_library_is_refused") {
        for kind in [
            args([&"-pie", &"-fPIE"]),
            args([&"-no-pie", &"-fno-pic"]),
            args([&"-shared", &"-fPIC"]),
        ] {
            let program = folder.join("program");
            let mut more = args([&linker, &library, &rpath(&library)]);
            more.extend(kind.iter().cloned());
            let without = link(&dispatching(hiplazy()), &more, &program);
            assert!(without.status.success(), "{}", text_of(&without));
            more.push("-DHIPLAZY_STATIC".into());
            let output = link(&dispatching(hiplazy()), &more, &program);
            let text = text_of(&output);
            assert!(!output.status.success(), "{linker} {kind:?}");
            assert!(text.contains(&missing), "{linker} {kind:?}: {text}");
        }
    }
}
