//! What breaks between the clients of a package and the runtime that it brings along.

use std::collections::{BTreeMap, BTreeSet};

use super::package::{Member, Package};
use super::sections::runtime_of;
use crate::classify::{self, Part, Role};
use crate::commands::process::abi;
use crate::names::Names;
use crate::report::Report;

/// Fills the clients' breaks, and the findings about them.
pub(super) fn fill<'a>(
    report: &mut Report,
    packages: impl Iterator<Item = &'a Package>,
    names: &Names,
) {
    let mut bound = BTreeMap::new();
    for package in packages {
        for member in package.looked_at() {
            let Some(version) = runtime_for(package, member).and_then(version) else {
                continue;
            };
            let references = classify::references(&member.object, names);
            let used: BTreeSet<String> = references.map(|one| one.name.clone()).collect();
            bound.insert(member.object.path.clone(), (version, used));
        }
    }
    abi::fill(report, &bound);
}

/// The runtime of the package that a client gets: the one that it needs, or, if it needs
/// none by name, the only one.
fn runtime_for<'a>(package: &'a Package, client: &Member) -> Option<&'a Member> {
    if matches!(client.role, Role::Runtime(_)) {
        return None;
    }
    let mut needs = classify::runtime_needs(&client.object)
        .filter(|(_, name)| name.part == Part::Hip)
        .peekable();
    if needs.peek().is_some() {
        return needs.find_map(|(needed, _)| package.provider(needed).filter(|one| is_hip(one)));
    }
    let mut runtimes = package.members().iter().filter(|one| is_hip(one));
    let only = runtimes.next()?;
    runtimes.next().is_none().then_some(only)
}

fn is_hip(member: &Member) -> bool {
    matches!(&member.role, Role::Runtime(library) if library.part == Part::Hip)
}

fn version(runtime: &Member) -> Option<hiplazy_abi::Version> {
    let Role::Runtime(library) = &runtime.role else {
        return None;
    };
    let said = runtime_of(&runtime.object, library).version;
    said.and_then(|version| abi::version_of(&version))
        .or_else(|| abi::by_exports(&runtime.object))
}
