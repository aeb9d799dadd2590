//! `docs/abi.md` says to users what the tables say.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use hiplazy_abi::{
    BREAKS_TXT, HEADER_VERSIONS, LAYOUTS_TXT, layout_of, parse_breaks, parse_layouts,
};

/// The text below a heading, up to the next one.
fn section(heading: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/abi.md");
    let page = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
    let (_, rest) = page
        .split_once(&format!("\n## {heading}\n"))
        .unwrap_or_else(|| panic!("docs/abi.md has no section \"{heading}\""));
    let (section, _) = rest.split_once("\n## ").unwrap_or((rest, ""));
    section.to_string()
}

/// The words in backticks in the second column of the section's tables.
fn second_column(section: &str) -> BTreeSet<&str> {
    let rows = section.lines().filter(|line| line.starts_with("| "));
    let cells = rows.filter_map(|row| row.split(" | ").nth(1));
    cells
        .flat_map(|cell| cell.split('`').skip(1).step_by(2))
        .collect()
}

#[test]
fn the_table_of_breaks_names_the_functions_of_breaks_txt_and_no_other() {
    let section = section("What changed");
    let named = second_column(&section);
    let breaks = parse_breaks(BREAKS_TXT).unwrap();
    let known: BTreeSet<&str> = breaks.iter().map(|line| line.function.as_str()).collect();
    let missing: Vec<_> = known.difference(&named).collect();
    let unknown: Vec<_> = named.difference(&known).collect();
    assert!(
        missing.is_empty() && unknown.is_empty(),
        "without a row: {missing:?}, without a line in breaks.txt: {unknown:?}"
    );
}

#[test]
fn the_fields_of_r0600_that_hip_5_does_not_tell_are_listed() {
    let layouts = parse_layouts(LAYOUTS_TXT).unwrap();
    let newest = HEADER_VERSIONS[HEADER_VERSIONS.len() - 1];
    let fields = |record: &str| -> BTreeSet<&str> {
        let layout = layout_of(&layouts, record, newest).unwrap();
        let names = layout.fields.iter().map(|field| field.name.as_str());
        names
            .map(|name| name.split('.').next().unwrap_or(name))
            .collect()
    };
    let (newer, older) = (
        fields("hipDeviceProp_tR0600"),
        fields("hipDeviceProp_tR0000"),
    );
    let zero: BTreeSet<&str> = newer.difference(&older).copied().collect();
    let section = section("Device properties on HIP 5");
    assert_eq!(second_column(&section), zero);
    let counts = format!(
        "{} fields have the same name in both and are copied. These {} are zero",
        newer.intersection(&older).count(),
        zero.len()
    );
    assert!(section.replace('\n', " ").contains(&counts), "{counts}");
}
