//! What happens where there is no runtime, what it costs, and that arguments of every
//! shape arrive where there is one.

mod common;
mod loader;

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::{cc, fenced, libraries, preload, root, scratch, skip, typed_libraries};
use hiplazy_abi::{
    Action, BREAKS_TXT, Class, FUNCTIONS_TXT, SLOTS_TXT, entries, parse_breaks, parse_functions,
    parse_slots,
};
use loader::{
    Link, Tiny, client, fenced_client, link_arguments, linked, plain_library, steps, steps_and_log,
};

fn folder(test: &str) -> PathBuf {
    scratch(&format!("headless-{test}")).canonicalize().unwrap()
}

const LINKS: [Link; 3] = [Link::Shared, Link::Static, Link::Extension];

// Loading

/// What a process does with files, processes and threads while it opens `library`, by
/// strace. `None`, said as a skip, without strace.
fn traced_loading(test: &str, library: &Path) -> Option<Vec<String>> {
    let here = folder(test);
    let program = here.join("loading");
    cc(&["loading.c"], &program, &["-ldl"]);
    let trace = here.join("trace");
    let output = common::clean(Path::new("strace"))
        .args(["-f", "-e", "trace=%file,%process,%network", "-o"])
        .args([&trace, &program])
        .arg(library)
        .output();
    match output {
        Err(why) => {
            skip("tracing the loading of hiplazy", &format!("strace: {why}"));
            return None;
        }
        Ok(output) if output.status.success() => {}
        Ok(output) => {
            skip("tracing the loading of hiplazy", &common::text_of(&output));
            return None;
        }
    }
    let text = fs::read_to_string(trace).unwrap();
    let (_, rest) = text.split_once("/mark/before").expect("the first mark");
    let (between, _) = rest.split_once("/mark/after").expect("the second mark");
    let lines = between.lines().skip(1);
    Some(
        lines
            .filter(|line| line.contains('(') && !line.contains("access("))
            .map(str::to_owned)
            .collect(),
    )
}

#[test]
fn loading_hiplazy_opens_no_file_but_itself_and_starts_nothing() {
    let shared = libraries().join("libhiplazy.so");
    for (test, library) in [
        ("trace-shared", &*shared),
        ("trace-static", client(Link::Extension)),
    ] {
        let Some(calls) = traced_loading(test, library) else {
            return;
        };
        let path = library.to_str().unwrap();
        // With an older glibc, its parts; and a look at a file that is open already.
        let expected = [
            path,
            "ld.so.cache",
            "libdl.so.2",
            "libpthread.so.0",
            "AT_EMPTY_PATH",
            " fstat(",
        ];
        let others: Vec<&String> = calls
            .iter()
            .filter(|call| !expected.iter().any(|part| call.contains(part)))
            .collect();
        assert!(calls.iter().any(|call| call.contains(path)), "{calls:?}");
        assert!(others.is_empty(), "{others:#?}");
    }
}

#[test]
fn loading_hiplazy_makes_no_call_of_open_or_dlopen() {
    for link in [Link::Shared, Link::Static] {
        let mut command = linked(link, &[]);
        preload(&mut command, &plain_library("count.c"));
        assert_eq!(steps(&mut command, &["counted"]), "counted 0\n", "{link:?}");
    }
}

// A missing runtime

#[test]
fn a_missing_runtime_costs_one_search_and_no_more() {
    let here = folder("one-search");
    for link in [Link::Shared, Link::Static] {
        let mut command = linked(link, &[&here]);
        command
            .env("ROCM_PATH", here.join("rocm"))
            .env("HIP_PATH", here.join("hip"));
        preload(&mut command, &plain_library("count.c"));
        let out = steps(
            &mut command,
            &[
                "count",
                "counted",
                "repeat:1000:malloc",
                "counted",
                "thread:repeat:1000:count",
                "counted",
                "rtc",
                "hsa",
                "counted",
                "repeat:1000:rtc",
                "repeat:1000:hsa",
                "counted",
            ],
        );
        let counted: Vec<u32> = out
            .lines()
            .filter_map(|line| line.strip_prefix("counted "))
            .map(|number| number.parse().unwrap())
            .collect();
        let [first, malloc, thread, _, others] = counted[..] else {
            panic!("{out}");
        };
        // Four names in four folders.
        assert!(first >= 16, "the search is not counted: {out}");
        assert_eq!([malloc, thread, others], [0; 3], "{link:?}: {out}");
    }
}

#[test]
fn a_missing_runtime_is_nothing_to_write_about() {
    let (out, log) = steps_and_log(&mut fenced_client(&[]), &["count", "malloc", "rtc", "hsa"]);
    assert_eq!(
        out,
        "count 100 0\nmalloc 303 unwritten\nrtc 11 -7\nhsa 4096\n"
    );
    assert_eq!(log, "");
}

#[test]
fn init_and_count_answer_no_device_and_version_queries_write_zero() {
    for link in LINKS {
        let out = steps(
            &mut linked(link, &[]),
            &[
                "init",
                "count",
                "version",
                "driver",
                "malloc",
                "load",
                "path",
                "bound-version",
            ],
        );
        assert_eq!(
            out,
            "init 100\ncount 100 0\nversion 303 0\ndriver 303 0\nmalloc 303 unwritten\n\
             load 303\npath none\nbound-version 0\n",
            "{link:?}"
        );
    }
}

#[test]
fn null_out_pointers_survive() {
    for link in LINKS {
        let out = steps(&mut linked(link, &[]), &["nulls"]);
        assert_eq!(out, "nulls 100 303 303 303 11\n", "{link:?}");
    }
}

#[test]
fn the_last_error_is_read_and_cleared_or_peeked_at_and_each_threads_own() {
    let steps_ = [
        "last",
        "peek",
        "count",
        "peek",
        "peek",
        "thread:peek",
        "last",
        "last",
        "peek",
        "malloc",
        "thread:last",
        "ext-last",
        "last",
        "init",
        "rtc",
        "hsa",
        "last",
    ];
    for link in LINKS {
        let out = steps(&mut linked(link, &[]), &steps_);
        assert_eq!(
            out,
            "last 0\npeek 0\ncount 100 0\npeek 100\npeek 100\npeek 0\nlast 100\nlast 0\npeek 0\n\
             malloc 303 unwritten\nlast 0\next-last 303\nlast 0\ninit 100\nrtc 11 -7\nhsa 4096\n\
             last 100\n",
            "{link:?}"
        );
    }
}

#[test]
fn the_texts_of_errors_are_right_without_a_runtime() {
    let out = steps(
        &mut fenced_client(&[]),
        &[
            "text:0",
            "text:100",
            "text:303",
            "text:-5",
            "rtc-text:0",
            "rtc-text:11",
            "api-name",
            "error",
        ],
    );
    assert!(
        out.starts_with(
            "text hipSuccess: no error\n\
             text hipErrorNoDevice: no ROCm-capable device is detected\n\
             text hipErrorSharedObjectInitFailed: shared object initialization failed\n\
             text hipErrorUnknown: unknown error\n\
             rtc-text HIPRTC_SUCCESS\nrtc-text HIPRTC_ERROR_INTERNAL_ERROR\n\
             api-name ''\nerror hipApiName: no HIP runtime"
        ),
        "a text is not a failure, an unknown name is: {out}"
    );
}

#[test]
fn a_struct_is_all_zero_without_a_runtime() {
    for link in LINKS {
        let out = steps(&mut linked(link, &[]), &["channel"]);
        assert_eq!(out, "channel 0 0 0 0 0\n", "{link:?}");
    }
}

#[test]
fn errno_is_the_callers() {
    let here = folder("errno");
    Tiny::new(7, 3).build(&here);
    for link in LINKS {
        let out = steps(
            &mut linked(link, &[&here]),
            &["errno:count", "errno:malloc", "errno:error"],
        );
        let errno: Vec<&str> = out
            .lines()
            .filter(|line| line.starts_with("errno"))
            .collect();
        assert_eq!(errno, ["errno 1234"; 3], "failing, {link:?}");
        let mut command = linked(link, &[&here]);
        command.env("LD_LIBRARY_PATH", &here);
        let out = steps(&mut command, &["errno:malloc", "errno:count"]);
        let expected = "malloc 0 written\nerrno 1234\ncount 0 3\nerrno 1234\n";
        assert_eq!(out, expected, "binding, {link:?}");
    }
}

// Every function

/// Functions that do not simply answer for their class.
const OTHERS: [&str; 11] = [
    "hipCreateChannelDesc",
    "hipDriverGetVersion",
    "hipExtGetLastError",
    "hipGetDeviceCount",
    "hipGetErrorName",
    "hipGetErrorString",
    "hipGetLastError",
    "hipInit",
    "hipPeekAtLastError",
    "hipRuntimeGetVersion",
    "hiprtcGetErrorString",
];

/// Writes `functions.inc` for `every_function.c` and says how many entries it calls. With
/// a runtime that lacks everything, some answer as others do of which they are made.
fn write_functions(folder: &Path, with_runtime: bool) -> usize {
    let functions = parse_functions(FUNCTIONS_TXT).unwrap();
    let breaks = parse_breaks(BREAKS_TXT).unwrap();
    let entries = entries(&functions, &breaks);
    let is_made = |name: &str| {
        let substitutes = breaks
            .iter()
            .filter(|line| line.action == Action::Substitute);
        with_runtime && substitutes.into_iter().any(|line| line.function == name)
    };
    let mut text = String::new();
    for entry in &entries {
        let function = &functions[entry.function];
        let class = match function.class {
            Class::Error if is_made(&function.name) => "made",
            Class::Error => "error",
            Class::Rtc => "rtc",
            Class::Hsa => "hsa",
            Class::String => "string",
            Class::Pointer => "pointer",
            Class::Int if function.ret == "bool" => "boolean",
            Class::Int => "integer",
            Class::Void => "nothing",
            Class::Struct => "",
        };
        if OTHERS.contains(&entry.name.as_str()) {
            writeln!(text, "OTHER({})", entry.name).unwrap();
        } else {
            writeln!(text, "FUNCTION({}, {}, {class})", entry.name, function.name).unwrap();
        }
    }
    fs::write(folder.join("functions.inc"), text).unwrap();
    let places = parse_slots(SLOTS_TXT).unwrap();
    assert_eq!(entries.len(), places.entries().len());
    entries.len() - OTHERS.len()
}

/// Builds `every_function.c` in each way of linking, and runs it.
fn every_function(test: &str, prepare: impl Fn(&mut Command), code: &str) {
    let here = folder(test);
    let count = write_functions(&here, code == "302");
    for (name, link, libraries) in [
        ("shared", Link::Shared, libraries()),
        ("static", Link::Static, libraries()),
        ("typed", Link::Shared, typed_libraries()),
    ] {
        let program = here.join(name);
        let mut arguments = link_arguments(link, libraries);
        arguments.push(format!("-I{}", here.display()).into());
        cc(&["every_function.c"], &program, &arguments);
        let mut command = fenced(&program, &[&here]);
        prepare(&mut command);
        let out = steps(command.arg(code), &[]);
        assert_eq!(out, format!("{count} entries, 0 wrong\n"), "{name}");
    }
}

#[test]
fn every_function_answers_for_its_class_and_touches_nothing_without_a_runtime() {
    every_function("every-absent", |_| (), "303");
}

#[test]
fn every_function_answers_so_too_when_hiplazy_is_disabled() {
    let here = folder("every-disabled-runtime");
    let runtime = Tiny::new(7, 3).build(&here);
    every_function(
        "every-disabled",
        |command| {
            command
                .env("HIPLAZY_DISABLE", "1")
                .env("HIPLAZY_RUNTIME", &runtime);
        },
        "303",
    );
}

#[test]
fn every_function_that_a_runtime_lacks_answers_302_and_touches_nothing() {
    let here = folder("every-missing-runtime");
    // HIP 5 with half of tiny_runtime.c has none that every_function.c calls.
    Tiny::new(5, 3).with("-DHALF").build(&here);
    every_function(
        "every-missing",
        |command| {
            command.env("LD_LIBRARY_PATH", &here);
            command.env("FENCE_ALLOW", &here);
        },
        "302",
    );
}

// Shapes of arguments

const SHAPES: [(&str, &str, &str); 13] = [
    (
        "hipModuleLaunchKernel",
        "0x7000000000000001 2 3 4 5 6 7 4294967288 0x7000000000000009 0x700000000000000a \
         0x700000000000000b",
        "17",
    ),
    (
        "hipExtModuleLaunchKernel",
        "0x7000000000000001 2 3 4 5 6 7 4294967304 0x7000000000000009 0x700000000000000a \
         0x700000000000000b 0x700000000000000c 0x700000000000000d 4294967295",
        "17",
    ),
    (
        "hipLaunchKernel",
        "0x7000000000000001 4294967281 4294967282 4294967283 4 5 6 0x7000000000000004 4294967301 \
         0x7000000000000006",
        "17",
    ),
    (
        "__hipPushCallConfiguration",
        "4294967281 4294967282 4294967283 4 5 6 4294967299 0x7000000000000004",
        "17",
    ),
    (
        "hipMalloc3D",
        "0x7000000000000001 4294967317 4294967318 4294967319",
        "17",
    ),
    (
        "hipMemset3D",
        "0x700000000000001f 4294967328 4294967329 4294967330 -5 4294967317 4294967318 4294967319",
        "17",
    ),
    (
        "hipIpcOpenMemHandle",
        "0x7000000000000001 <hhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhh> \
         4294967282",
        "17",
    ),
    (
        "hipMemPrefetchAsync_v2",
        "0x7000000000000001 4294967298 -1 2147483647 4 0x7000000000000005",
        "17",
    ),
    (
        "hipTexRefSetMipmapLevelBias",
        "0x7000000000000001 0.7500",
        "17",
    ),
    (
        "hipTexRefSetMipmapLevelClamp",
        "0x7000000000000001 -1.5000 1234.5000",
        "17",
    ),
    ("hipCreateChannelDesc", "1 2 3 4 5", "11 12 13 14 15"),
    ("hipGetErrorName", "-3", "a name"),
    ("__hipRegisterFatBinary", "0x7000000000000001", "a pointer"),
];

/// Each shape by the cold path, as the first call of a process, and by the slot.
fn shapes_test(test: &str, link: Link, libraries: &Path) {
    let here = folder(test);
    let map = root().join("tests/c/tiny_runtime.map");
    let runtime = here.join("libamdhip64.so.7");
    let arguments = [
        "-shared".to_owned(),
        "-fPIC".to_owned(),
        "-Wl,-soname,libamdhip64.so.7".to_owned(),
        format!("-Wl,--undefined-version,--version-script,{}", map.display()),
    ];
    cc(&["shapes_runtime.c"], &runtime, &arguments);
    let program = here.join("shapes");
    cc(&["shapes.c"], &program, &link_arguments(link, libraries));
    for (name, arguments, result) in SHAPES {
        let mut command = fenced(&program, &[&here]);
        command.env("LD_LIBRARY_PATH", &here);
        let once = format!("{name} {arguments}\nreturned {result}\n");
        assert_eq!(steps(&mut command, &[name]), once.repeat(2));
    }
}

#[test]
fn arguments_of_every_shape_arrive_through_the_shared_library() {
    shapes_test("shapes-shared", Link::Shared, libraries());
}

#[test]
fn arguments_of_every_shape_arrive_through_the_static_library() {
    shapes_test("shapes-static", Link::Static, libraries());
}

#[test]
fn arguments_of_every_shape_arrive_through_typed_wrappers() {
    shapes_test("shapes-typed", Link::Shared, typed_libraries());
    shapes_test("shapes-typed-static", Link::Static, typed_libraries());
}

/// The names that the tests above call otherwise are functions, too.
#[test]
fn the_functions_with_answers_of_their_own_are_in_the_manifest() {
    let functions = parse_functions(FUNCTIONS_TXT).unwrap();
    for name in OTHERS.iter().chain(SHAPES.iter().map(|(name, _, _)| name)) {
        assert!(
            functions.iter().any(|function| function.name == *name),
            "{name}"
        );
    }
}
