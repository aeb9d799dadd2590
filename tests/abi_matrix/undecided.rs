//! Calls that come before it is known what they need: while the runtime is asked for its
//! version, from many threads, and from a constructor of the runtime that is being opened.

use std::path::PathBuf;

use fakehip::{Library, Version};

use crate::child::odd_runtime;
use crate::common::{self, cc, fenced, root, run, scratch};

/// `undecided.c` with its runtime.
fn undecided(test: &str, threads: &str) -> String {
    let folder = scratch(&format!("abi-matrix-undecided-{test}"));
    let runtime = folder.join("libamdhip64.so.7");
    cc(
        &["abi_matrix/asking_runtime.c"],
        &runtime,
        &["-shared", "-fPIC", "-Wl,-soname,libamdhip64.so.7"],
    );
    let program = program(&folder, "abi_matrix/undecided.c", &[]);
    let mut command = fenced(&program, &[&folder]);
    run(command.arg(threads).env("HIPLAZY_RUNTIME", &runtime))
}

fn program(folder: &std::path::Path, source: &str, further: &[&str]) -> PathBuf {
    let program = folder.join("program");
    let libraries = common::libraries().display();
    let mut arguments = vec![
        format!("{libraries}/libhiplazy.so"),
        format!("-Wl,-rpath,{libraries}"),
        "-ldl".to_string(),
    ];
    arguments.extend(further.iter().map(ToString::to_string));
    cc(&[source], &program, &arguments);
    program
}

/// It would ask again, and again run the profiler.
#[test]
fn a_profiler_that_calls_the_function_that_is_being_decided_is_refused_once() {
    let said = undecided("profiler", "0");
    let lines: Vec<&str> = said.lines().map(str::trim_end).collect();
    let [inside, outside, second, counts] = lines[..] else {
        panic!("{said}")
    };
    assert!(
        inside.starts_with("profiler: 801 -7 hipDeviceGetAttribute: not called: "),
        "{said}"
    );
    assert!(
        inside.contains("the runtime is being asked for its version on this thread"),
        "{said}"
    );
    assert_eq!(
        (outside, second),
        ("first: 0 10020", "second: 0 10020"),
        "{said}"
    );
    assert_eq!(counts, "deepest 1, asked 1, called 2", "{said}");
}

#[test]
fn threads_that_decide_the_same_entry_at_once_all_get_the_translation() {
    assert_eq!(undecided("threads", "32"), "wrong 0, called 96\n");
}

/// The runtime's own function would be right for other headers.
#[test]
fn a_constructor_of_the_runtime_that_needs_a_translation_is_refused_for_that_time() {
    let test = "abi-matrix-constructor";
    let library = Library::hip(Version::V7_14)
        .source(root().join("tests/c/abi_matrix/constructed.c"))
        .link_argument("-Wl,-z,undefs");
    let runtime = odd_runtime(test, &library, Version::V7_14);
    let folder = runtime.file.parent().unwrap();
    let program = program(folder, "abi_matrix/constructor.c", &["-rdynamic"]);
    let mut command = fenced(&program, &[folder]);
    command
        .env("HIPLAZY_RUNTIME", &runtime.file)
        .env("FAKEHIP_RECORD", "1");
    let said = run(&mut command);
    let lines: Vec<&str> = said.lines().collect();
    let [limit, reason, count, later, later_count, calls] = lines[..] else {
        panic!("{said}")
    };
    assert_eq!(limit, "constructor: limit 303, untouched: yes");
    assert!(
        reason.starts_with("hipDeviceGetLimit: called by a constructor while"),
        "{said}"
    );
    assert!(reason.contains("headers that need a translation"), "{said}");
    assert_eq!(count, "constructor: count 0 1");
    assert_eq!((later, later_count), ("first: limit 0", "first: count 0 1"));
    assert_eq!(calls, "calls 1");
}
