//! Versions that the manifest does not know: of headers, and of runtimes.

use std::collections::BTreeSet;

use fakehip::{Library, Version};

use crate::cell::{Cell, Passed};
use crate::child::{Answer, Runtime, make, odd_runtime, runtimes};
use crate::common::{self, cc, fenced, run, scratch};
use crate::policy::call;
use crate::tables::tables;

type Headers = hiplazy_abi::Version;

/// What a program says whose record tells `headers`, with its plain entries.
fn said_by(headers: Headers, runtime: &Runtime) -> String {
    let program = scratch(&format!("abi-matrix-recorded-{headers}")).join("recorded");
    let number = headers.major * 10_000_000 + headers.minor * 100_000 + 77;
    let removed = tables().value("hipDeviceAttributeName", Headers::new(5, 7));
    let removed = format!("-DREMOVED={}", removed.unwrap());
    let archive = common::libraries().join("libhiplazy.a");
    let headers = format!("-DHEADERS={number}");
    let archive = archive.to_str().unwrap();
    cc(
        &["abi_matrix/recorded.c"],
        &program,
        &[headers.as_str(), &removed, archive, "-ldl"],
    );
    let mut command = fenced(&program, &[runtime.file.parent().unwrap()]);
    command
        .env("HIPLAZY_RUNTIME", &runtime.file)
        .env("FAKEHIP_RECORD", "1");
    run(&mut command)
}

/// As the record tells them; the entries of generations are tested in `src/breaks.rs`.
#[test]
fn headers_of_an_unknown_version_are_taken_for_the_nearest() {
    let newest = runtimes()
        .iter()
        .find(|it| it.version == Headers::new(7, 14));
    let mut known = BTreeSet::new();
    for (odd, nearest) in [
        ((4, 5), (5, 2)),
        ((5, 8), (5, 7)),
        ((6, 9), (6, 4)),
        ((7, 99), (7, 14)),
    ] {
        let [odd, nearest] = [odd, nearest]
            .map(|(major, minor)| said_by(Headers::new(major, minor), newest.unwrap()));
        assert_eq!(odd, nearest);
        known.insert(nearest);
    }
    // Otherwise being the same would prove nothing.
    assert_eq!(known.len(), 4, "{known:#?}");
}

/// Calls that are decided by the runtime's minor version, by its major alone, and by neither.
fn calls(runtime: &Runtime) -> [Cell; 4] {
    let [newer, older] = [Headers::new(7, 0), Headers::new(5, 3)];
    let warp_size = tables().value("hipDeviceAttributeWarpSize", newer).unwrap();
    let attribute = vec![Passed::Room(4), Passed::Value(warp_size), Passed::Value(0)];
    // hipDeviceLmemResizeToMax, of the older headers and of the runtime's.
    let flags = |value| vec![Passed::Value(value)];
    let mut unknown = call("hipSetDeviceFlags", newer, runtime, flags(0x10));
    unknown.entry = "hiplazy_hipSetDeviceFlags".to_string();
    [
        call("hipDeviceGetAttribute", newer, runtime, attribute),
        call(
            "hipSetDeviceFlags",
            older,
            runtime,
            vec![Passed::Value(0x16)],
        ),
        call("hipGetDeviceCount", older, runtime, vec![Passed::Room(4)]),
        unknown,
    ]
}

fn made(test: &str, library: Library) -> Vec<Answer> {
    let runtime = odd_runtime(&format!("abi-matrix-odd-{test}"), &library, Version::V7_14);
    make(&runtime, "strict", &calls(&runtime)).0
}

#[track_caller]
fn assert_refused(answer: &Answer, parts: &[&str]) {
    assert_eq!((answer.status, answer.calls), (801, 0), "{}", answer.error);
    for part in parts {
        assert!(answer.error.contains(part), "{part}: {}", answer.error);
    }
}

#[track_caller]
fn assert_made(answers: &[Answer]) {
    for answer in answers {
        assert_eq!((answer.status, answer.calls), (0, 1), "{}", answer.error);
    }
}

/// `hipDeviceLmemResizeToMax` of the older headers is the runtime's.
#[track_caller]
fn assert_translated(answer: &Answer) {
    assert_eq!(answer.given[&0], [0x10, 0, 0, 0]);
}

/// The SONAME is believed for what it decides: that is what linking goes by.
#[test]
fn a_runtime_whose_version_is_of_another_major_than_its_soname_is_refused_where_it_matters() {
    let answers = made(
        "mixed",
        Library::hip(Version::V7_14).runtime_version(60_443_484),
    );
    assert_refused(
        &answers[0],
        &[
            "hipDeviceGetAttribute: not called",
            "of another major than its SONAME",
            "HIP 6.4.43484, SONAME libamdhip64.so.7",
        ],
    );
    assert_made(&answers[1..]);
    assert_translated(&answers[1]);
}

#[test]
fn a_runtime_that_does_not_say_its_version_is_refused_where_it_matters() {
    let answers = made("numbered", Library::hip(Version::V7_14).runtime_version(0));
    assert_refused(
        &answers[0],
        &[
            "differs within this major of HIP",
            "the runtime does not say its version",
            "(SONAME libamdhip64.so.7)",
        ],
    );
    assert_made(&answers[1..]);
    assert_translated(&answers[1]);
}

#[test]
fn a_runtime_of_no_number_at_all_is_refused_whatever_has_changed_ever() {
    let library = Library::hip(Version::V7_14).soname("libamdhip64.so");
    let answers = made("nameless", library.clone().runtime_version(0));
    for answer in &answers[..2] {
        assert_refused(
            answer,
            &[
                "says neither by its SONAME nor by its version which it is",
                "(SONAME libamdhip64.so)",
            ],
        );
    }
    // What never changed, and callers of whom nothing is known either.
    assert_made(&answers[2..]);
    // The version is enough.
    let answers = made("unnumbered", library);
    assert_made(&answers);
    assert_translated(&answers[1]);
}
