//! What is not translated: refused lines and `HIPLAZY_ABI`, callers of unknown headers,
//! functions that the runtime lacks.

use hiplazy_abi::{Action, Class, Version, break_of};

use crate::cell::{Cell, Outcome, Passed};
use crate::cells::cells_of;
use crate::child::{Answer, Runtime, make, runtimes};
use crate::oracle::Refusal;
use crate::tables::{HEADERS, tables};

pub(crate) fn runtime(major: u32, minor: u32) -> &'static Runtime {
    let version = Version::new(major, minor);
    let mut all = runtimes().iter();
    all.find(|runtime| runtime.version == version && !runtime.is_derivative)
        .unwrap()
}

pub(crate) fn action(cell: &Cell) -> Option<Action> {
    let line = break_of(&tables().breaks, &cell.function, cell.headers, cell.runtime);
    line.map(|line| line.action)
}

/// A call of `function` with these arguments, of which nothing is expected.
pub(crate) fn call(
    function: &str,
    headers: Version,
    runtime: &Runtime,
    passed: Vec<Passed>,
) -> Cell {
    Cell {
        function: function.to_string(),
        headers,
        runtime: runtime.version,
        variant: "Plain".to_string(),
        entry: tables().entry(function, headers),
        watched: function.to_string(),
        passed,
        before: Vec::new(),
        answers: Vec::new(),
        checks: Vec::new(),
        refusal: Refusal::May,
        written: None,
        is_plain: false,
    }
}

/// The cells of refused lines: callers with the headers of 5.7 and of 6.4, whose
/// hipDeviceGetTexture1DLinearMaxWidth has the arguments of another function.
fn refused_cells(runtime: &Runtime) -> Vec<Cell> {
    let mut cells = cells_of(runtime);
    cells.retain(|cell| action(cell) == Some(Action::Refuse));
    let wrong = "hipDeviceGetTexture1DLinearMaxWidth";
    if runtime.has(wrong) {
        let passed = vec![Passed::Room(8), Passed::Value(0)];
        cells.push(call(wrong, Version::new(6, 4), runtime, passed));
    }
    cells
}

fn lines_with<'a>(said: &'a str, what: &str) -> Vec<&'a str> {
    said.lines().filter(|line| line.contains(what)).collect()
}

#[test]
fn what_cannot_be_translated_is_refused_with_the_reason() {
    let runtime = runtime(7, 14);
    let cells = refused_cells(runtime);
    let (answers, said) = make(runtime, "strict", &cells);
    let mut functions = 0;
    for (cell, answer) in cells.iter().zip(&answers) {
        let title = cell.title();
        assert_eq!((answer.status, answer.calls), (801, 0), "{title}");
        let line = break_of(&tables().breaks, &cell.function, cell.headers, cell.runtime);
        let headers = format!("the generation that begins with HIP {}", generation(cell));
        for part in [
            &cell.function,
            &line.unwrap().what,
            &headers,
            "HIPLAZY_ABI=warn",
        ] {
            assert!(
                answer.error.contains(part),
                "{title}: {part}: {}",
                answer.error
            );
        }
        assert_eq!(cell.judge(answer), Ok(Outcome::Refused), "{title}");
        functions += 1;
    }
    assert!(functions >= 9, "{functions}");
    assert_eq!(lines_with(&said, "warn:"), Vec::<&str>::new());
}

/// The first headers of a caller's generation, as the entry knows them.
fn generation(cell: &Cell) -> String {
    let digits = cell.entry.rsplit("_h").next().unwrap();
    let first = tables()
        .functions
        .iter()
        .find(|row| row.name == cell.function);
    let first = first.unwrap().first.unwrap();
    match digits.split_at(1) {
        (major, _) if major.parse() == Ok(first.major) => first.to_string(),
        (major, "") => format!("{major}.0"),
        (major, minor) => format!("{major}.{minor}"),
    }
}

#[test]
fn with_warn_refused_calls_go_through_with_a_warning_and_the_rest_is_translated() {
    let runtime = runtime(7, 14);
    let mut cells = refused_cells(runtime);
    let refused = cells.len();
    let others = cells_of(runtime).into_iter();
    cells.extend(others.filter(|cell| action(cell) == Some(Action::Translate)));
    let (answers, said) = make(runtime, "warn", &cells);
    for (cell, answer) in cells[..refused].iter().zip(&answers) {
        assert_eq!(answer.calls, 1, "{}: {}", cell.title(), answer.error);
        let warned = lines_with(&said, "warn");
        let warned = warned.iter().any(|line| line.contains(&cell.function));
        assert!(warned, "{}: {said}", cell.title());
    }
    for (cell, answer) in cells.iter().zip(&answers).skip(refused) {
        let judged = cell.judge(answer);
        assert!(judged.is_ok(), "{}: {judged:?}", cell.title());
    }
    assert!(cells.len() > refused + 1000);
}

/// A mistake in the variable must not turn translation off.
#[test]
fn an_unknown_value_of_hiplazy_abi_is_said_once_and_strict() {
    let runtime = runtime(6, 4);
    let mut cells = cells_of(runtime);
    cells.retain(|cell| action(cell).is_some());
    let (answers, said) = make(runtime, "sloppy", &cells);
    let error = "HIPLAZY_ABI=sloppy is not strict, warn or off; strict is used";
    let lines = lines_with(&said, "sloppy");
    assert!(lines.len() == 1 && lines[0].contains(error), "{said}");
    for (cell, answer) in cells.iter().zip(&answers) {
        let judged = cell.judge(answer);
        assert!(judged.is_ok(), "{}: {judged:?}", cell.title());
    }
}

/// The plain names of the shared library are for callers of any headers: nothing is
/// translated for them, and that is said once.
#[test]
fn calls_of_unknown_headers_are_passed_through_and_that_is_said_once() {
    let runtime = runtime(7, 14);
    let mut cells = Vec::new();
    for headers in HEADERS {
        let all = cells_of(runtime).into_iter();
        cells.extend(all.filter(|cell| {
            cell.headers == headers && matches!(action(cell), None | Some(Action::Translate))
        }));
    }
    for cell in &mut cells {
        cell.entry = format!("hiplazy_{}", cell.function);
    }
    let (answers, said) = make(runtime, "strict", &cells);
    let is_right = |(cell, answer): (&Cell, &Answer)| cell.judge(answer).is_ok();
    let all = || cells.iter().zip(&answers);
    // Options of 7.1 are one matter of the version; for the rest its structs are those of 7.14.
    let same = all().filter(|(cell, _)| action(cell).is_none());
    for pair in same {
        assert!(is_right(pair), "{}", pair.0.title());
    }
    let older = || all().filter(|(cell, _)| action(cell).is_some());
    assert!(older().all(|(_, answer)| answer.is_reached()));
    let wrong = older().filter(|pair| !is_right(*pair)).count();
    assert!(wrong > 200, "{wrong}");
    let lines = lines_with(&said, "caller's headers is not known");
    assert_eq!(lines.len(), 1, "{said}");
    assert!(lines[0].contains("info"), "{}", lines[0]);
}

/// A function for the per-thread default stream that the runtime does not have cannot be
/// replaced by another: the text says what to compile differently.
#[test]
fn per_thread_functions_that_the_runtime_lacks_say_what_to_compile_differently() {
    let headers = Version::new(7, 14);
    let mut missing = 0;
    for runtime in runtimes() {
        let per_thread = tables().functions.iter().filter(|row| {
            row.name.ends_with("_spt") && row.class == Class::Error && !runtime.has(&row.name)
        });
        let cells: Vec<Cell> = per_thread
            .map(|row| {
                let passed = row.args.iter().take(8).map(|_| Passed::Value(0));
                call(&row.name, headers, runtime, passed.collect())
            })
            .collect();
        let (answers, _) = make(runtime, "strict", &cells);
        for (cell, answer) in cells.iter().zip(&answers) {
            assert_eq!(answer.status, 302, "{}", cell.title());
            for part in [
                &cell.function,
                "HIP_API_PER_THREAD_DEFAULT_STREAM",
                "hipStreamPerThread",
            ] {
                assert!(answer.error.contains(part), "{}", answer.error);
            }
            missing += 1;
        }
    }
    assert!(missing > 20, "{missing}");
}
