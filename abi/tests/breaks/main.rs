//! The table of breaks against what the other tables say: every case in which types
//! differ has its row, and every row about types has its case.

mod differences;

use std::collections::{BTreeMap, BTreeSet};

use hiplazy_abi::{BREAKS_TXT, Break, HEADER_VERSIONS, break_of, parse_breaks};

use differences::{Case, Tables};

fn breaks() -> Vec<Break> {
    parse_breaks(BREAKS_TXT).unwrap_or_else(|error| panic!("breaks.txt: {error}"))
}

#[test]
fn every_difference_of_types_has_its_row_and_every_such_row_a_difference() {
    let tables = Tables::read();
    let breaks = breaks();
    let differences = tables.differences(HEADER_VERSIONS);

    let row_of =
        |(function, header, runtime): &Case| break_of(&breaks, function, *header, *runtime);
    let uncovered: Vec<String> = differences
        .iter()
        .filter(|(case, _)| row_of(case).is_none())
        .map(|((function, header, runtime), found)| {
            format!(
                "{function}, headers {header} on runtime {runtime}: {}",
                found.join(", ")
            )
        })
        .collect();
    let idle: Vec<String> = breaks
        .iter()
        .filter(|row| row.direction.is_of_types())
        .filter(|row| !differences.keys().any(|case| row_of(case) == Some(*row)))
        .map(|row| format!("{} | {} | {}", row.function, row.headers, row.runtimes))
        .collect();

    let functions: BTreeSet<&str> = differences.keys().map(|case| case.0.as_str()).collect();
    println!(
        "{} functions, {} versions: types of {} functions differ in {} cases; {} rows",
        tables.function_count(),
        HEADER_VERSIONS.len(),
        functions.len(),
        differences.len(),
        breaks.len()
    );
    assert!(
        uncovered.is_empty(),
        "{} cases without a row:\n{}",
        uncovered.len(),
        uncovered.join("\n")
    );
    assert!(
        idle.is_empty(),
        "rows without a difference:\n{}",
        idle.join("\n")
    );
}

#[test]
fn rows_are_about_functions_that_headers_declare() {
    let tables = Tables::read();
    for row in breaks() {
        assert!(tables.is_declared_ever(&row.function), "{}", row.function);
    }
}

#[test]
fn a_translator_has_the_prototype_of_one_function() {
    let mut functions: BTreeMap<String, String> = BTreeMap::new();
    for row in breaks() {
        if let Some(path) = row.translator {
            let function = functions
                .entry(path.clone())
                .or_insert(row.function.clone());
            assert_eq!(*function, row.function, "{path}");
        }
    }
}
