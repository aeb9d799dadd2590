//! The rules that several objects break together.

use std::collections::{BTreeMap, BTreeSet};

use super::package::{Package, Packages};
use super::search::Answer;
use crate::classify::{self, Role};
use crate::elf::Binding;
use crate::finding::Finding;
use crate::names::{Names, is_hip_like};
use crate::rules;

/// What the rules say about a package.
pub(super) fn findings(packages: &Packages, package: &Package, names: &Names) -> Vec<Finding> {
    let mut found = outside(packages, package);
    if names.are_hip() {
        found.extend(global_exporters(packages, package, names));
        found.extend(majors(packages, package));
    }
    found
}

/// Objects that need an exporter: where they are global, so are its names.
fn global_exporters(packages: &Packages, package: &Package, names: &Names) -> Vec<Finding> {
    let mut found = Vec::new();
    for number in &package.members {
        let object = &packages.member(*number).object;
        let mut seen = BTreeSet::from([*number]);
        for (needed, provider) in packages.needed(*number) {
            let exporter = packages.member(provider);
            let bare = classify::foreign_exports(&exporter.object, names)
                .filter(|export| export.node.is_none())
                .count();
            let is_exporter = matches!(exporter.role, Role::Exporter) && bare > 0;
            // A need may be said twice, by way of a filter for example.
            if is_exporter && seen.insert(provider) {
                let detail = format!(
                    "needs {needed}, which exports {} of the runtime",
                    names_counted(bare)
                );
                found.push(
                    Finding::new(&rules::GLOBAL_EXPORTER, &object.path, detail)
                        .with([format!("exporter: {}", exporter.object.path)]),
                );
            }
        }
    }
    found
}

/// What is found from here by the objects' own search paths, and was not looked at.
fn outside(packages: &Packages, package: &Package) -> Vec<Finding> {
    let mut found = Vec::new();
    for number in packages.looked_at(package) {
        let needs = packages.needs(number).iter();
        let outside = needs.filter_map(|(needed, answer)| match answer {
            Answer::Outside(path) => Some((needed, path)),
            Answer::Member(_) | Answer::Unknown => None,
        });
        let lines: Vec<String> = outside
            .map(|(needed, path)| format!("{needed}: {}", path.display()))
            .collect();
        if let Some(first) = lines.first() {
            let more = match lines.len() - 1 {
                0 => String::new(),
                more => format!(", and {more} more"),
            };
            let detail = format!("finds {first}{more}");
            let object = &packages.member(number).object;
            found.push(Finding::new(&rules::OUTSIDE_NEED, &object.path, detail).with(lines));
        }
    }
    found
}

/// Two majors needed by one object, directly or by what it needs within the package;
/// and packages that hold builds for several.
fn majors(packages: &Packages, package: &Package) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut all = BTreeMap::<u32, BTreeSet<&str>>::new();
    let mut reported = BTreeSet::new();
    for number in &package.members {
        let member = packages.member(*number);
        let mut needs = BTreeMap::<u32, BTreeSet<String>>::new();
        for inner in packages.closure(*number) {
            let inner = packages.member(inner);
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
        found.push(Finding::new(&rules::SEVERAL_MAJORS, &package.name, detail).with(evidence));
    }
    found
}

fn names_counted(number: usize) -> String {
    match number {
        1 => "1 name".to_string(),
        _ => format!("{number} names"),
    }
}

fn objects(number: usize) -> String {
    match number {
        1 => "1 object".to_string(),
        _ => format!("{number} objects"),
    }
}

/// Unique symbols of HIP's C++ code that several objects define: the process has one.
pub(super) fn unique_clashes(packages: &Packages) -> Vec<Finding> {
    let mut owners = BTreeMap::<&str, Vec<&str>>::new();
    for member in packages.members() {
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
                "{} also defined by {}",
                match names.len() {
                    1 => "1 unique C++ symbol is".to_string(),
                    more => format!("{more} unique C++ symbols are"),
                },
                paths[1..].join(", ")
            );
            Finding::new(&rules::UNIQUE_SYMBOL, paths[0], detail)
                .with(names.iter().map(ToString::to_string))
        })
        .collect()
}
