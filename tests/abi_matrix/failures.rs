//! Errors of the runtime and null pointers, for every function that something of ours stands
//! before: both are the runtime's to judge, and what it says is passed on.

use std::collections::{BTreeMap, BTreeSet};

use hiplazy_abi::Action;

use crate::cell::{Cell, Passed, UNTOUCHED};
use crate::cells::{Builder, translated_cells_of};
use crate::child::{Runtime, in_front, make, make_below, runtimes};
use crate::common::say;
use crate::substitutes;
use crate::tables::HEADERS;

/// `hipErrorLaunchFailure`, which nothing of ours answers.
const FAILURE: i32 = 719;

/// The first cells of each translated function and each stand-in, for each headers.
fn cells_before(runtime: &Runtime) -> Vec<(Cell, Option<&'static str>)> {
    let all = HEADERS.iter();
    let all = all.flat_map(|headers| substitutes::cells_for(runtime, *headers));
    let stood_in = all.filter(|cell| cell.watched != cell.function && cell.is_plain);
    let mut known = BTreeSet::new();
    let mut cells: Vec<(Cell, Option<&str>)> = translated_cells_of(runtime, 2)
        .into_iter()
        .map(|(cell, arguments)| (cell, Some(arguments)))
        .collect();
    cells.extend(
        stood_in
            .filter(|cell| known.insert((cell.function.clone(), cell.headers)))
            .map(|cell| (cell, None)),
    );
    cells
}

/// Its status reaches the caller, and no byte is written for him.
#[test]
fn an_error_of_the_runtime_is_passed_on_and_nothing_written() {
    let mut functions: BTreeMap<String, usize> = BTreeMap::new();
    for runtime in runtimes() {
        let mut cells: Vec<Cell> = cells_before(runtime).into_iter().map(|it| it.0).collect();
        for cell in &mut cells {
            cell.before = vec![format!("fail {} {FAILURE}", cell.watched)];
        }
        let (answers, _) = make(runtime, "strict", &cells);
        for (cell, answer) in cells.iter().zip(&answers) {
            let title = cell.title();
            assert_eq!((answer.status, answer.calls), (FAILURE, 1), "{title}");
            assert_eq!(
                (answer.broken, cell.check_untouched(answer)),
                (0, Ok(())),
                "{title}"
            );
            *functions.entry(cell.function.clone()).or_default() += 1;
        }
    }
    say(&format!(
        "{} forced errors of {} functions",
        functions.values().sum::<usize>(),
        functions.len()
    ));
    assert!(functions.len() >= 35, "{functions:?}");
}

/// The functions with places that are ours where something is converted.
const OUT: [&str; 12] = [
    "hipCtxGetFlags",
    "hipDevicePrimaryCtxGetState",
    "hipDrvPointerGetAttributes",
    "hipGetDeviceFlags",
    "hipGetDevicePropertiesR0600",
    "hipGraphAddMemAllocNode",
    "hipGraphKernelNodeGetAttribute",
    "hipGraphMemAllocNodeGetParams",
    "hipGraphNodeGetType",
    "hipMemGetAllocationPropertiesFromHandle",
    "hipPointerGetAttribute",
    "hipPointerGetAttributes",
];

/// A runtime may have written something before it fails.
#[test]
fn what_a_failing_runtime_has_written_does_not_reach_the_caller() {
    let fails = in_front("FAILS");
    let mut functions = BTreeSet::new();
    for runtime in runtimes() {
        let cells = cells_before(runtime).into_iter().map(|it| it.0);
        let cells: Vec<Cell> = cells
            .filter(|cell| OUT.contains(&cell.function.as_str()) && has_place_of_ours(cell))
            .collect();
        let (answers, _) = make_below(Some(&fails), runtime, "strict", &cells);
        for (cell, answer) in cells.iter().zip(&answers) {
            let title = cell.title();
            assert_eq!((answer.status, answer.calls), (FAILURE, 0), "{title}");
            assert_eq!(
                (answer.broken, cell.check_untouched(answer)),
                (0, Ok(())),
                "{title}"
            );
            functions.insert(cell.function.clone());
        }
    }
    assert_eq!(functions.len(), OUT.len(), "{functions:?}");
}

/// Of one attribute only the memory type goes through a place of ours.
fn has_place_of_ours(cell: &Cell) -> bool {
    match cell.function.as_str() {
        "hipPointerGetAttribute" => matches!(cell.passed[1], Passed::Value(2)),
        _ => true,
    }
}

/// A place that the runtime has not written stays as it was, though it reports success.
#[test]
fn a_place_that_the_runtime_leaves_alone_is_left_alone() {
    let silent = in_front("SILENT");
    let mut seen = 0;
    for runtime in runtimes() {
        let cells = translated_cells_of(runtime, 1).into_iter().map(|it| it.0);
        let one_or_many = ["hipPointerGetAttribute", "hipDrvPointerGetAttributes"];
        let cells: Vec<Cell> = cells
            .filter(|cell| one_or_many.contains(&cell.function.as_str()))
            .collect();
        let (answers, _) = make_below(Some(&silent), runtime, "strict", &cells);
        for (cell, answer) in cells.iter().zip(&answers) {
            let title = cell.title();
            assert_eq!((answer.status, answer.calls), (0, 0), "{title}");
            let mut places = cell.passed.iter().zip(0..).filter_map(|(passed, place)| {
                matches!(passed, Passed::Room(_) | Passed::Places(_)).then_some(place)
            });
            let place = places.next().unwrap();
            let bytes = &answer.buffers[&place];
            assert!(
                bytes.iter().all(|byte| *byte == UNTOUCHED),
                "{title}: {bytes:x?}"
            );
            seen += 1;
        }
    }
    assert!(seen >= 30, "{seen}");
}

/// No pointer is read, or replaced by one of ours, where the caller gave none: the answer is
/// the one to callers with the runtime's own headers.
#[test]
fn null_pointers_are_passed_on_for_the_runtime_to_judge() {
    let (mut seen, mut functions) = (0, BTreeSet::new());
    for runtime in runtimes() {
        let mut cells = Vec::new();
        for (cell, arguments) in cells_before(runtime) {
            for place in 0..cell.passed.len() {
                let is_pointer = matches!(
                    cell.passed[place],
                    Passed::Bytes(..) | Passed::Room(_) | Passed::Places(_)
                );
                let known = (cell.function.clone(), cell.headers, arguments, place);
                if is_pointer && functions.insert((known, runtime.file.clone())) {
                    cells.push(null_at(place, &cell, arguments, runtime));
                }
            }
        }
        let (cells, own): (Vec<Cell>, Vec<Option<Cell>>) = cells.into_iter().unzip();
        let own_cells: Vec<Cell> = own.iter().flatten().cloned().collect();
        let (answers, _) = make(runtime, "strict", &cells);
        let (own_answers, _) = make(runtime, "strict", &own_cells);
        let mut own_answers = own_answers.into_iter();
        for ((cell, answer), own) in cells.iter().zip(&answers).zip(&own) {
            let title = cell.title();
            // Stand-ins have no such callers; the fake refuses what it cannot write or read.
            let expected = match own {
                Some(_) => own_answers
                    .next()
                    .map(|own| (own.status, own.calls))
                    .unwrap(),
                None => (1, 1),
            };
            assert_eq!(
                (answer.status, answer.calls),
                expected,
                "{title}: {}",
                answer.error
            );
            assert_eq!(answer.calls, 1, "{title}");
            assert_eq!(answer.broken, 0, "{title}");
            seen += 1;
        }
    }
    say(&format!("{seen} null pointers"));
    assert!(seen > 1000, "{seen}");
}

/// The cell with a null pointer for one argument, and that of a caller with the runtime's own
/// headers.
fn null_at(
    place: usize,
    cell: &Cell,
    arguments: Option<&'static str>,
    runtime: &Runtime,
) -> (Cell, Option<Cell>) {
    let null = |mut cell: Cell| {
        cell.passed[place] = Passed::Value(0);
        cell.variant = format!("{}, null as argument {place}", cell.variant);
        cell
    };
    let own = arguments.and_then(|arguments| {
        let builder = Builder::new(&cell.function, runtime.version, runtime.version);
        let is_direct = !matches!(builder.action, Some(Action::Translate | Action::Refuse));
        is_direct.then(|| null(builder.cells(arguments).remove(0)))
    });
    (null(cell.clone()), own)
}
