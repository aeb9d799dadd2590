//! The order of the slot table, which only ever grows at its end.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use crate::row::{ParseError, is_identifier, rows};

const COLUMNS: &[&str] = &["entry"];

/// How long the table was when its order was first promised to callers.
const FIRST_LENGTH: usize = RELEASED.0;

/// How many entries have been released, and their digest. Both are raised with a release
/// (a test says what the digest is), and change for no other reason.
const RELEASED: (usize, u64) = (684, 0x8cd2_d9e7_c951_b103);

/// Which entry has which place in the slot table.
///
/// An entry is what one slot is for. The entry of a function's current declaration has
/// the function's link name; a function may have further entries under other names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SlotOrder {
    entries: Vec<String>,
}

/// Reads the order of the slot table.
///
/// # Errors
///
/// The first line that is no name, or a name that occurs twice.
pub fn parse_slots(text: &str) -> Result<SlotOrder, ParseError> {
    let mut entries = Vec::new();
    let mut seen = BTreeSet::new();
    for row in rows(text, COLUMNS) {
        let row = row?;
        let entry = row.get(0);
        if !is_identifier(entry) {
            return Err(row.error(0, format!("\"{entry}\" is no C identifier")));
        }
        if !seen.insert(entry) {
            return Err(row.error(0, format!("{entry} has a place already")));
        }
        entries.push(entry.to_string());
    }
    Ok(SlotOrder { entries })
}

impl SlotOrder {
    /// The entries' names by place.
    pub fn entries(&self) -> &[String] {
        &self.entries
    }

    /// The names in `known` that have no place yet, in the order given.
    pub fn missing<'a>(&self, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
        let placed: BTreeSet<&str> = self.entries.iter().map(String::as_str).collect();
        let known = known.into_iter();
        known.filter(|name| !placed.contains(name)).collect()
    }

    /// The entries that are not in `known`.
    pub fn unknown<'a>(&self, known: impl IntoIterator<Item = &'a str>) -> Vec<&str> {
        let known: BTreeSet<&str> = known.into_iter().collect();
        let entries = self.entries.iter().map(String::as_str);
        entries.filter(|entry| !known.contains(entry)).collect()
    }

    /// `rows` in the table's order, each named by the entry that `entry_of` gives; rows
    /// that have no place come last, in the order given.
    pub fn arrange<T>(&self, mut rows: Vec<T>, entry_of: impl Fn(&T) -> &str) -> Vec<T> {
        let entries = self.entries.iter().map(String::as_str);
        let places: BTreeMap<&str, usize> = entries.zip(0..).collect();
        rows.sort_by_key(|row| places.get(entry_of(row)).copied().unwrap_or(usize::MAX));
        rows
    }

    /// What is not as it was released; `None` if all of it is.
    pub fn released_difference(&self) -> Option<String> {
        let (length, digest) = RELEASED;
        let Some(released) = self.entries.get(..length) else {
            return Some(format!(
                "abi/slots.txt has {} entries, of which {length} have been released: entries are \
                 only appended, none goes away",
                self.entries.len()
            ));
        };
        (digest_of(released) != digest).then(|| {
            format!(
                "the first {length} entries of abi/slots.txt are not those that have been \
                 released: entries are only appended, none moves or changes"
            )
        })
    }
}

/// FNV-1a of the lines: what must not change by accident, not by intent.
fn digest_of(entries: &[String]) -> u64 {
    let bytes = entries
        .iter()
        .flat_map(|entry| entry.bytes().chain([b'\n']));
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// The lengths that callers of a table of `count` entries may have been compiled with.
/// Each has a symbol of its own (`hiplazy_slots_684`), which a shorter table lacks.
pub fn table_lengths(count: usize) -> RangeInclusive<usize> {
    FIRST_LENGTH..=count
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SLOTS_TXT;

    #[test]
    fn rows_are_put_in_the_tables_order_and_not_in_that_of_their_names() {
        let order = parse_slots("# comment\nhipC\nhipA_h5\n\nhipB\n").unwrap();
        assert_eq!(order.entries(), ["hipC", "hipA_h5", "hipB"]);
        let rows = vec![("hipB", 1), ("hipZ", 2), ("hipC", 3), ("hipY", 4)];
        assert_eq!(
            order.arrange(rows, |row| row.0),
            [("hipC", 3), ("hipB", 1), ("hipZ", 2), ("hipY", 4)]
        );
        assert_eq!(order.missing(["hipA", "hipB"]), ["hipA"]);
        assert_eq!(order.unknown(["hipC", "hipB"]), ["hipA_h5"]);
    }

    #[test]
    fn what_is_no_list_of_names_is_refused() {
        for (text, line, problem) in [
            ("hipA\nhipB\nhipA\n", 3, "hipA has a place already"),
            ("hipA\n2hip\n", 2, "no C identifier"),
            ("hipA | 0\n", 1, "2 columns where 1 belong"),
        ] {
            let error = parse_slots(text).unwrap_err();
            assert_eq!(error.line(), line, "{text}");
            assert!(error.to_string().contains(problem), "{error}");
        }
    }

    #[test]
    fn the_released_order_has_its_digest() {
        let order = parse_slots(SLOTS_TXT).unwrap();
        let digest = digest_of(&order.entries[..RELEASED.0]);
        assert_eq!(format!("{digest:#018x}"), format!("{:#018x}", RELEASED.1));
    }

    #[test]
    fn nothing_passes_for_the_released_order_but_appending_to_it() {
        type Change = dyn Fn(&mut Vec<String>);
        let changed = |change: &Change| {
            let mut order = parse_slots(SLOTS_TXT).unwrap();
            change(&mut order.entries);
            order.released_difference()
        };
        assert_eq!(changed(&|_| ()), None);
        assert_eq!(changed(&|entries| entries.push("hipNew".into())), None);
        const LAST: usize = RELEASED.0 - 1;
        let refused: [&Change; 6] = [
            &|entries| entries.swap(0, 1),
            &|entries| entries.swap(LAST - 1, LAST),
            &|entries| entries[LAST].push('_'),
            &|entries| entries.insert(LAST, "hipNew".into()),
            &|entries| drop(entries.remove(3)),
            &|entries| entries.truncate(LAST),
        ];
        for (number, change) in refused.into_iter().enumerate() {
            let difference = changed(change);
            assert!(
                difference.is_some_and(|text| text.contains("only appended")),
                "change {number}"
            );
        }
    }

    #[test]
    fn every_released_length_has_a_name_for_ever() {
        let lengths: Vec<usize> = table_lengths(FIRST_LENGTH + 2).collect();
        assert_eq!(lengths, [FIRST_LENGTH, FIRST_LENGTH + 1, FIRST_LENGTH + 2]);
        assert!(table_lengths(RELEASED.0).contains(&RELEASED.0));
    }
}
