//! Calls where something is scarce: stack, descriptors, thread-specific keys, and the
//! memory of a process with many threads.

mod common;
mod loader;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use common::{cc, clean, fenced, libraries, scratch, skip};
use loader::{Link, Tiny, client, host, link_arguments, linked, steps};

fn folder(test: &str) -> PathBuf {
    scratch(&format!("limits-{test}")).canonicalize().unwrap()
}

const LINKS: [Link; 3] = [Link::Shared, Link::Static, Link::Extension];

/// `limits.c`, built once for each way of linking.
fn limits(link: Link) -> Command {
    static BUILT: [OnceLock<PathBuf>; 3] = [const { OnceLock::new() }; 3];
    let program = BUILT[link as usize].get_or_init(|| {
        let output = folder(&format!("program-{link:?}")).join("limits");
        let mut arguments = link_arguments(link, libraries());
        // Its dlopen is to be found by the library; no stack is to go to lazy binding.
        arguments.extend(["-rdynamic", "-Wl,-z,now"].map(Into::into));
        cc(&["limits.c"], &output, &arguments);
        output
    });
    // Not fenced: it keeps the machine's runtimes out itself.
    clean(program)
}

// Stack

// With glibc 2.36 both first calls fit into 16 KiB; the rest is left to other ld.so.

#[test]
fn a_first_call_without_a_runtime_needs_at_most_32_kib_of_stack() {
    for link in [Link::Shared, Link::Static] {
        let out = steps(&mut limits(link), &["first", "32"]);
        assert_eq!(out, "count 100 0\n", "{link:?}");
    }
}

#[test]
fn a_first_call_that_binds_a_runtime_needs_at_most_32_kib_of_stack() {
    let here = folder("stack-runtime");
    Tiny::new(7, 3).build(&here);
    for link in [Link::Shared, Link::Static] {
        let mut command = limits(link);
        command.env("LD_LIBRARY_PATH", &here);
        let out = steps(&mut command, &["first", "32"]);
        assert_eq!(out, "count 0 3\n", "{link:?}");
    }
}

/// 16 KiB is the least that a thread may have.
#[test]
fn a_call_after_a_remembered_absence_needs_no_more_than_the_smallest_thread_has() {
    for link in [Link::Shared, Link::Static] {
        let out = steps(&mut limits(link), &["again", "16"]);
        assert_eq!(out, "count 100 0\n", "{link:?}");
    }
}

/// 8 KiB is SIGSTKSZ of old.
#[test]
fn a_signal_handler_on_8_kib_may_call_after_a_remembered_absence() {
    for link in [Link::Shared, Link::Static] {
        let out = steps(&mut limits(link), &["signal", "8"]);
        if let Some(why) = out.strip_prefix("refused: ") {
            // It knows how much it saves; some processors have more registers.
            return skip("a call on a signal stack of 8 KiB", why.trim_end());
        }
        assert_eq!(out, "count 100 0\n", "{link:?}");
    }
}

// Descriptors

/// The runtime in the place that `variable` names, and the call that meets no descriptor.
fn without_descriptors(test: &str, variable: &str, value: impl Fn(&Path) -> PathBuf) {
    let here = folder(test);
    Tiny::new(7, 3).build(&here.join("lib"));
    for link in LINKS {
        let mut command = linked(link, &[&here]);
        command.env(variable, value(&here));
        let out = steps(
            &mut command,
            &["files:none", "count", "error", "files:more", "count"],
        );
        let (first, rest) = out.split_once('\n').unwrap();
        assert_eq!(first, "count 100 0", "{link:?}");
        assert!(
            rest.starts_with("error hipGetDeviceCount: no HIP runtime"),
            "{rest}"
        );
        assert!(
            rest.contains("no file descriptors left") || rest.contains("Too many open files"),
            "{link:?}: {rest}"
        );
        assert!(rest.ends_with("\ncount 0 3\n"), "{link:?}: {rest}");
    }
}

#[test]
fn without_descriptors_a_first_call_fails_and_the_next_one_binds_what_rocm_path_has() {
    without_descriptors("files-rocm-path", "ROCM_PATH", Path::to_owned);
}

#[test]
fn without_descriptors_a_first_call_fails_and_the_next_one_binds_what_ld_so_finds() {
    without_descriptors("files-ld-so", "LD_LIBRARY_PATH", |here| here.join("lib"));
}

#[test]
fn without_descriptors_a_first_call_fails_and_the_next_one_binds_what_hiplazy_runtime_names() {
    without_descriptors("files-named", "HIPLAZY_RUNTIME", |here| {
        here.join("lib/libamdhip64.so.7")
    });
}

// Thread-specific keys

#[test]
fn without_a_key_calls_answer_with_errors_and_a_text() {
    let here = folder("keys");
    Tiny::new(7, 3).build(&here);
    for link in LINKS {
        for path in [None, Some(&here)] {
            let mut command = linked(link, &[&here]);
            if let Some(path) = path {
                command.env("LD_LIBRARY_PATH", path);
            }
            let out = steps(
                &mut command,
                &[
                    "keys:none",
                    "count",
                    "malloc",
                    "rtc",
                    "hsa",
                    "last",
                    "thread:count",
                    "error",
                ],
            );
            let (answers, error) = out.split_once("error ").unwrap();
            assert_eq!(
                answers,
                "count 100 0\nmalloc 303 unwritten\nrtc 11 -7\nhsa 4096\nlast 0\ncount 100 0\n",
                "{link:?}, a runtime in {path:?}"
            );
            assert!(
                error.contains("no thread-specific data key is left"),
                "{error}"
            );
        }
    }
}

#[test]
fn when_there_is_a_key_again_the_next_call_binds() {
    let here = folder("keys-again");
    Tiny::new(7, 3).build(&here);
    for link in LINKS {
        let mut command = linked(link, &[&here]);
        command.env("LD_LIBRARY_PATH", &here);
        let out = steps(&mut command, &["keys:none", "count", "keys:back", "count"]);
        assert_eq!(out, "count 100 0\ncount 0 3\n", "{link:?}");
    }
}

/// Each time that it is loaded again it would take one more of the process's 1024 keys.
#[test]
fn an_extension_may_be_opened_and_closed_1100_times() {
    let here = folder("cycles");
    let runtime = Tiny::new(7, 3).build(&here);
    let (here, runtime) = (here.as_path(), runtime.as_path());
    // A path that is named needs no other look at ld.so, which would hold the extension.
    for (variable, value, answer) in [
        ("LD_LIBRARY_PATH", here, "count 0 3\n"),
        ("LD_LIBRARY_PATH", Path::new(""), "count 100 0\n"),
        ("HIPLAZY_RUNTIME", runtime, "count 0 3\n"),
        ("HIPLAZY_DISABLE", Path::new("1"), "count 100 0\n"),
    ] {
        let mut command = fenced(host(), &[here]);
        command
            .args(["--cycles", "1100"])
            .arg(client(Link::Extension))
            .env(variable, value);
        let out = steps(&mut command, &["count"]);
        assert!(
            out == answer.repeat(1100) + "keys left: yes\n",
            "{variable}: {} right answers, at the end: {:?}",
            out.matches(answer).count(),
            out.lines().last()
        );
    }
}

// Memory

/// A thread keeps its failure in a block of 12 KiB.
#[test]
fn threads_that_failed_and_ended_leave_no_memory_in_use() {
    for link in [Link::Shared, Link::Static] {
        let out = steps(&mut limits(link), &["threads", "2000"]);
        let grown: i64 = out
            .strip_prefix("grown ")
            .and_then(|number| number.trim_end().parse().ok())
            .unwrap_or_else(|| panic!("{out}"));
        assert!(grown < 1 << 20, "{link:?}: {grown} bytes");
    }
}
