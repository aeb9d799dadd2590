//! Calls around the life of a process, a thread and a library, and without memory.

mod common;
mod loader;

use std::path::{Path, PathBuf};
use std::process::Command;

use common::{cc, fenced, libraries, preload, scratch};
use loader::{Link, Tiny, client, companion, host, link_arguments, linked, plain_library, steps};

fn folder(test: &str) -> PathBuf {
    scratch(&format!("process-{test}")).canonicalize().unwrap()
}

const LINKS: [Link; 3] = [Link::Shared, Link::Static, Link::Extension];

// fork (apache/tvm #1155)

#[test]
fn a_child_forked_before_the_first_call_binds_for_itself() {
    let here = folder("fork-before");
    Tiny::new(7, 3).build(&here);
    for link in LINKS {
        let mut command = linked(link, &[&here]);
        command.env("LD_LIBRARY_PATH", &here);
        let out = steps(&mut command, &["fork:count", "count", "version"]);
        assert_eq!(
            out, "count 0 3\ncount 0 3\nversion 0 71460850\n",
            "{link:?}"
        );
    }
}

#[test]
fn a_child_forked_after_the_first_call_goes_on() {
    let here = folder("fork-after");
    Tiny::new(7, 3).build(&here);
    for link in LINKS {
        let mut command = linked(link, &[&here]);
        command.env("LD_LIBRARY_PATH", &here);
        let out = steps(
            &mut command,
            &["count", "fork:malloc", "fork:thread:count", "malloc"],
        );
        assert_eq!(
            out, "count 0 3\nmalloc 0 written\ncount 0 3\nmalloc 0 written\n",
            "{link:?}"
        );
    }
}

#[test]
fn parent_and_child_search_each_for_itself_after_a_failed_call() {
    let here = folder("fork-absent");
    let later = Tiny::new(7, 3).build(&here);
    for link in LINKS {
        let open = format!("open:{}", later.display());
        let out = steps(
            &mut linked(link, &[&here]),
            &["count", "fork:count", &open, "fork:count", "count"],
        );
        assert_eq!(
            out, "count 100 0\ncount 100 0\ncount 0 3\ncount 0 3\n",
            "{link:?}"
        );
    }
}

// The end of threads, libraries and the program

const PLACES: [&str; 8] = [
    "static constructor",
    "main",
    "thread_local destructor",
    "destructor of a key made before",
    "destructor of a key made after",
    "atexit",
    "static destructor",
    "destructor function",
];

fn endings(test: &str, link: Link, allowed: &[&Path], library_path: Option<&Path>, answer: &str) {
    let here = folder(test);
    let program = here.join("endings");
    cc(
        &["endings.cpp"],
        &program,
        &link_arguments(link, libraries()),
    );
    for first in [false, true] {
        let mut command = fenced(&program, allowed);
        if let Some(path) = library_path {
            command.env("LD_LIBRARY_PATH", path);
        }
        let out = steps(&mut command, if first { &["first"] } else { &[] });
        let expected: String = PLACES
            .iter()
            .filter(|place| first || **place != "main")
            .map(|place| format!("{place}: {answer}\n"))
            .collect();
        assert_eq!(out, expected, "{link:?}, first call in main: {first}");
    }
}

#[test]
fn calls_at_the_end_of_threads_and_of_the_program_are_answered() {
    let here = folder("endings-runtime");
    Tiny::new(7, 3).build(&here);
    endings("endings-shared", Link::Shared, &[&here], Some(&here), "0 3");
    endings("endings-static", Link::Static, &[&here], Some(&here), "0 3");
}

#[test]
fn calls_at_the_end_are_answered_without_a_runtime() {
    endings("endings-shared-none", Link::Shared, &[], None, "100 0");
    endings("endings-static-none", Link::Static, &[], None, "100 0");
}

/// A process has 1024 keys for what threads keep. The first call takes one, and keeps the
/// library that holds this code, so that closing and opening it again takes no other.
#[test]
fn a_library_with_hiplazy_inside_stays_once_it_was_called() {
    let here = folder("close");
    Tiny::new(7, 3).build(&here);
    for (path, answer) in [(Some(&here), "count 0 3"), (None, "count 100 0")] {
        let mut command = fenced(host(), &[&here]);
        command.arg("--close").arg(client(Link::Extension));
        if let Some(path) = path {
            command.env("LD_LIBRARY_PATH", path);
        }
        // A missing function makes a block also where there is a runtime.
        let out = steps(&mut command, &["count", "channel"]);
        let once = format!("{answer}\nchannel 0 0 0 0 0\nstill mapped\n");
        assert_eq!(out, once.repeat(2));
    }
}

#[test]
fn the_runtime_stays_open_when_the_library_with_hiplazy_inside_is_closed() {
    let here = folder("close-runtime");
    let runtime = Tiny::new(7, 3).build(&here);
    let mut command = fenced(host(), &[&here]);
    command
        .env("LD_LIBRARY_PATH", &here)
        .args(["--close".as_ref(), client(Link::Extension).as_os_str()]);
    let out = steps(&mut command, &["mapped", "count"]);
    let second = format!("mapped {}\ncount 0 3\nstill mapped\n", runtime.display());
    assert_eq!(out, format!("count 0 3\nstill mapped\n{second}"));
}

// The last failure

#[test]
fn each_of_many_threads_has_its_own_last_failure() {
    for link in [Link::Shared, Link::Static] {
        let program = folder(&format!("failing-threads-{link:?}")).join("program");
        cc(
            &["failing_threads.c"],
            &program,
            &link_arguments(link, libraries()),
        );
        let out = steps(fenced(&program, &[]).arg("64"), &[]);
        assert_eq!(out, "wrong 0\n", "{link:?}");
    }
}

// Out of memory

/// Every allocation of a step fails from the nth on, or only the nth, for every n.
///
/// The step prints `failed` or `works`, and `works` when it is done once more with
/// memory. A single failure may also end in `absent`, for good: ld.so 2.36 takes one of
/// its own failed allocations for a file that is not there.
fn starved(command: &dyn Fn() -> Command, step: &str, failed: &str, absent: &str, works: &str) {
    for (how, first, again) in [
        ("starved", &[failed, works][..], &[works][..]),
        ("starved-once", &[failed, absent, works], &[absent, works]),
    ] {
        let mut command = command();
        preload(&mut command, &plain_library("starve.c"));
        let out = steps(&mut command, &[&format!("{how}:{step}")]);
        check_starved(&out, first, again);
    }
}

fn check_starved(out: &str, first: &[&str], again: &[&str]) {
    let (runs, summary) = out.rsplit_once("allocations ").unwrap();
    let allocations: u32 = summary.trim().parse().unwrap();
    assert!(allocations > 1, "too little was starved: {out}");
    let mut wrong = Vec::new();
    let mut seen = 0;
    for run in runs.split("after ").skip(1) {
        let (nth, lines) = run.split_once(":\n").unwrap();
        let (answer, second) = lines.split_once("again:\n").unwrap();
        let (answer, second) = (answer.trim_end(), second.trim_end());
        let second = second.split('\n').next().unwrap();
        if !first.contains(&answer) || !again.contains(&second) {
            wrong.push(format!(
                "after {nth} allocations: {answer}; then with memory: {second}\n"
            ));
        }
        seen += 1;
    }
    assert!(
        wrong.is_empty(),
        "of {allocations} allocations:\n{}",
        wrong.concat()
    );
    assert_eq!(seen, allocations + 1);
}

#[test]
fn without_memory_a_first_call_answers_with_an_error_and_the_next_one_works() {
    let here = folder("starved");
    Tiny::new(7, 3).build(&here);
    for link in [Link::Shared, Link::Static] {
        let command = || {
            let mut command = linked(link, &[&here]);
            command.env("LD_LIBRARY_PATH", &here);
            command
        };
        let (failed, absent) = ("malloc 2 unwritten", "malloc 303 unwritten");
        starved(&command, "malloc", failed, absent, "malloc 0 written");
    }
}

#[test]
fn without_memory_there_is_no_fallback_from_hiplazy_runtime() {
    let here = folder("starved-runtime");
    let named = Tiny::new(7, 3).build(&here.join("named"));
    Tiny::new(7, 4).build(&here.join("rocm/lib"));
    let command = || {
        let mut command = linked(Link::Shared, &[&here]);
        command
            .env("HIPLAZY_RUNTIME", &named)
            .env("ROCM_PATH", here.join("rocm"));
        command
    };
    starved(&command, "count", "count 2 0", "count 100 0", "count 0 3");
}

#[test]
fn without_memory_hiplazy_disable_is_still_obeyed() {
    let here = folder("starved-disable");
    Tiny::new(7, 3).build(&here);
    let command = || {
        let mut command = linked(Link::Shared, &[&here]);
        command
            .env("HIPLAZY_DISABLE", "1")
            .env("LD_LIBRARY_PATH", &here);
        command
    };
    starved(&command, "count", "count 2 0", "count 100 0", "count 100 0");
}

#[test]
fn without_memory_a_failure_can_still_be_told() {
    let mut command = linked(Link::Shared, &[]);
    preload(&mut command, &plain_library("starve.c"));
    let out = steps(&mut command, &["count", "starved:error"]);
    let told = "error hipGetDeviceCount: no HIP runtime";
    assert!(out.contains(told) && !out.contains("error \n"), "{out}");
}

#[test]
fn without_memory_the_other_libraries_answer_with_their_errors() {
    let here = folder("starved-others");
    Tiny::new(6, 3).with("-DHIPRTC").build(&here);
    companion(&here, "libhsa-runtime64.so.1", "HSA", 55);
    for (step, failed, absent, works) in [
        ("rtc", "rtc 11 -7", "rtc 11 -7", "rtc 0 103"),
        ("hsa", "hsa 4096", "hsa 4096", "hsa 55"),
        ("load", "load 2", "load 303", "load 0"),
    ] {
        let command = || {
            let mut command = linked(Link::Shared, &[&here]);
            command.env("LD_LIBRARY_PATH", &here);
            command
        };
        starved(&command, step, failed, absent, works);
    }
}
