//! Where translators and stand-ins end: arguments that only one side has a meaning for, and
//! what is missing in the process or in the runtime.

use fakehip::{Library, Version};
use hiplazy_abi::Action;

use crate::cell::{Cell, Passed};
use crate::cells::translated_cells_of;
use crate::child::{Answer, Runtime, make, odd_runtime};
use crate::policy::{action, call, runtime};
use crate::tables::tables;

type Headers = hiplazy_abi::Version;

const NEWEST: Headers = Headers::new(7, 14);

#[track_caller]
fn assert_refused(answer: &Answer, status: i32, text: &str) {
    assert_eq!(
        (answer.status, answer.calls),
        (status, 0),
        "{}",
        answer.error
    );
    assert!(answer.error.contains(text), "{text}: {}", answer.error);
}

/// A call of `hipMemAdvise_v2` and one of `hipMemPrefetchAsync_v2` that name a place.
fn located(runtime: &Runtime, kind: &str, id: i32) -> [Cell; 2] {
    let kind = tables().value(kind, NEWEST).unwrap();
    let location = Passed::Value(u64::from(id as u32) << 32 | kind);
    let advice = vec![
        Passed::Memory,
        Passed::Value(4096),
        Passed::Value(3),
        location.clone(),
    ];
    let mut advice = call("hipMemAdvise_v2", NEWEST, runtime, advice);
    advice.watched = "hipMemAdvise".to_string();
    [advice, prefetch(runtime, location, 0)]
}

fn prefetch(runtime: &Runtime, location: Passed, flags: u64) -> Cell {
    let rest = [Passed::Value(flags), Passed::Value(0)];
    let mut passed = vec![Passed::Memory, Passed::Value(4096), location];
    passed.extend(rest);
    let mut cell = call("hipMemPrefetchAsync_v2", NEWEST, runtime, passed);
    cell.watched = "hipMemPrefetchAsync".to_string();
    cell
}

/// What the older functions are given as the device.
fn device(cell: &Cell, answer: &Answer) -> i32 {
    let place = if cell.function == "hipMemAdvise_v2" {
        3
    } else {
        2
    };
    i32::from_le_bytes(answer.given[&place][..].try_into().unwrap())
}

#[test]
fn a_place_is_the_device_or_the_host_that_the_older_functions_know() {
    let runtime = runtime(5, 7);
    // The fake has device 0 alone, and judges the others itself.
    for (kind, id, passed, status) in [
        ("hipMemLocationTypeDevice", 0, 0, 0),
        ("hipMemLocationTypeDevice", 3, 3, 101),
        ("hipMemLocationTypeHost", 0, -1, 0),
        ("hipMemLocationTypeHost", 3, -1, 0),
        ("hipMemLocationTypeHost", -1, -1, 0),
    ] {
        let cells = located(runtime, kind, id);
        let (answers, _) = make(runtime, "strict", &cells);
        for (cell, answer) in cells.iter().zip(&answers) {
            let ends = (answer.status, answer.calls, device(cell, answer));
            assert_eq!(ends, (status, 1, passed), "{}: {kind} {id}", cell.function);
        }
    }
}

#[test]
fn a_place_that_the_older_functions_cannot_name_is_refused() {
    let runtime = runtime(5, 7);
    let only = "only a device or the host as a whole can be named";
    let negative = "the location is a device of a negative number";
    for (kind, id, status, text) in [
        ("hipMemLocationTypeDevice", -1, 101, negative),
        ("hipMemLocationTypeDevice", -2, 101, negative),
        ("hipMemLocationTypeHostNuma", 0, 801, only),
        ("hipMemLocationTypeHostNumaCurrent", 0, 801, only),
        ("hipMemLocationTypeInvalid", 0, 801, only),
    ] {
        let cells = located(runtime, kind, id);
        let (answers, _) = make(runtime, "strict", &cells);
        for answer in &answers {
            assert_refused(answer, status, text);
        }
    }
}

#[test]
fn prefetching_with_a_flag_is_refused_as_there_is_none() {
    let runtime = runtime(5, 7);
    let cells = [1, 0x8000_0000].map(|flags| prefetch(runtime, Passed::Value(1), flags));
    let (answers, _) = make(runtime, "strict", &cells);
    for answer in &answers {
        assert_refused(answer, 1, "flags must be 0, as they are reserved");
    }
}

/// 0 or 1, by the caller's headers.
#[test]
fn opening_shared_memory_with_another_flag_is_refused() {
    let mut seen = 0;
    for (headers, runtime, known) in [
        (Headers::new(5, 7), runtime(7, 14), 0),
        (NEWEST, runtime(5, 7), 1),
    ] {
        let cells = [1 - known, 2, 3, u64::from(u32::MAX)].map(|flags| {
            let handle = Passed::Handle(vec![7; 64]);
            let passed = vec![Passed::Room(8), handle, Passed::Value(flags)];
            call("hipIpcOpenMemHandle", headers, runtime, passed)
        });
        let (answers, _) = make(runtime, "strict", &cells);
        for (cell, answer) in cells.iter().zip(&answers) {
            assert_refused(answer, 1, "the only flag is hipIpcMemLazyEnablePeerAccess");
            assert_eq!(cell.check_untouched(answer), Ok(()));
            seen += 1;
        }
    }
    assert_eq!(seen, 8);
}

/// A stand-in needs the older function.
#[test]
fn a_stand_in_without_the_older_function_says_that_both_are_missing() {
    let older = [
        "hipMemAdvise",
        "hipMemPrefetchAsync",
        "hipGetDeviceProperties",
        "hipChooseDevice",
    ];
    let library = Library::hip(Version::V5_7_1).without(older);
    let runtime = odd_runtime("abi-matrix-lacks", &library, Version::V5_7_1);
    let properties = vec![Passed::Room(1472), Passed::Value(0)];
    let choice = vec![Passed::Room(4), Passed::Room(1472)];
    let mut cells = located(&runtime, "hipMemLocationTypeDevice", 0).to_vec();
    cells.push(call(
        "hipGetDevicePropertiesR0600",
        NEWEST,
        &runtime,
        properties,
    ));
    cells.push(call("hipChooseDeviceR0600", NEWEST, &runtime, choice));
    for cell in &mut cells {
        cell.watched = "hipMalloc".to_string();
    }
    let (answers, _) = make(&runtime, "strict", &cells);
    for (cell, answer) in cells.iter().zip(&answers) {
        assert_refused(answer, 302, "lacks the newer function too");
        assert_eq!(cell.check_untouched(answer), Ok(()), "{}", cell.function);
    }
}

const STEPS: [&str; 2] = [
    "hipSignalExternalSemaphoresAsync",
    "hipWaitExternalSemaphoresAsync",
];

/// The cells of external semaphores that are translated, with another count.
fn steps(runtime: &Runtime, count: u64) -> Vec<Cell> {
    let cells = translated_cells_of(runtime, 1).into_iter().map(|it| it.0);
    let cells = cells.filter(|cell| STEPS.contains(&cell.function.as_str()));
    let counted = cells.map(|mut cell| {
        assert_eq!(action(&cell), Some(Action::Translate));
        cell.passed[2] = Passed::Value(count);
        cell
    });
    counted.collect()
}

#[test]
fn no_semaphores_are_passed_on_as_none() {
    for runtime in [runtime(5, 7), runtime(7, 14)] {
        let cells = steps(runtime, 0);
        let (answers, _) = make(runtime, "strict", &cells);
        for (cell, answer) in cells.iter().zip(&answers) {
            let title = cell.title();
            // hipErrorInvalidValue, the fake's own.
            assert_eq!((answer.status, answer.calls), (1, 1), "{title}");
        }
        assert!(cells.len() >= 6, "{}", cells.len());
    }
}

/// More than the address space that the process may have.
#[test]
fn semaphores_for_which_there_is_no_memory_are_refused_as_such() {
    for runtime in [runtime(5, 7), runtime(7, 14)] {
        let mut cells = steps(runtime, 1 << 28);
        for cell in &mut cells {
            cell.before = vec![format!("memory {}", 4u64 << 30)];
        }
        let (answers, _) = make(runtime, "strict", &cells);
        for (cell, answer) in cells.iter().zip(&answers) {
            assert_refused(answer, 2, "no memory for the converted parameters");
            assert!(answer.error.starts_with(&cell.function), "{}", answer.error);
        }
        assert!(cells.len() >= 6, "{}", cells.len());
    }
}
