//! With `--prefix`: names that two libraries define in reach of one another. Whose names
//! they are is not known, so that nothing else is wrong about defining them.

use std::collections::{BTreeMap, BTreeSet};

use super::package::Packages;
use crate::elf::{Binding, Object, Relocation};
use crate::finding::Finding;
use crate::names::Names;
use crate::rules;

/// What is defined twice among an object and all that it needs.
pub(super) fn findings(packages: &Packages, names: &Names) -> Vec<Finding> {
    // Which names each pair of objects has, and whom it meets in.
    let mut pairs = BTreeMap::<(usize, usize), (usize, BTreeSet<String>)>::new();
    for package in packages.iter() {
        for number in &package.members {
            let mut owners = BTreeMap::<&str, usize>::new();
            for inner in packages.closure(*number) {
                for name in defined(&packages.member(inner).object, names) {
                    let first = *owners.entry(name).or_insert(inner);
                    if first != inner {
                        let pair = (first.min(inner), first.max(inner));
                        let (_, names) = pairs.entry(pair).or_insert((*number, BTreeSet::new()));
                        names.insert(name.to_string());
                    }
                }
            }
        }
    }
    let findings = pairs.into_iter().map(|((first, other), (meets, names))| {
        let path = |number: usize| &packages.member(number).object.path;
        let count = match names.len() {
            1 => "1 name is".to_string(),
            more => format!("{more} names are"),
        };
        let few: Vec<&str> = names.iter().take(3).map(String::as_str).collect();
        let more = if names.len() > 3 { ", ..." } else { "" };
        let detail = format!(
            "{count} also defined by {}: {}{more}",
            path(other),
            few.join(", ")
        );
        let together = format!("both are loaded with {}", path(meets));
        Finding::new(&rules::DEFINED_TWICE, path(first), detail)
            .with(std::iter::once(together).chain(names.iter().cloned()))
    });
    findings.collect()
}

/// The names that an object answers for without a node. Weak and unique definitions are
/// those of inline functions, which every user has; a program's copy of a variable is
/// everybody's.
fn defined<'a>(object: &'a Object, names: &'a Names) -> impl Iterator<Item = &'a str> {
    let copies: BTreeSet<&str> = object
        .references
        .iter()
        .filter(|reference| {
            let mut slots = reference.slots.iter();
            slots.any(|slot| slot.relocation == Relocation::Copy)
        })
        .map(|reference| reference.name.as_str())
        .collect();
    object
        .exports
        .iter()
        .filter(|export| {
            names.cover(&export.name) && export.node.is_none() && export.binding == Binding::Global
        })
        .map(|export| export.name.as_str())
        .filter(move |name| !copies.contains(name))
}
