//! The rules that several objects break together.

use std::collections::{BTreeMap, BTreeSet};

use super::package::Package;
use crate::classify::{self, Role};
use crate::elf::Binding;
use crate::finding::Finding;
use crate::names::{Names, is_hip_like};
use crate::rules;

/// What the rules say about a package, called `name`.
pub(super) fn findings(name: &str, package: &Package, names: &Names) -> Vec<Finding> {
    let mut found = global_exporters(package, names);
    if names.are_hip() {
        found.extend(majors(name, package));
    }
    found
}

/// Objects that need an exporter: where they are global, so are its names.
fn global_exporters(package: &Package, names: &Names) -> Vec<Finding> {
    let mut found = Vec::new();
    for member in package.members() {
        let object = &member.object;
        for needed in &object.needed {
            let Some(provider) = package.provider(needed) else {
                continue;
            };
            let is_exporter = matches!(provider.role, Role::Exporter);
            let bare = classify::foreign_exports(&provider.object, names)
                .filter(|export| export.node.is_none())
                .count();
            if is_exporter && bare > 0 && provider.object.path != object.path {
                let detail = format!("needs {needed}, which exports {bare} names of the runtime");
                found.push(
                    Finding::new(&rules::GLOBAL_EXPORTER, &object.path, detail)
                        .with([format!("exporter: {}", provider.object.path)]),
                );
            }
        }
    }
    found
}

/// Two majors needed by one object, directly or by what it needs within the package;
/// and packages that hold builds for several.
fn majors(name: &str, package: &Package) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut all = BTreeMap::<u32, BTreeSet<&str>>::new();
    let mut reported = BTreeSet::new();
    for member in package.members() {
        let mut needs = BTreeMap::<u32, BTreeSet<String>>::new();
        for inner in package.closure(member) {
            // hiprtc and others of a runtime need each other; the copy is one runtime.
            if matches!(inner.role, Role::Runtime(_)) {
                continue;
            }
            for major in classify::majors(&inner.object) {
                let path = inner.object.path.clone();
                needs.entry(major).or_default().insert(path);
                all.entry(major).or_default().insert(&member.object.path);
            }
        }
        if needs.len() < 2 || matches!(member.role, Role::Runtime(_)) {
            continue;
        }
        let numbers: Vec<String> = needs.keys().map(|major| format!("HIP {major}")).collect();
        let evidence = needs.iter().flat_map(|(major, paths)| {
            let line = move |path: &String| format!("HIP {major}: {path}");
            paths.iter().map(line)
        });
        let evidence: Vec<String> = evidence.collect();
        // The innermost object says it; those around it have the same two.
        if reported.insert(evidence.clone()) {
            let detail = format!("needs {}", numbers.join(" and "));
            found
                .push(Finding::new(&rules::TWO_MAJORS, &member.object.path, detail).with(evidence));
        }
    }
    if found.is_empty() && all.len() > 1 {
        let numbers: Vec<String> = all
            .iter()
            .map(|(major, paths)| format!("HIP {major} ({})", objects(paths.len())))
            .collect();
        let detail = format!("holds builds for {}", numbers.join(", "));
        let evidence = all.iter().flat_map(|(major, paths)| {
            let line = move |path: &&str| format!("HIP {major}: {path}");
            paths.iter().map(line)
        });
        found.push(Finding::new(&rules::SEVERAL_MAJORS, name, detail).with(evidence));
    }
    found
}

fn objects(number: usize) -> String {
    match number {
        1 => "1 object".to_string(),
        _ => format!("{number} objects"),
    }
}

/// Unique symbols of HIP's C++ code that several objects define: the process has one.
pub(super) fn unique_clashes<'a>(packages: impl Iterator<Item = &'a Package>) -> Vec<Finding> {
    let mut owners = BTreeMap::<&str, Vec<&str>>::new();
    for member in packages.flat_map(Package::members) {
        for export in &member.object.exports {
            if export.binding == Binding::Unique && is_hip_like(&export.name) {
                let paths = owners.entry(&export.name).or_default();
                paths.push(&member.object.path);
            }
        }
    }
    let mut by_objects = BTreeMap::<Vec<&str>, Vec<&str>>::new();
    for (name, paths) in owners {
        if paths.len() > 1 {
            by_objects.entry(paths).or_default().push(name);
        }
    }
    by_objects
        .into_iter()
        .map(|(paths, names)| {
            let detail = format!(
                "{} unique C++ symbols are also defined by {}",
                names.len(),
                paths[1..].join(", ")
            );
            Finding::new(&rules::UNIQUE_SYMBOL, paths[0], detail)
                .with(names.iter().map(ToString::to_string))
        })
        .collect()
}
