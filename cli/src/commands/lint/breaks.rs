//! What breaks between the clients of a package and the runtime that it brings along.

use std::collections::{BTreeMap, BTreeSet};

use super::package::{Member, Packages};
use super::sections::runtime_of;
use crate::classify::{self, Role};
use crate::commands::process::abi;
use crate::names::Names;
use crate::report::Report;

/// Fills the clients' breaks, and the findings about them.
pub(super) fn fill(report: &mut Report, packages: &Packages, names: &Names) {
    let mut bound = BTreeMap::new();
    for package in packages.iter() {
        for number in packages.looked_at(package) {
            let runtime = packages.runtime_for(package, number);
            let Some(version) = runtime.and_then(|one| version(packages.member(one))) else {
                continue;
            };
            let object = &packages.member(number).object;
            let references = classify::references(object, names);
            let used: BTreeSet<String> = references.map(|one| one.name.clone()).collect();
            bound.insert(object.path.clone(), (version, used));
        }
    }
    abi::fill(report, &bound);
}

fn version(runtime: &Member) -> Option<hiplazy_abi::Version> {
    let Role::Runtime(library) = &runtime.role else {
        return None;
    };
    let said = runtime_of(&runtime.object, library).version;
    said.and_then(|version| abi::version_of(&version))
        .or_else(|| abi::by_exports(&runtime.object))
}
