//! The parts of a report that one object fills.

use std::collections::BTreeSet;

use crate::classify::{self, LibraryName};
use crate::elf::Object;
use crate::names::{Api, Names, api_of, listed};
use crate::report::{Client, Exporter, Runtime};

/// The report's line on a runtime.
pub fn runtime_of(object: &Object, library: &LibraryName) -> Runtime {
    // The file's own name says more than the SONAME, which has the major alone.
    let by_file = LibraryName::parse(object.file_name()).and_then(|name| name.version);
    Runtime {
        path: object.path.clone(),
        kind: library.part.as_str().to_string(),
        soname: object.soname.clone(),
        version: by_file.or_else(|| library.version.clone()),
        major: library.major,
        build_id: object.build_id.clone(),
        ..Runtime::default()
    }
}

/// The report's line on an exporter.
pub fn exporter_of(object: &Object, names: &Names) -> Exporter {
    let mut exported: Vec<String> = Vec::new();
    let mut unversioned = 0;
    for export in classify::foreign_exports(object, names) {
        unversioned += usize::from(export.node.is_none());
        exported.push(export.name.clone());
    }
    exported.sort();
    exported.dedup();
    Exporter {
        path: object.path.clone(),
        soname: object.soname.clone(),
        exported,
        unversioned,
        ..Exporter::default()
    }
}

/// The report's line on a client; `None` if the object has nothing to do with the names.
pub fn client_of(object: &Object, names: &Names) -> Option<Client> {
    let mut interfaces = BTreeSet::new();
    let mut structs = BTreeSet::new();
    let mut referred = BTreeSet::new();
    let (mut references, mut unversioned) = (0, 0);
    for reference in classify::references(object, names) {
        references += 1;
        unversioned += usize::from(reference.node.is_none() && has_node(&reference.name));
        interfaces.extend(api_of(&reference.name));
        referred.insert(match &reference.node {
            Some(node) => format!("{}@{node}", reference.name),
            None => reference.name.clone(),
        });
        structs.extend(generation(&reference.name));
    }
    let needs: Vec<String> = if names.are_hip() {
        let needs = classify::runtime_needs(object);
        needs.map(|(needed, _)| needed.to_string()).collect()
    } else {
        Vec::new()
    };
    (references > 0 || !needs.is_empty()).then(|| Client {
        path: object.path.clone(),
        soname: object.soname.clone(),
        references,
        names: referred.into_iter().collect(),
        unversioned,
        majors: if names.are_hip() {
            classify::majors(object)
        } else {
            Vec::new()
        },
        needs,
        structs: structs.into_iter().map(str::to_string).collect(),
        interfaces: interfaces.into_iter().collect(),
        breaks: Vec::new(),
    })
}

/// Whether every runtime exports the name on a node. `libhiprtc` and the list of HSA's
/// functions have none.
pub(super) fn has_node(name: &str) -> bool {
    api_of(name) == Some(Api::Hip) && listed(name).is_some_and(|listed| listed.node.is_some())
}

/// Which generation of the properties struct a reference means.
pub(super) fn generation(name: &str) -> Option<&'static str> {
    let rest = ["hipGetDeviceProperties", "hipChooseDevice"]
        .iter()
        .find_map(|stem| name.strip_prefix(stem))?;
    match rest {
        "" => Some("legacy"),
        "R0000" => Some("R0000"),
        "R0600" => Some("R0600"),
        _ => None,
    }
}
