//! The matrix itself.

use std::collections::{BTreeMap, BTreeSet};

use hiplazy_abi::Action;

use crate::calls::{CALLS, ELSEWHERE};
use crate::cell::{Cell, Outcome};
use crate::cells::{cells_of, random_cells_of};
use crate::child::{Answer, Runtime, make, runtimes};
use crate::common::say;
use crate::tables::tables;

/// What became of one function's cells.
#[derive(Default)]
struct Count {
    equal: usize,
    refused: usize,
    wrong: Vec<String>,
}

/// Makes calls on every runtime with `HIPLAZY_ABI=mode`.
fn judged(mode: &str, cells_of: fn(&Runtime) -> Vec<Cell>) -> BTreeMap<String, Count> {
    let mut counts: BTreeMap<String, Count> = BTreeMap::new();
    for runtime in runtimes().iter().filter(|runtime| !runtime.is_derivative) {
        let cells = cells_of(runtime);
        let (answers, _) = make(runtime, mode, &cells);
        for (cell, answer) in cells.iter().zip(&answers) {
            count(&mut counts, cell, answer);
        }
    }
    counts
}

fn count(counts: &mut BTreeMap<String, Count>, cell: &Cell, answer: &Answer) {
    let count = counts.entry(cell.function.clone()).or_default();
    match cell.judge(answer) {
        Ok(Outcome::Equal) => count.equal += 1,
        Ok(Outcome::Refused) => count.refused += 1,
        Err(problem) => count.wrong.push(format!("{}: {problem}", cell.title())),
    }
}

/// Fails if a function of the table of breaks has no call.
#[test]
fn every_break_is_in_the_matrix() {
    let known: BTreeSet<&str> = CALLS.iter().map(|(function, _)| *function).collect();
    let known: BTreeSet<&str> = known.into_iter().chain(ELSEWHERE.iter().copied()).collect();
    let breaks: BTreeSet<&str> = tables()
        .breaks
        .iter()
        .map(|line| line.function.as_str())
        .collect();
    assert_eq!(known, breaks);
}

#[test]
fn every_cell_is_equal_by_value_or_refused_by_type() {
    say_and_check("cells", &judged("strict", cells_of));
}

/// Whatever is in a struct, and in its enums, of which the numbers may be unknown.
#[test]
fn any_contents_are_equal_by_value_or_refused_by_type() {
    say_and_check("random cells", &judged("strict", random_cells_of));
}

fn say_and_check(what: &str, counts: &BTreeMap<String, Count>) {
    let mut wrong = Vec::new();
    let (mut equal, mut refused) = (0, 0);
    for (function, count) in counts {
        say(&format!(
            "{function}: {} equal, {} refused",
            count.equal, count.refused
        ));
        assert!(count.equal + count.refused + count.wrong.len() > 0);
        equal += count.equal;
        refused += count.refused;
        wrong.extend(count.wrong.iter().cloned());
    }
    say(&format!(
        "{} {what} of {} functions: {equal} equal, {refused} refused",
        equal + refused + wrong.len(),
        counts.len()
    ));
    let shown = &wrong[..wrong.len().min(40)];
    assert!(wrong.is_empty(), "{} are wrong: {shown:#?}", wrong.len());
}

/// Otherwise the matrix would prove nothing.
#[test]
fn without_translation_every_translated_function_goes_wrong() {
    let counts = judged("off", cells_of);
    let right: BTreeSet<&str> = counts
        .iter()
        .filter(|(_, count)| count.wrong.is_empty())
        .map(|(function, _)| function.as_str())
        .collect();
    let is_translated = |function: &&str| {
        let mut lines = tables().breaks.iter();
        lines.any(|line| {
            line.function == *function && matches!(line.action, Action::Translate | Action::Refuse)
        })
    };
    let right: Vec<&str> = right.into_iter().filter(is_translated).collect();
    assert!(right.is_empty(), "right without translation: {right:?}");
    let wrong: usize = counts.values().map(|count| count.wrong.len()).sum();
    say(&format!("{wrong} cells are wrong without translation"));
}
