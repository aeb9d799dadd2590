//! Libraries that are mapped already, or while a search goes on.

mod common;
mod loader;

use std::fs;
use std::path::PathBuf;

use common::scratch;
use loader::{
    Link, Tiny, candidates, companion, disguise, fenced_client, linked, steps, steps_and_log,
};

fn folder(test: &str) -> PathBuf {
    scratch(&format!("mapped-{test}")).canonicalize().unwrap()
}

// The HIP runtime

/// More copies than are told apart, and the one that others link to is the last.
#[test]
fn of_more_than_16_mapped_copies_the_one_that_others_link_to_is_taken() {
    let here = folder("many");
    let copy = Tiny::new(7, 1).build(&here);
    let mut opens: Vec<String> = (1..=20)
        .map(|number| {
            let path = here.join(format!("{number}/libamdhip64.so.7"));
            fs::create_dir(path.parent().unwrap()).unwrap();
            fs::copy(&copy, &path).unwrap();
            format!("open:{}", path.display())
        })
        .collect();
    let global = Tiny::new(7, 99).build(&here.join("global"));
    opens.push(format!("global:{}", global.display()));
    opens.extend(["count", "path"].map(String::from));
    let all: Vec<&str> = opens.iter().map(String::as_str).collect();
    for link in [Link::Shared, Link::Static, Link::Extension] {
        let out = steps(&mut linked(link, &[&here]), &all);
        let expected = format!("count 0 99\npath {}\n", global.display());
        assert_eq!(out, expected, "{link:?}");
    }
}

#[test]
fn a_runtime_that_a_refused_candidate_maps_answers_the_same_call() {
    let here = folder("meanwhile");
    let hidden = Tiny::new(7, 7).build(&here.join("not-searched"));
    Tiny::new(7, 5)
        .with("-DNO_VERSION")
        .with(format!("-DOPENS=\"{}\"", hidden.display()))
        .build(&here.join("path"));
    for link in [Link::Shared, Link::Static, Link::Extension] {
        let mut command = linked(link, &[&here]);
        command.env("LD_LIBRARY_PATH", here.join("path"));
        let out = steps(&mut command, &["count", "path"]);
        let expected = format!("count 0 7\npath {}\n", hidden.display());
        assert_eq!(out, expected, "{link:?}");
    }
}

/// ld.so knows it by the relative path, which means something else by then.
#[test]
fn a_runtime_mapped_by_a_relative_path_is_known_by_its_real_one() {
    let here = folder("relative");
    let runtime = Tiny::new(7, 7).build(&here.join("one"));
    companion(&here.join("one"), "libhiprtc.so.7", "HIPRTC", 7);
    Tiny::new(7, 9).build(&here.join("two"));
    companion(&here.join("two"), "libhiprtc.so.7", "HIPRTC", 9);
    for link in [Link::Shared, Link::Static, Link::Extension] {
        let out = steps(
            &mut linked(link, &[&here]),
            &[
                &format!("folder:{}", here.join("one").display()),
                "open:./libamdhip64.so.7",
                &format!("folder:{}", here.join("two").display()),
                "count",
                "path",
                "rtc",
            ],
        );
        let expected = format!("count 0 7\npath {}\nrtc 0 7\n", runtime.display());
        assert_eq!(out, expected, "{link:?}");
    }
}

/// Not even if the one beside it in the old folder is gone.
#[test]
fn hiprtc_in_a_new_working_directory_is_not_the_one_beside_a_runtime_mapped_before() {
    let here = folder("relative-alone");
    Tiny::new(7, 7).build(&here.join("one"));
    companion(&here.join("two"), "libhiprtc.so.7", "HIPRTC", 9);
    let out = steps(
        &mut fenced_client(&[&here]),
        &[
            &format!("folder:{}", here.join("one").display()),
            "open:./libamdhip64.so.7",
            &format!("folder:{}", here.join("two").display()),
            "count",
            "rtc",
        ],
    );
    assert_eq!(out, "count 0 7\nrtc 11 -7\n");
}

// hiprtc

/// A name as auditwheel makes them, so that ld.so does not find it by the plain one.
const RENAMED_RTC: &str = "libhiprtc-00ca8601.so.7.14.60850-0000000";

#[test]
fn hiprtc_mapped_elsewhere_is_taken_where_none_lies_beside_the_runtime() {
    let here = folder("rtc-elsewhere");
    Tiny::new(7, 7).build(&here.join("lib"));
    let elsewhere = companion(&here.join("elsewhere"), RENAMED_RTC, "HIPRTC", 8);
    let open = format!("open:{}", elsewhere.display());
    let ask = || {
        let mut command = fenced_client(&[&here]);
        command.env("ROCM_PATH", &here);
        // HIP is bound before, so that nothing new is mapped when hiprtc is looked for.
        steps(&mut command, &[&open, "count", "rtc"])
    };
    assert_eq!(ask(), "count 0 7\nrtc 0 8\n");
    companion(&here.join("lib"), "libhiprtc.so.7", "HIPRTC", 7);
    assert_eq!(ask(), "count 0 7\nrtc 0 7\n", "the one beside comes first");
}

#[test]
fn hiprtc_of_another_abi_is_not_taken_although_it_is_mapped() {
    let here = folder("rtc-abi");
    Tiny::new(7, 7).build(&here.join("lib"));
    let renamed = RENAMED_RTC.replace("so.7", "so.6");
    let mapped = ["libhiprtc.so.6", &renamed].map(|name| {
        let path = companion(&here.join("elsewhere"), name, "HIPRTC", 6);
        format!("open:{}", path.display())
    });
    let ask = |steps_: [&str; 2]| {
        let mut command = fenced_client(&[&here]);
        command.env("ROCM_PATH", &here).args(&mapped);
        steps(&mut command, &steps_)
    };
    assert_eq!(ask(["count", "rtc"]), "count 0 7\nrtc 11 -7\n");
    // Here the runtime is mapped in the course of the call itself.
    assert_eq!(ask(["rtc", "count"]), "rtc 11 -7\ncount 0 7\n");
}

#[test]
fn hiprtc_that_only_ld_so_finds_is_taken() {
    let here = folder("rtc-ld-so");
    Tiny::new(7, 7).build(&here.join("lib"));
    companion(&here.join("path"), "libhiprtc.so.7", "HIPRTC", 8);
    let mut command = fenced_client(&[&here]);
    command
        .env("ROCM_PATH", &here)
        .env("LD_LIBRARY_PATH", here.join("path"));
    assert_eq!(
        steps(&mut command, &["rtc", "count"]),
        "rtc 0 8\ncount 0 7\n"
    );
}

// HSA

/// A second HSA runtime beside the first breaks both.
#[test]
fn a_mapped_hsa_stays_the_one_after_hip_is_bound() {
    let here = folder("hsa-elsewhere");
    let runtime = Tiny::new(7, 7).build(&here.join("lib"));
    companion(&here.join("lib"), "libhsa-runtime64.so.1", "HSA", 12);
    let elsewhere = companion(
        &here.join("elsewhere"),
        "libhsa-runtime64-0ba78719.so.1.21.0",
        "HSA",
        11,
    );
    let mut command = fenced_client(&[&here]);
    command.env("ROCM_PATH", &here);
    let open = format!("open:{}", elsewhere.display());
    let out = steps(&mut command, &[&open, "count", "hsa", "mapped"]);
    let expected = format!(
        "count 0 7\nhsa 11\nmapped {}\nmapped {}\n",
        elsewhere.display(),
        runtime.display()
    );
    assert_eq!(out, expected);
}

#[test]
fn of_two_mapped_hsa_runtimes_the_one_beside_hip_is_taken() {
    let here = folder("hsa-two");
    Tiny::new(7, 7).build(&here.join("lib"));
    let name = "libhsa-runtime64.so.1";
    let elsewhere = companion(&here.join("elsewhere"), name, "HSA", 11);
    let beside = companion(&here.join("lib"), name, "HSA", 12);
    let mut command = fenced_client(&[&here]);
    command.env("ROCM_PATH", &here);
    let [first, second] = [elsewhere, beside].map(|path| format!("open:{}", path.display()));
    let out = steps(&mut command, &[&first, &second, "count", "hsa"]);
    assert_eq!(out, "count 0 7\nhsa 12\n");
}

#[test]
fn a_mapped_runtime_comes_before_installed_ones() {
    let here = folder("mapped");
    let mapped = Tiny::new(6, 2).build(&here.join("mapped"));
    Tiny::new(7, 3).build(&here.join("library-path"));
    Tiny::new(7, 4).build(&here.join("rocm/lib"));
    let out = steps(
        fenced_client(&[&here])
            .env("ROCM_PATH", here.join("rocm"))
            .env("LD_LIBRARY_PATH", here.join("library-path")),
        &[
            &format!("open:{}", mapped.display()),
            "count",
            "path",
            "mapped",
        ],
    );
    let mapped = mapped.display();
    assert_eq!(out, format!("count 0 2\npath {mapped}\nmapped {mapped}\n"));
}

#[test]
fn a_mapped_copy_that_auditwheel_renamed_is_a_runtime() {
    let here = folder("auditwheel");
    let mapped = Tiny::new(7, 2).auditwheel().build(&here);
    for link in [Link::Shared, Link::Static, Link::Extension] {
        let out = steps(
            &mut linked(link, &[&here]),
            &[&format!("open:{}", mapped.display()), "count", "path"],
        );
        assert_eq!(
            out,
            format!("count 0 2\npath {}\n", mapped.display()),
            "{link:?}"
        );
    }
}

#[test]
fn of_two_mapped_copies_the_first_is_taken_and_all_are_named() {
    let here = folder("two-copies");
    let first = Tiny::new(7, 1).build(&here.join("first"));
    let second = Tiny::new(7, 2).auditwheel().build(&here.join("second"));
    let open = [&first, &second].map(|path| format!("open:{}", path.display()));
    let (out, log) = steps_and_log(
        fenced_client(&[&here]).env("HIPLAZY_LOG", "warn"),
        &[&open[0], &open[1], "count", "path"],
    );
    assert_eq!(out, format!("count 0 1\npath {}\n", first.display()));
    let line = format!(
        "hiplazy: warn: more than one HIP runtime (libamdhip64) is mapped: {} {}\n",
        first.display(),
        second.display()
    );
    assert_eq!(log, line);
    let (_, log) = steps_and_log(&mut fenced_client(&[&here]), &[&open[0], &open[1], "count"]);
    assert_eq!(log, "", "a warning is not shown at the default level");
}

#[test]
fn of_two_mapped_copies_the_one_that_others_link_to_is_taken() {
    let here = folder("two-copies-global");
    let first = Tiny::new(7, 1).build(&here.join("first"));
    let second = Tiny::new(7, 2).build(&here.join("second"));
    let out = steps(
        &mut fenced_client(&[&here]),
        &[
            &format!("open:{}", first.display()),
            &format!("global:{}", second.display()),
            "count",
            "path",
        ],
    );
    assert_eq!(out, format!("count 0 2\npath {}\n", second.display()));
}

/// The origin of the project: a stub whose bare names are in the global scope.
#[test]
fn a_global_stub_does_not_decide_between_two_mapped_copies() {
    let here = folder("two-copies-stub");
    let stub = disguise(&here.join("stub"), "libhip_stub.so");
    let first = Tiny::new(7, 1).build(&here.join("first"));
    let second = Tiny::new(7, 2).build(&here.join("second"));
    let out = steps(
        &mut fenced_client(&[&here]),
        &[
            &format!("global:{}", stub.display()),
            &format!("open:{}", first.display()),
            &format!("open:{}", second.display()),
            "count",
            "version",
            "path",
        ],
    );
    let path = first.display();
    assert_eq!(out, format!("count 0 1\nversion 0 71460850\npath {path}\n"));
}

#[test]
fn a_mapped_runtime_of_an_unknown_abi_ends_the_search() {
    let here = folder("mapped-future");
    let eight = Tiny::new(8, 8).build(&here.join("mapped"));
    Tiny::new(7, 3).build(&here.join("library-path"));
    let out = steps(
        fenced_client(&[&here]).env("LD_LIBRARY_PATH", here.join("library-path")),
        &[
            &format!("open:{}", eight.display()),
            "count",
            "path",
            "mapped",
            "count",
            "error",
        ],
    );
    let (answers, error) = out.split_once("error ").unwrap();
    let mapped = eight.display();
    assert_eq!(
        answers,
        format!("count 100 0\npath none\nmapped {mapped}\ncount 100 0\n")
    );
    let [only] = &candidates(error)[..] else {
        panic!("{error}");
    };
    assert!(
        only.starts_with(&format!("already mapped: {mapped}: its ABI major, 8,")),
        "{only}"
    );
    assert!(
        error.contains("A second runtime beside the mapped one"),
        "{error}"
    );
}

/// An extension that is loaded later must not bind to it (pytorch #186516).
#[test]
fn a_runtime_is_opened_for_hiplazy_alone() {
    let here = folder("local");
    Tiny::new(7, 7).build(&here);
    for link in [Link::Shared, Link::Static, Link::Extension] {
        let mut command = linked(link, &[&here]);
        command.env("LD_LIBRARY_PATH", &here);
        let out = steps(
            &mut command,
            &["count", "global-name:hipInit", "global-name:malloc"],
        );
        assert_eq!(
            out, "count 0 7\nglobal-name no\nglobal-name yes\n",
            "{link:?}"
        );
    }
}
