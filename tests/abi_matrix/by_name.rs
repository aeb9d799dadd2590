//! Addresses that are asked for by name: called, they do what the entry of the same headers
//! does, and where nothing stands between they are the runtime's own.

use hiplazy_abi::{Action, Version, break_of};

use crate::calls::CALLS;
use crate::cell::{Cell, Outcome};
use crate::cells::Builder;
use crate::child::{Runtime, make, runtimes};
use crate::common::say;
use crate::substitutes;
use crate::tables::{HEADERS, tables};

/// The functions that answer with an address, and whether they take a version.
const GETTERS: [(&str, bool); 4] = [
    ("hipGetProcAddress", true),
    ("hipGetProcAddress_spt", true),
    ("hipGetDriverEntryPoint", false),
    ("hipGetDriverEntryPoint_spt", false),
];

/// Functions without a break.
const UNAFFECTED: [(&str, &str); 2] = [
    ("hipMalloc", "out 8, value 4096"),
    ("hipMemGetInfo", "out 8, out 8"),
];

/// Has the cell's function found by name.
fn by_name(mut cell: Cell, getter: &str, takes_version: bool) -> Cell {
    let Version { major, minor } = cell.headers;
    let entry = tables().entry(getter, cell.headers);
    let function = &cell.function;
    cell.entry = if takes_version {
        let version = major * 10_000_000 + minor * 100_000;
        format!("{entry}:{function}:{version}:0")
    } else {
        format!("{entry}:{function}:0")
    };
    cell.variant = format!("{} by {getter}", cell.variant);
    cell
}

/// The cells of one runtime, and whether the address is to be its own.
fn cells_of(runtime: &Runtime) -> Vec<(Cell, bool)> {
    let mut cells = Vec::new();
    for (getter, takes_version) in GETTERS {
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
                cells.extend(some.map(|cell| (by_name(cell, getter, takes_version), is_own)));
            }
            let all = substitutes::cells_for(runtime, headers);
            let some = all.into_iter().map(|cell| {
                let is_own = runtime.has(&cell.function);
                (by_name(cell, getter, takes_version), is_own)
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
