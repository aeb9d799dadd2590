//! Which symbol a slot gets, and that it is got once.

mod common;
mod loader;

use std::path::PathBuf;

use common::{cc, clean, fenced, libraries, preload, root, scratch};
use loader::{Link, Tiny, host, link_arguments, linked, steps};

fn folder(test: &str) -> PathBuf {
    scratch(&format!("binding-{test}")).canonicalize().unwrap()
}

const LINKS: [Link; 3] = [Link::Shared, Link::Static, Link::Extension];

// Version nodes

/// `two_nodes.c` in a folder of the test's own: hipGetDeviceCount answers 3 on hip_4.2 and
/// 99 on its default node; hipGetDevice is on a node that the manifest does not have.
fn two_nodes(test: &str) -> PathBuf {
    let here = folder(test);
    let map = root().join("tests/c/two_nodes.map");
    let arguments = [
        "-shared".to_owned(),
        "-fPIC".to_owned(),
        "-DTAG=3".to_owned(),
        "-Wl,-soname,libamdhip64.so.7".to_owned(),
        format!("-Wl,--undefined-version,--version-script,{}", map.display()),
        "-ldl".to_owned(),
    ];
    cc(&["two_nodes.c"], &here.join("libamdhip64.so.7"), &arguments);
    here
}

#[test]
fn of_two_nodes_the_one_of_the_manifest_is_bound_and_not_the_default() {
    let here = two_nodes("node");
    for link in LINKS {
        let mut command = linked(link, &[&here]);
        command.env("LD_LIBRARY_PATH", &here);
        // The second call goes by the slot that the first one filled; the table is
        // filled by then, and so is the slot of a function that was not called.
        let out = steps(&mut command, &["count", "count"]);
        assert_eq!(out, "count 0 3\ncount 0 3\n", "{link:?}");
        let out = steps(&mut command, &["version", "count"]);
        assert!(out.ends_with("count 0 3\n"), "{link:?}: {out}");
    }
}

#[test]
fn a_function_that_moved_to_another_node_is_bound_there() {
    let here = two_nodes("moved-node");
    for link in LINKS {
        let mut command = linked(link, &[&here]);
        command.env("LD_LIBRARY_PATH", &here);
        let out = steps(&mut command, &["device", "has:hipGetDevice"]);
        assert_eq!(out, "device 0 3\nhas 1\n", "{link:?}");
    }
}

// Scope

/// An extension that offers the bare names to others and does its work through hiplazy
/// would call itself.
#[test]
fn hiplazy_scope_global_does_not_accept_a_definition_beside_hiplazy_itself() {
    let here = folder("own");
    Tiny::new(7, 3).build(&here);
    // interposer.c: hipGetDeviceCount, which answers 77.
    let extension = here.join("extension.so");
    cc(
        &["client.c", "interposer.c"],
        &extension,
        &link_arguments(Link::Extension, libraries()),
    );
    let mut command = fenced(host(), &[&here]);
    // Preloaded, so that its names are in the global scope, in front of all others.
    preload(&mut command, &extension);
    command
        .env("HIPLAZY_SCOPE", "global")
        .env("LD_LIBRARY_PATH", &here)
        .arg(&extension);
    let out = steps(
        &mut command,
        &["global-name:hipGetDeviceCount", "count", "count"],
    );
    assert_eq!(out, "global-name yes\ncount 0 3\ncount 0 3\n");
}

// The control functions

#[test]
fn hiplazy_has_and_hiplazy_symbol_do_not_answer_for_the_runtimes_dependencies() {
    let here = folder("dependency");
    Tiny::new(7, 3).build(&here);
    for link in LINKS {
        let mut command = linked(link, &[&here]);
        command.env("LD_LIBRARY_PATH", &here);
        let out = steps(
            &mut command,
            &["has:malloc", "symbol:malloc", "symbol:hipMalloc"],
        );
        assert_eq!(out, "has 0\nsymbol NULL\nsymbol yes\n", "{link:?}");
    }
}

#[test]
fn hiplazy_has_and_hiplazy_symbol_know_names_of_the_runtime_that_hiplazy_does_not() {
    let here = folder("newer");
    Tiny::new(7, 3).with("-DNEWER").build(&here);
    for link in LINKS {
        let mut command = linked(link, &[&here]);
        command.env("LD_LIBRARY_PATH", &here);
        let out = steps(
            &mut command,
            &[
                "has:hipOfALaterRelease",
                "symbol:hipOfALaterRelease",
                "has:hipOfNoRelease",
            ],
        );
        assert_eq!(out, "has 1\nsymbol yes\nhas 0\n", "{link:?}");
    }
}

// Once

#[test]
fn after_the_first_success_no_call_enters_the_dynamic_linker() {
    let here = folder("once");
    Tiny::new(7, 3).build(&here);
    let program = here.join("after_binding");
    let mut arguments = link_arguments(Link::Static, libraries());
    for name in [
        "dlopen",
        "dlsym",
        "dlvsym",
        "dladdr1",
        "dlinfo",
        "dl_iterate_phdr",
    ] {
        arguments.push(format!("-Wl,--wrap={name}").into());
    }
    cc(&["after_binding.c"], &program, &arguments);
    // Not fenced: LD_LIBRARY_PATH comes before what the machine has.
    let mut command = clean(&program);
    command.env("LD_LIBRARY_PATH", &here);
    let out = steps(&mut command, &[]);
    let lines: Vec<&str> = out.lines().collect();
    let [count, first, then] = lines[..] else {
        panic!("{out}");
    };
    assert_eq!(count, "count 0 3");
    let first: u32 = first.strip_prefix("first ").unwrap().parse().unwrap();
    // It looks up every function of HIP.
    assert!(first > 400, "the first call is not counted: {out}");
    assert_eq!(then, "then 0 in 20 functions");
}

/// What `look_ups.c` prints, on a runtime of HIP 5.7: that lacks hipGetDevicePropertiesR0600,
/// which is then made of other functions.
fn look_ups(test: &str, arguments: &[&str]) -> Vec<String> {
    let here = folder(test);
    let runtime = fakehip::Library::hip(fakehip::Version::V5_7_1);
    fakehip::build(&here, &[runtime]).unwrap_or_else(|error| panic!("{error}"));
    let program = here.join("look_ups");
    let mut link = link_arguments(Link::Static, libraries());
    link.push("-Wl,--wrap=dlvsym".into());
    link.push("-pthread".into());
    cc(&["look_ups.c"], &program, &link);
    let mut command = clean(&program);
    command
        .env("LD_LIBRARY_PATH", &here)
        .env("FAKEHIP_DEVICES", "3");
    let out = steps(&mut command, arguments);
    out.lines().map(str::to_owned).collect()
}

#[test]
fn binding_looks_each_name_up_once() {
    let out = look_ups("each-once", &[]);
    assert_eq!(out[0], "count 0 3");
    let names: u32 = out[1].strip_prefix("names ").unwrap().parse().unwrap();
    assert!(names > 400, "the look-ups are not seen: {out:?}");
    // The function that was called, when all are bound.
    assert_eq!(out[2..], ["again hipGetDeviceCount"]);
}

#[test]
fn a_translated_call_while_another_thread_binds_finds_what_it_needs() {
    // At the first name of all: nothing is known by then.
    let out = look_ups("meanwhile", &["__hipGetPCH"]);
    assert_eq!(out[..2], ["meanwhile 0", "count 0 3"]);
}
