//! Functions that newer runtimes have under another name, and what stands in for them on
//! older ones and on the derivative DTK: field by field, and directly where they exist.

use hiplazy_abi::Version;

use crate::cell::{Cell, Check, Outcome, Passed, Place};
use crate::child::{Runtime, make, runtimes};
use crate::common::say;
use crate::conversion::{Conversion, Variant};
use crate::oracle::{Refusal, exactly, number};
use crate::tables::{HEADERS, tables};

const R0600: &str = "hipDeviceProp_tR0600";
const R0000: &str = "hipDeviceProp_tR0000";

/// What the runtime has for `function`: that, or the first of the older names, with the
/// struct of each.
fn stand_in<'a>(
    runtime: &Runtime,
    function: (&'a str, &'a str),
    older: &[(&'a str, &'a str)],
) -> (&'a str, &'a str) {
    let mut all = std::iter::once(&function).chain(older);
    *all.find(|(name, _)| runtime.has(name)).unwrap()
}

/// The cells of one runtime for callers with these headers.
pub(crate) fn cells_for(runtime: &Runtime, headers: Version) -> Vec<Cell> {
    let mut cells = Vec::new();
    for (function, own, getter) in [
        ("hipGetDevicePropertiesR0600", R0600, true),
        ("hipChooseDeviceR0600", R0600, false),
        ("hipGetDevicePropertiesR0000", R0000, true),
        ("hipChooseDeviceR0000", R0000, false),
    ] {
        if !tables().declares(headers, function) {
            continue;
        }
        let older: &[_] = match (own, getter) {
            (R0600, true) => &[
                ("hipGetDeviceProperties_v2", R0600),
                ("hipGetDeviceProperties", R0000),
            ],
            (R0600, false) => &[("hipChooseDevice_v2", R0600), ("hipChooseDevice", R0000)],
            (_, true) => &[("hipGetDeviceProperties", R0000)],
            (_, false) => &[("hipChooseDevice", R0000)],
        };
        let (watched, record) = stand_in(runtime, (function, own), older);
        let layouts = [record, own].map(|record| (tables().layout(record, headers), headers));
        // One field more than R0600, of which nothing is known.
        let more = if watched.ends_with("_v2") { 8 } else { 0 };
        let [from, to] = match getter {
            true => layouts,
            false => [layouts[1], layouts[0]],
        };
        let conversion = Conversion {
            from,
            to,
            is_lossy: true,
            untouched: None,
            salt: 0,
        };
        for variant in conversion.variants() {
            let filled = conversion.fill(variant);
            let mut cell = plain(function, watched, headers, runtime);
            cell.variant = conversion.name(variant);
            let place = if getter { 0 } else { 1 };
            let size = conversion.to.0.size as usize;
            if getter {
                let mut answer = filled.bytes;
                answer.resize(answer.len() + more, 0x77);
                cell.answers.push((0, answer));
                cell.passed = vec![Passed::Room(size), Passed::Value(0)];
                cell.checks.push(Check {
                    place: Place::Buffer(place),
                    size,
                    expected: filled.expected,
                });
            } else {
                let device = number(0x123, 4);
                cell.answers.push((0, device.clone()));
                cell.passed = vec![Passed::Room(4), Passed::Bytes(filled.bytes, Vec::new())];
                cell.checks.push(Check {
                    place: Place::Given(place),
                    size: size + more,
                    expected: filled.expected,
                });
                cell.checks.push(all(Place::Buffer(0), device));
            }
            cells.push(cell);
        }
    }
    for function in ["hipMemAdvise_v2", "hipMemPrefetchAsync_v2"] {
        if tables().declares(headers, function) {
            cells.extend(located(function, runtime, headers));
        }
    }
    cells
}

pub(crate) fn plain(function: &str, watched: &str, headers: Version, runtime: &Runtime) -> Cell {
    Cell {
        function: function.to_string(),
        headers,
        runtime: runtime.version,
        variant: "Plain".to_string(),
        entry: tables().entry(function, headers),
        watched: watched.to_string(),
        passed: Vec::new(),
        before: Vec::new(),
        answers: Vec::new(),
        checks: Vec::new(),
        refusal: Refusal::Never,
        written: None,
        is_plain: true,
    }
}

fn all(place: Place, bytes: Vec<u8>) -> Check {
    let size = bytes.len();
    Check {
        place,
        size,
        expected: exactly(&bytes),
    }
}

/// Advice and prefetching, for each kind of place: older runtimes know a device by its
/// number, and the host as a whole as -1.
fn located(function: &str, runtime: &Runtime, headers: Version) -> Vec<Cell> {
    let is_own = runtime.has(function);
    let older = function.trim_end_matches("_v2");
    let is_advice = function == "hipMemAdvise_v2";
    let kinds = tables().constants("hipMemLocationType", headers);
    let kinds = kinds.map(|constant| {
        let id: u32 = 0;
        let kind = constant.value as u32;
        let mut cell = plain(
            function,
            if is_own { function } else { older },
            headers,
            runtime,
        );
        cell.variant = constant.name.clone();
        let location = [number(kind.into(), 4), number(id.into(), 4)].concat();
        let value = u64::from_le_bytes(location.clone().try_into().unwrap());
        let older_device = match constant.name.as_str() {
            "hipMemLocationTypeDevice" => Some(id),
            "hipMemLocationTypeHost" => Some(u32::MAX),
            _ => None,
        };
        let numbers = |values: &[u64]| values.iter().map(|value| Passed::Value(*value)).collect();
        let pointer = Passed::Memory;
        cell.passed = match is_advice {
            true => numbers(&[4096, 3, value]),
            false => numbers(&[4096, value, 0, 0]),
        };
        cell.passed.insert(0, pointer);
        cell.checks.push(all(Place::Given(1), number(4096, 8)));
        if is_advice {
            cell.checks.push(all(Place::Given(2), number(3, 4)));
        }
        let place = Place::Given(if is_advice { 3 } else { 2 });
        // The runtime judges what it is given.
        cell.is_plain = older_device.is_some();
        match (is_own, older_device) {
            (true, _) => cell.checks.push(all(place, location)),
            (false, Some(device)) => cell.checks.push(all(place, number(device.into(), 4))),
            (false, None) => cell.refusal = Refusal::Must,
        }
        cell
    });
    kinds.collect()
}

#[test]
fn substitutes_are_equal_field_by_field() {
    let (mut equal, mut refused, mut wrong) = (0, 0, Vec::new());
    for runtime in runtimes() {
        let cells: Vec<Cell> = HEADERS
            .iter()
            .flat_map(|headers| cells_for(runtime, *headers))
            .collect();
        let (answers, _) = make(runtime, "strict", &cells);
        for (cell, answer) in cells.iter().zip(&answers) {
            match cell.judge(answer) {
                Ok(Outcome::Equal) => equal += 1,
                Ok(Outcome::Refused) => refused += 1,
                Err(problem) => wrong.push(format!("{}: {problem}", cell.title())),
            }
        }
    }
    say(&format!("substitutes: {equal} equal, {refused} refused"));
    let shown = &wrong[..wrong.len().min(20)];
    assert!(wrong.is_empty(), "{} are wrong: {shown:#?}", wrong.len());
}

/// Two devices: the older struct has another place for each of their numbers.
#[test]
fn a_device_that_the_older_runtime_refuses_is_refused_and_nothing_written() {
    let older = runtimes()
        .iter()
        .filter(|runtime| !runtime.has("hipGetDevicePropertiesR0600"));
    let mut seen = 0;
    for runtime in older {
        let headers = Version::new(7, 14);
        let watched = match runtime.is_derivative {
            true => "hipGetDeviceProperties_v2",
            false => "hipGetDeviceProperties",
        };
        let mut cell = plain("hipGetDevicePropertiesR0600", watched, headers, runtime);
        cell.passed = vec![Passed::Room(1472), Passed::Value(77)];
        cell.is_plain = false;
        let (answers, _) = make(runtime, "strict", std::slice::from_ref(&cell));
        // hipErrorInvalidDevice, the runtime's own.
        assert_eq!((answers[0].status, answers[0].calls), (101, 1));
        assert_eq!(cell.judge(&answers[0]), Ok(Outcome::Equal));
        seen += 1;
    }
    // 5.2, 5.3, 5.7 and the derivative.
    assert_eq!(seen, 4);
}

/// The oracle has what the issue is about: nothing but the fields of the older struct is
/// filled from it.
#[test]
fn most_of_the_newer_struct_is_zero_on_an_older_runtime() {
    let version = Version::new(6, 0);
    let layout = |record| (tables().layout(record, version), version);
    let conversion = Conversion {
        from: layout(R0000),
        to: layout(R0600),
        is_lossy: true,
        untouched: None,
        salt: 0,
    };
    let expected = conversion.fill(Variant::Plain).expected;
    let zeros = expected
        .iter()
        .filter(|it| it.field.contains("without"))
        .count();
    // All but the 788 bytes of the older struct that gcnArch leaves, and padding.
    assert!((600..700).contains(&zeros), "{zeros}");
}
