//! Addresses that are asked for by name: called, they do what the entry of the same headers
//! does, and where nothing stands between they are the runtime's own.

use std::collections::BTreeSet;

use hiplazy_abi::{Action, Version, break_of};

use crate::calls::CALLS;
use crate::cell::{Cell, Outcome};
use crate::cells::Builder;
use crate::child::{Runtime, make, runtimes};
use crate::common::say;
use crate::oracle::number;
use crate::policy;
use crate::substitutes;
use crate::tables::{HEADERS, tables};

/// The functions that answer with an address.
const GETTERS: [&str; 4] = [
    "hipGetProcAddress",
    "hipGetProcAddress_spt",
    "hipGetDriverEntryPoint",
    "hipGetDriverEntryPoint_spt",
];

/// Functions without a break.
const UNAFFECTED: [(&str, &str); 2] = [
    ("hipMalloc", "out 8, value 4096"),
    ("hipMemGetInfo", "out 8, out 8"),
];

/// Has the cell's function found by name, by the last of `getters`, which the one before
/// it is asked for, with `flags` for the first.
fn by_name(mut cell: Cell, getters: &[&str], flags: u64) -> Cell {
    let Version { major, minor } = cell.headers;
    let entry = tables().entry(getters[0], cell.headers);
    let names = [&getters[1..], &[cell.function.as_str()]].concat();
    let version = major * 10_000_000 + minor * 100_000;
    cell.entry = format!("{entry}:{}:{version}:{flags}", names.join(">"));
    cell.variant = format!("{} by {} {flags}", cell.variant, getters.join(">"));
    cell
}

/// The cells of one runtime, and whether the address is to be its own.
fn cells_of(runtime: &Runtime) -> Vec<(Cell, bool)> {
    let mut cells = Vec::new();
    for getter in GETTERS {
        for headers in HEADERS {
            if !runtime.has(getter) || !tables().declares(headers, getter) {
                continue;
            }
            for (function, arguments) in CALLS.iter().chain(&UNAFFECTED) {
                if !runtime.has(function) || !tables().declares(headers, function) {
                    continue;
                }
                let line = break_of(&tables().breaks, function, headers, runtime.version);
                let is_own = line.is_none_or(|line| line.action == Action::Direct);
                let all = Builder::new(function, headers, runtime.version).cells(arguments);
                let some = all.into_iter().take(if is_own { 1 } else { 12 });
                cells.extend(some.map(|cell| (by_name(cell, &[getter], 0), is_own)));
            }
            let all = substitutes::cells_for(runtime, headers);
            let some = all.into_iter().map(|cell| {
                let is_own = runtime.has(&cell.function);
                (by_name(cell, &[getter], 0), is_own)
            });
            cells.extend(some);
        }
    }
    cells
}

#[test]
fn an_address_does_what_the_entry_of_the_headers_does() {
    let (mut equal, mut refused, mut wrong) = (0, 0, Vec::new());
    for runtime in runtimes() {
        let (cells, is_own): (Vec<Cell>, Vec<bool>) = cells_of(runtime).into_iter().unzip();
        if cells.is_empty() {
            continue;
        }
        let (answers, _) = make(runtime, "strict", &cells);
        for ((cell, answer), is_own) in cells.iter().zip(&answers).zip(is_own) {
            match cell.judge(answer) {
                _ if answer.is_own != is_own => {
                    wrong.push(format!("{}: own {}", cell.title(), answer.is_own));
                }
                Ok(Outcome::Equal) => equal += 1,
                Ok(Outcome::Refused) => refused += 1,
                Err(problem) => wrong.push(format!("{}: {problem}", cell.title())),
            }
        }
    }
    say(&format!("by name: {equal} equal, {refused} refused"));
    let shown = &wrong[..wrong.len().min(20)];
    assert!(wrong.is_empty(), "{} are wrong: {shown:#?}", wrong.len());
    assert!(
        equal > 300 && refused > 20,
        "{equal} equal, {refused} refused"
    );
}

/// As a flag, or by the name of the getter: the function of the per-thread default stream
/// is not lost for one of ours.
#[test]
fn what_is_asked_for_per_thread_is_of_the_per_thread_stream() {
    let runtime = runtimes().iter().find(|runtime| {
        runtime.has("hipGetProcAddress_spt") && runtime.has("hipGetDriverEntryPoint_spt")
    });
    let runtime = runtime.unwrap();
    let headers = Version::new(7, 14);
    // Asked for per thread, a getter is one of per-thread functions; asked by it in turn,
    // hipStreamQuery is hipStreamQuery_spt.
    let getter = tables().entry("hipGetProcAddress", headers);
    let mut cells = Vec::new();
    for flags in [0, 2] {
        let mut cell = Builder::new("hipStreamQuery", headers, runtime.version)
            .cells("value 0")
            .remove(0);
        cell.entry = format!("{getter}:hipGetProcAddress>hipStreamQuery:71400000:{flags}");
        cell.watched = ["hipStreamQuery", "hipStreamQuery_spt"][flags / 2].to_string();
        cells.push(cell);
    }
    let (answers, _) = make(runtime, "strict", &cells);
    for (cell, answer) in cells.iter().zip(&answers) {
        assert_eq!((answer.calls, answer.status), (1, 0), "{}", cell.watched);
    }
}

/// The generations of headers that declare a getter.
const GENERATIONS: [Version; 6] = [
    Version::new(6, 2),
    Version::new(6, 4),
    Version::new(7, 0),
    Version::new(7, 1),
    Version::new(7, 2),
    Version::new(7, 14),
];

/// Functions and cells of them that tell the generations of headers from one another, and two
/// that are the runtime's own for all.
const TELLING: [(&str, &str, &str); 7] = [
    (
        "hipDeviceGetAttribute",
        "out 4, enum hipDeviceAttribute_t, value 0",
        "hipDeviceAttributePciChipId",
    ),
    (
        "hipDeviceSetLimit",
        "enum hipLimit_t, value 74565",
        "hipLimitRange",
    ),
    ("hipMemPoolCreate", "out 8, in hipMemPoolProps", "Plain"),
    (
        "hipDrvGraphAddMemsetNode",
        "out 8, value 4096, bytes 16, value 2, in HIP_MEMSET_NODE_PARAMS<7.0/hipMemsetParams, \
         value 8192",
        "Plain",
    ),
    ("hipMemcpyParam2D", "in hip_Memcpy2D", "Plain"),
    ("hipMalloc", "out 8, value 4096", "Plain"),
    ("hipMemGetInfo", "out 8, out 8", "Plain"),
];

/// Chains of two and of three getters: each is asked for the next, and the last one for the
/// function.
fn chains(runtime: &Runtime, headers: Version) -> Vec<Vec<&'static str>> {
    let there = || GETTERS.into_iter().filter(|getter| runtime.has(getter));
    let mut chains = Vec::new();
    for first in there().filter(|getter| tables().declares(headers, getter)) {
        for second in there() {
            chains.push(vec![first, second]);
            // With one third each, not with all.
            chains.extend(there().next_back().map(|third| vec![first, second, third]));
        }
    }
    chains
}

fn chained_cells(runtime: &Runtime) -> Vec<(Cell, bool)> {
    let mut cells = Vec::new();
    for headers in GENERATIONS {
        let mut telling = Vec::new();
        for (function, arguments, variant) in TELLING {
            let builder = Builder::new(function, headers, runtime.version);
            let is_own = matches!(builder.action, None | Some(Action::Direct));
            let all = builder.cells(arguments).into_iter();
            let chosen = all.filter(|cell| cell.variant == variant).take(1);
            telling.extend(chosen.map(|cell| (cell, is_own)));
        }
        for chain in chains(runtime, headers) {
            for (cell, is_own) in &telling {
                let cells_of = [0, 2].map(|flags| by_name(cell.clone(), &chain, flags));
                cells.extend(cells_of.map(|cell| (cell, *is_own)));
            }
        }
    }
    cells
}

/// The headers of the first getter's caller are those of whoever has an address from it.
#[test]
fn a_getter_that_was_asked_for_by_name_is_for_the_same_headers() {
    let (mut seen, mut differ) = (0, BTreeSet::new());
    for runtime in runtimes() {
        let (cells, is_own): (Vec<Cell>, Vec<bool>) = chained_cells(runtime).into_iter().unzip();
        if cells.is_empty() {
            continue;
        }
        let (answers, _) = make(runtime, "strict", &cells);
        for ((cell, answer), is_own) in cells.iter().zip(&answers).zip(is_own) {
            let title = cell.title();
            assert_eq!(answer.is_own, is_own, "{title}: {}", answer.error);
            let judged = cell.judge(answer);
            assert!(judged.is_ok(), "{title}: {judged:?}");
            seen += 1;
            if !is_own {
                differ.insert((cell.headers, cell.function.clone()));
            }
        }
    }
    say(&format!("by chains of getters: {seen} cells"));
    // Each generation has something that is not the runtime's own for it, on some runtime.
    for headers in GENERATIONS {
        let ours = differ.iter().filter(|(of, _)| *of == headers);
        assert!(ours.count() >= 2, "{headers}: {differ:?}");
    }
}

/// The runtime says that the caller's version is too old for the function. No entry of ours
/// takes its place, and the result is what the runtime says.
#[test]
fn that_a_version_is_not_sufficient_is_passed_on() {
    const NOT_SUFFICIENT: u32 = 2;
    let runtime = policy::runtime(7, 14);
    for getter in GETTERS {
        for function in ["hipDeviceSetLimit", "hipGetProcAddress", "hipMalloc"] {
            let headers = match tables().declares(Version::new(6, 4), getter) {
                true => Version::new(6, 4),
                false => Version::new(7, 14),
            };
            let mut cell = Builder::new("hipMalloc", headers, runtime.version)
                .cells("out 8, value 4096")
                .remove(0);
            cell.function = function.to_string();
            cell.watched = getter.to_string();
            let result = if getter.starts_with("hipGetProcAddress") {
                4
            } else {
                3
            };
            // Success, with a result and without an address.
            cell.answers = vec![
                (1, number(0, 8)),
                (result, number(NOT_SUFFICIENT.into(), 4)),
            ];
            let cell = by_name(cell, &[getter], 0);
            let (answers, _) = make(runtime, "strict", std::slice::from_ref(&cell));
            let ends = (answers[0].status, answers[0].no_address);
            assert_eq!(ends, (0, Some(NOT_SUFFICIENT)), "{}", cell.entry);
        }
    }
}
