//! What a number of an enum is in another version, by the names of its constants.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Mutex, OnceLock};

use hiplazy_abi::Version;

use crate::oracle::{Refusal, Wanted, number};
use crate::tables::{HEADERS, tables};

/// A number and what it is called.
pub(crate) type Named = (String, u64);

/// What is asked for again and again.
#[derive(Default)]
struct Known {
    numbers: HashMap<(String, Version), &'static [Named]>,
    renumbered: HashMap<(String, Version, Version), bool>,
}

fn known() -> &'static Mutex<Known> {
    static KNOWN: OnceLock<Mutex<Known>> = OnceLock::new();
    KNOWN.get_or_init(Mutex::default)
}

/// Every number that a program or a runtime of a version may come up with, with its name:
/// the constants, what is a constant in another version, and numbers that are none in any.
pub(crate) fn numbers(domain: &str, version: Version) -> &'static [Named] {
    let mut known = known().lock().unwrap();
    let of = (domain.to_string(), version);
    known.numbers.entry(of).or_insert_with(|| {
        let constants = tables().constants(domain, version);
        let mut numbers: Vec<Named> = constants
            .map(|constant| (constant.name.clone(), constant.value as u64))
            .collect();
        let elsewhere: BTreeSet<u64> = HEADERS
            .iter()
            .flat_map(|other| tables().constants(domain, *other))
            .map(|constant| constant.value as u64)
            .chain([4242, u32::MAX.into()])
            .filter(|value| tables().names_of(domain, *value, version).is_empty())
            .collect();
        let unnamed = elsewhere.into_iter();
        numbers.extend(unnamed.map(|value| (format!("number {value}"), value)));
        Vec::leak(numbers)
    })
}

/// What a number is to be on the other side, and whether it may be refused instead.
pub(crate) fn counterpart(
    domain: &str,
    value: u64,
    from: Version,
    to: Version,
    size: usize,
) -> (Wanted, Refusal) {
    if let Some(values) = by_name(domain, value, from, to) {
        let values = values.iter().map(|value| number(*value, size));
        return (Wanted::OneOf(values.collect()), Refusal::Never);
    }
    let unnamed = |also| (Wanted::Unnamed(domain.to_string(), to, also), Refusal::May);
    if !tables().names_of(domain, value, from).is_empty() {
        return unnamed(Vec::new());
    }
    // A constant that is new to the one side may have the number of a version that brought it
    // and has the older ones where they were.
    let later = HEADERS
        .iter()
        .filter(|later| !is_renumbered(domain, from, **later))
        .filter_map(|later| by_name(domain, value, *later, to));
    let mut also: Vec<u64> = later.flatten().collect();
    // It may be new to both as well, unless the number is another constant's there.
    let there = tables().names_of(domain, value, to);
    let is_another = there.iter().any(|name| {
        let mut here = tables().constants(domain, from);
        here.any(|constant| constant.name == *name)
    });
    if !is_another {
        also.push(value);
    }
    unnamed(also.iter().map(|value| number(*value, size)).collect())
}

/// The numbers of the constants of the same names: `None` if there are none.
pub(crate) fn by_name(domain: &str, value: u64, from: Version, to: Version) -> Option<Vec<u64>> {
    let names = tables().names_of(domain, value, from);
    let values = names.iter().filter_map(|name| {
        let mut there = tables().constants(domain, to);
        let same = there.find(|constant| constant.name == *name);
        same.map(|constant| constant.value as u64)
    });
    let values: Vec<u64> = values.collect();
    (!values.is_empty()).then_some(values)
}

/// Whether a number means one thing in one version and another in the other.
fn is_renumbered(domain: &str, from: Version, to: Version) -> bool {
    let mut known = known().lock().unwrap();
    let of = (domain.to_string(), from, to);
    *known.renumbered.entry(of).or_insert_with(|| {
        tables().constants(domain, from).any(|constant| {
            let value = constant.value as u64;
            match by_name(domain, value, from, to) {
                Some(values) => !values.contains(&value),
                None => !tables().names_of(domain, value, to).is_empty(),
            }
        })
    })
}
