//! First calls of many threads at once, and calls from constructors.

mod common;
mod loader;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use common::{cc, fenced, libraries, scratch};
use loader::{Link, Tiny, companion, link_arguments, steps};

fn folder(test: &str) -> PathBuf {
    scratch(&format!("concurrency-{test}"))
        .canonicalize()
        .unwrap()
}

/// Built once for each way of linking.
type Programs = [OnceLock<PathBuf>; 3];

fn program(source: &str, link: Link, built: &'static Programs, more: &[&str]) -> &'static Path {
    built[link as usize].get_or_init(|| {
        let output = folder(&format!("{source}-{link:?}")).join("program");
        let mut arguments = link_arguments(link, libraries());
        arguments.extend(more.iter().map(Into::into));
        cc(&[source], &output, &arguments);
        output
    })
}

fn first_calls(link: Link) -> &'static Path {
    static BUILT: Programs = [const { OnceLock::new() }; 3];
    program("first_calls.c", link, &BUILT, &[])
}

/// Runs `command` in `processes` processes, as many at a time as there are processors,
/// and checks what each printed.
fn in_processes(processes: usize, command: &(dyn Fn() -> Command + Sync), expected: &str) {
    let next = AtomicUsize::new(0);
    let parallel = thread::available_parallelism().map_or(2, usize::from);
    thread::scope(|scope| {
        for _ in 0..parallel {
            scope.spawn(|| {
                while next.fetch_add(1, Ordering::Relaxed) < processes {
                    assert_eq!(steps(&mut command(), &[]), expected);
                }
            });
        }
    });
}

#[test]
fn first_calls_of_64_threads_are_all_right_in_200_processes() {
    let here = folder("one");
    let runtime = Tiny::new(7, 3).build(&here);
    let command = || {
        let mut command = fenced(first_calls(Link::Shared), &[&here]);
        command
            .env("LD_LIBRARY_PATH", &here)
            .args(["64", "3", "71460850", "one"]);
        command
    };
    let expected = format!("wrong 0\nmapped {}\n", runtime.display());
    in_processes(200, &command, &expected);
}

#[test]
fn first_calls_of_different_functions_are_all_right() {
    let here = folder("mixed");
    let runtime = Tiny::new(7, 3).build(&here);
    let expected = format!("wrong 0\nmapped {}\n", runtime.display());
    for link in [Link::Shared, Link::Static] {
        let command = || {
            let mut command = fenced(first_calls(link), &[&here]);
            command
                .env("LD_LIBRARY_PATH", &here)
                .args(["64", "3", "71460850", "mixed"]);
            command
        };
        in_processes(50, &command, &expected);
    }
}

#[test]
fn of_several_runtimes_all_threads_take_one_and_open_no_other() {
    let here = folder("several");
    let first = Tiny::new(7, 1).build(&here.join("path"));
    Tiny::new(7, 2).build(&here.join("rocm/lib"));
    Tiny::new(7, 3).build(&here.join("hip/lib"));
    Tiny::new(6, 4).build(&here.join("path"));
    let command = || {
        let mut command = fenced(first_calls(Link::Shared), &[&here]);
        command
            .env("LD_LIBRARY_PATH", here.join("path"))
            .env("ROCM_PATH", here.join("rocm"))
            .env("HIP_PATH", here.join("hip"))
            .args(["64", "1", "71460850", "mixed"]);
        command
    };
    in_processes(
        100,
        &command,
        &format!("wrong 0\nmapped {}\n", first.display()),
    );
}

#[test]
fn behind_refused_candidates_all_threads_take_the_same_runtime() {
    let here = folder("behind-refused");
    // It has the right name and SONAME, so that it is opened, and is refused then.
    let refused = Tiny::new(7, 5)
        .with("-DNO_VERSION")
        .build(&here.join("rocm/lib"));
    let good = Tiny::new(7, 3).build(&here.join("rocm/lib64"));
    Tiny::new(7, 4).build(&here.join("hip/lib"));
    let command = || {
        let mut command = fenced(first_calls(Link::Shared), &[&here]);
        command
            .env("ROCM_PATH", here.join("rocm"))
            .env("HIP_PATH", here.join("hip"))
            .args(["64", "3", "71460850", "mixed"]);
        command
    };
    let expected = format!(
        "wrong 0\nmapped {}\nmapped {}\n",
        refused.display(),
        good.display()
    );
    in_processes(100, &command, &expected);
}

#[test]
fn without_a_runtime_all_threads_are_told_so() {
    let here = folder("none");
    let command = || {
        let mut command = fenced(first_calls(Link::Shared), &[&here]);
        command.args(["64", "0", "0", "mixed"]);
        command
    };
    in_processes(20, &command, "wrong 0\n");
}

// Constructors

/// `constructors.c`, whose own functions the libraries must find.
fn constructors(link: Link) -> &'static Path {
    static BUILT: Programs = [const { OnceLock::new() }; 3];
    program("constructors.c", link, &BUILT, &["-rdynamic"])
}

/// A `Once` or a mutex around the first call deadlocks here: the other thread waits, with
/// it, for the dynamic linker, which waits for this constructor.
#[test]
fn a_plugins_constructor_may_call_while_another_thread_makes_the_first_call() {
    let here = folder("plugin");
    Tiny::new(7, 3).build(&here);
    let plugin = here.join("plugin.so");
    let arguments = ["-shared", "-fPIC", "-DWHO=\"plugin\"", "-ldl"];
    cc(&["tiny_companion.c"], &plugin, &arguments);
    for link in [Link::Shared, Link::Static] {
        let mut command = fenced(constructors(link), &[&here]);
        command
            .env("LD_LIBRARY_PATH", &here)
            .arg("plugin")
            .arg(&plugin);
        let out = steps(&mut command, &[]);
        let mut lines: Vec<&str> = out.lines().map(str::trim_end).collect();
        lines.sort_unstable();
        assert_eq!(
            lines,
            ["afterwards: 0 3", "other thread: 0 3", "plugin: 0 3"],
            "{link:?}"
        );
    }
}

/// The runtime's constructor gets the runtime's own function, and nobody else does before
/// the constructor has returned: a function of `tiny_runtime.c` answers 999 then.
#[test]
fn a_runtimes_constructor_may_call_and_no_other_thread_enters_the_half_built_runtime() {
    let here = folder("runtime");
    Tiny::new(7, 3).build(&here);
    for link in [Link::Shared, Link::Static] {
        let mut command = fenced(constructors(link), &[&here]);
        command.env("LD_LIBRARY_PATH", &here).arg("runtime");
        let out = steps(&mut command, &[]);
        let mut lines: Vec<&str> = out.lines().map(str::trim_end).collect();
        lines.sort_unstable();
        let expected = [
            "afterwards: 0 3",
            "first call: 0 3",
            "other thread: 0 3",
            "runtime: 0 3",
            "runtime: 0 3",
        ];
        assert_eq!(lines, expected, "{link:?}");
    }
}

/// A library that the runtime needs is constructed before the runtime, which is mapped by
/// then: its functions answer 999, and the call reaches them or fails with a text, but
/// does not wait.
#[test]
fn the_constructor_of_a_runtimes_dependency_may_call() {
    let here = folder("dependency");
    let dependency = companion(&here, "libneeded.so.1", "PLAIN", 0);
    Tiny::new(7, 3)
        .with("-Wl,--no-as-needed,-rpath,$ORIGIN")
        .with(dependency.to_str().unwrap())
        .build(&here);
    for link in [Link::Shared, Link::Static] {
        let mut command = fenced(constructors(link), &[&here]);
        command.env("LD_LIBRARY_PATH", &here).arg("dependency");
        let out = steps(&mut command, &[]);
        let calls: Vec<&str> = out
            .lines()
            .filter(|line| line.starts_with("dependency"))
            .collect();
        assert_eq!(calls.len(), 2, "{out}");
        for line in ["first call: 0 3", "other thread: 0 3", "afterwards: 0 3"] {
            assert!(
                out.lines().any(|text| text.trim_end() == line),
                "{link:?}: {out}"
            );
        }
    }
}

/// A first candidate that calls from its constructor and is refused afterwards must not
/// leave the next one marked as being opened.
#[test]
fn a_constructor_of_a_refused_candidate_does_no_harm() {
    let here = folder("refused");
    Tiny::new(7, 5)
        .with("-DNO_VERSION")
        .build(&here.join("path"));
    Tiny::new(7, 3).build(&here.join("rocm/lib"));
    let mut command = fenced(constructors(Link::Shared), &[&here]);
    command
        .env("LD_LIBRARY_PATH", here.join("path"))
        .env("ROCM_PATH", here.join("rocm"))
        .arg("runtime");
    let out = steps(&mut command, &[]);
    for line in ["first call: 0 3", "other thread: 0 3", "afterwards: 0 3"] {
        assert!(out.lines().any(|text| text.trim_end() == line), "{out}");
    }
    assert!(
        out.contains("runtime: 303 -7 hipGetDevice: called by a constructor"),
        "{out}"
    );
}

/// A thread whose environment names another runtime joins the one that is being opened.
#[test]
fn a_candidate_that_another_thread_is_opening_is_taken_whatever_was_to_be_tried() {
    let here = folder("announced");
    let first = Tiny::new(7, 3).build(&here.join("first"));
    let second = Tiny::new(7, 4).build(&here.join("second"));
    for link in [Link::Shared, Link::Static] {
        let mut command = fenced(constructors(link), &[&here]);
        command
            .env("HIPLAZY_RUNTIME", &first)
            .arg("runtime")
            .arg(&second);
        let out = steps(&mut command, &[]);
        let mut lines: Vec<&str> = out.lines().map(str::trim_end).collect();
        lines.sort_unstable();
        let mapped = format!("mapped {}", first.display());
        let expected = [
            "afterwards: 0 3",
            "first call: 0 3",
            &mapped,
            "other thread: 0 3",
            "runtime: 0 3",
            "runtime: 0 3",
        ];
        assert_eq!(lines, expected, "{link:?}");
    }
}
