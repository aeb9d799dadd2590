//! Functions and version nodes that a client wants and its runtime does not have: measured
//! where the runtime is looked at as well, else by what is known about its major version.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::LazyLock;

use hiplazy_abi as abi;

use super::package::{Package, Packages};
use super::sections::{generation, has_node};
use crate::classify::{self, LibraryName, Part, Role};
use crate::elf::{Object, Reference};
use crate::finding::Finding;
use crate::names::{Names, listed};
use crate::rules;

/// What clients miss.
pub(super) fn findings(packages: &Packages, names: &Names) -> Vec<Finding> {
    let mut found = Vec::new();
    for package in packages.iter() {
        for number in packages.looked_at(package) {
            let member = packages.member(number);
            if matches!(member.role, Role::Runtime(_) | Role::Filter(_)) {
                continue;
            }
            match packages.runtime_for(package, number) {
                Some(runtime) => {
                    found.extend(beside(packages, package, number, runtime, names));
                }
                None => found.extend(unknown(&member.object, names)),
            }
        }
    }
    found
}

/// What the runtime that is looked at lacks.
fn beside(
    packages: &Packages,
    package: &Package,
    client: usize,
    runtime: usize,
    names: &Names,
) -> Option<Finding> {
    let client = &packages.member(client).object;
    let runtime = &packages.member(runtime).object;
    let nodes: HashSet<&str> = runtime.nodes.iter().map(String::as_str).collect();
    let exports: HashSet<(&str, Option<&str>)> = runtime
        .exports
        .iter()
        .map(|export| (export.name.as_str(), export.node.as_deref()))
        .collect();
    let named: HashSet<&str> = exports.iter().map(|(name, _)| *name).collect();
    let mut missing_nodes = BTreeMap::<&str, Vec<&str>>::new();
    let mut missing = BTreeSet::new();
    for reference in wanted(client, names) {
        let name = reference.name.as_str();
        match reference.node.as_deref() {
            // Who defines no node at all is asked for none.
            Some(node) if nodes.is_empty() || nodes.contains(node) => {
                // The dynamic linker takes what has no node for any.
                let has = exports.contains(&(name, Some(node))) || exports.contains(&(name, None));
                if !has && !has_other(packages, package, name, runtime) {
                    missing.insert(format!("{name}@{node}"));
                }
            }
            Some(node) if of_hip(reference).is_some() => {
                missing_nodes.entry(node).or_default().push(name);
            }
            None if has_node(name)
                && !named.contains(name)
                && !has_other(packages, package, name, runtime) =>
            {
                missing.insert(name.to_string());
            }
            _ => {}
        }
    }
    let mut said: Vec<String> = missing_nodes
        .keys()
        .map(|node| format!("the node {node}"))
        .collect();
    if let Some(first) = missing.first() {
        let more = match missing.len() - 1 {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        said.push(format!("{first}{more}"));
    }
    let detail = format!("{} does not have {}", runtime.path, said.join(", nor "));
    let of_nodes = missing_nodes.iter().flat_map(|(node, names)| {
        let line = move |name: &&str| format!("refers to {name}@{node}");
        names.iter().map(line)
    });
    let of_names = missing.iter().map(|name| format!("refers to {name}"));
    (!said.is_empty()).then(|| {
        Finding::new(&rules::MISSING_NODE, &client.path, detail).with(of_nodes.chain(of_names))
    })
}

/// Whether something else of the package answers the name.
fn has_other(packages: &Packages, package: &Package, name: &str, runtime: &Object) -> bool {
    package.members.iter().any(|number| {
        let object = &packages.member(*number).object;
        object.path != runtime.path && object.export(name).is_some()
    })
}

/// What no known runtime of the needed major has.
fn unknown(client: &Object, names: &Names) -> Option<Finding> {
    let needs = classify::runtime_needs(client);
    let majors: Vec<u32> = needs
        .filter(|(_, name)| name.part == Part::Hip)
        .filter_map(|(_, name)| name.major)
        .collect();
    let mut found = BTreeSet::new();
    for reference in wanted(client, names) {
        let name = reference.name.as_str();
        let major = match (&reference.node, of_hip(reference), &majors[..]) {
            (Some(_), Some(library), _) => library.major,
            // The structs have rules of their own.
            (None, _, [only]) if has_node(name) && generation(name).is_none() => Some(*only),
            _ => None,
        };
        let Some(major) = major else {
            continue;
        };
        let node = reference.node.as_deref();
        if node.is_some_and(|node| !may_have(major, name, node)) {
            found.insert((format!("{name}@{}", node.unwrap_or_default()), major));
        } else if let Some(first) = FIRST.get(name)
            && node.is_none()
            && first.major > major
        {
            found.insert((name.to_string(), major));
        }
    }
    let (first, major) = found.first()?;
    let more = match found.len() - 1 {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let detail = format!("{first}{more}, which no known runtime of HIP {major} has");
    let lines = found
        .iter()
        .map(|(name, major)| format!("refers to {name}, needs HIP {major}"));
    Some(Finding::new(&rules::UNKNOWN_NODE, &client.path, detail).with(lines))
}

/// Whether a runtime of this major can have the name on the node.
fn may_have(major: u32, name: &str, node: &str) -> bool {
    // Where real runtimes have it is known.
    if let Some(known) = listed(name).and_then(|known| known.node.as_deref()) {
        return known == node && NODES.get(node).is_none_or(|first| *first <= major);
    }
    match NODES.get(node) {
        Some(first) => *first <= major,
        // A later release of the same major may have added it.
        None => major_of(node).is_some_and(|of_node| of_node == major && major >= newest()),
    }
}

/// The references that must be answered by somebody else; weak ones may stay open.
fn wanted<'a>(client: &'a Object, names: &'a Names) -> impl Iterator<Item = &'a Reference> {
    classify::references(client, names).filter(|reference| !reference.weak)
}

/// The HIP runtime that a reference's node was found in.
fn of_hip(reference: &Reference) -> Option<LibraryName> {
    let library = LibraryName::parse(reference.library.as_deref()?)?;
    (library.part == Part::Hip).then_some(library)
}

/// `hip_7.1` is a node of HIP 7.
fn major_of(node: &str) -> Option<u32> {
    node.strip_prefix("hip_")?.split('.').next()?.parse().ok()
}

fn newest() -> u32 {
    NODES.values().copied().max().unwrap_or(0)
}

/// The nodes of the measured runtimes, with the first major that has each.
static NODES: LazyLock<BTreeMap<String, u32>> = LazyLock::new(|| {
    let mut nodes = BTreeMap::<String, u32>::new();
    for table in abi::EXPORTS {
        // `libamdhip64_debian_5.2.3`
        let version = table.name.rsplit('_').next().unwrap_or_default();
        let Some(major) = version.split('.').next().and_then(|text| text.parse().ok()) else {
            continue;
        };
        // The tables are part of this program and parsed by its tests.
        for export in abi::parse_exports(table.text).unwrap_or_default() {
            if let Some(node) = export.node {
                let first = nodes.entry(node).or_insert(major);
                *first = major.min(*first);
            }
        }
    }
    nodes
});

/// The first version that declares each function.
static FIRST: LazyLock<BTreeMap<String, abi::Version>> = LazyLock::new(|| {
    let functions = abi::parse_functions(abi::FUNCTIONS_TXT).unwrap_or_default();
    let with = functions.into_iter();
    with.filter_map(|function| Some((function.name, function.first?)))
        .collect()
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_known_by_major() {
        for (major, name, node, may) in [
            (7, "hipMalloc", "hip_4.2", true),
            (7, "hipMalloc", "hip_9.9", false),
            (6, "hipMemAdvise_v2", "hip_7.1", false),
            (7, "hipMemAdvise_v2", "hip_7.1", true),
            (5, "hipGetDevicePropertiesR0600", "hip_6.0", false),
            (6, "hipGetDevicePropertiesR0600", "hip_6.0", true),
            // Not known yet: a later release, the next major, and one that is over.
            (7, "hipNewThing", "hip_7.99", true),
            (8, "hipNewThing", "hip_8.0", true),
            (7, "hipNewThing", "hip_8.0", false),
            (6, "hipNewThing", "hip_6.99", false),
        ] {
            assert_eq!(
                may_have(major, name, node),
                may,
                "{name}@{node} of HIP {major}"
            );
        }
    }
}
