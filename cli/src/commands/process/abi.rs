//! What clients were built for, against what they are bound to.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use hiplazy_abi as abi;
use hiplazy_abi::{Action, Break, Function, Version};

use super::verdicts::few;
use crate::elf::Object;
use crate::finding::Finding;
use crate::process::World;
use crate::process::bindings::{Link, runtime};
use crate::report::{Client, Report};
use crate::rules;

// The tables are part of this program and parsed by its tests.
static BREAKS: LazyLock<Vec<Break>> =
    LazyLock::new(|| abi::parse_breaks(abi::BREAKS_TXT).unwrap_or_default());
static FIRST: LazyLock<BTreeMap<String, Version>> = LazyLock::new(|| {
    let functions: Vec<Function> = abi::parse_functions(abi::FUNCTIONS_TXT).unwrap_or_default();
    let with = functions.into_iter();
    with.filter_map(|function| Some((function.name, function.first?)))
        .collect()
});

/// The version of a runtime whose file name does not tell: that of the newest function it
/// exports.
pub(super) fn by_exports(object: &Object) -> Option<Version> {
    let exports = object.exports.iter();
    exports
        .filter_map(|export| FIRST.get(&export.name).copied())
        .max()
}

/// Compares each client with the runtime that it is bound to.
pub(super) fn of_process(report: &mut Report, world: &World<'_>, links: &[Link]) {
    let mut used = BTreeMap::<&str, BTreeSet<&str>>::new();
    let mut runtimes = BTreeMap::<&str, &str>::new();
    for link in links {
        let from = world.path(link.from);
        used.entry(from).or_default().insert(&link.name);
        if let Some(provider) = link.provider
            && runtime(world, provider).is_some_and(|name| name.part == crate::classify::Part::Hip)
        {
            runtimes.insert(from, world.path(provider));
        }
    }
    let versions: BTreeMap<String, Version> = report
        .runtimes
        .iter()
        .filter_map(|runtime| {
            Some((
                runtime.path.clone(),
                version_of(runtime.version.as_deref()?)?,
            ))
        })
        .collect();
    let bound: BTreeMap<String, (Version, BTreeSet<String>)> = used
        .into_iter()
        .filter_map(|(from, names)| {
            let version = *versions.get(*runtimes.get(from)?)?;
            let names = names.into_iter().map(str::to_string).collect();
            Some((from.to_string(), (version, names)))
        })
        .collect();
    fill(report, &bound);
}

/// Fills what breaks between each client and the runtime version that it uses, by the
/// client's path, with the names that it refers to.
pub(super) fn fill(report: &mut Report, bound: &BTreeMap<String, (Version, BTreeSet<String>)>) {
    let mut found = Vec::new();
    for client in &mut report.clients {
        let Some((runtime, names)) = bound.get(&client.path) else {
            continue;
        };
        let headers = headers_of(client);
        if headers.is_empty() {
            continue;
        }
        let mut broken = Vec::new();
        for name in names {
            // What holds for all versions that the client may have been compiled with.
            let each: Vec<Option<&Break>> = headers
                .iter()
                .map(|headers| {
                    abi::break_of(&BREAKS, name, *headers, *runtime)
                        .filter(|line| is_felt(line, *headers, *runtime))
                })
                .collect();
            if let Some(Some(first)) = each.first()
                && each.iter().all(Option::is_some)
            {
                broken.push(name.clone());
                client.breaks.push(format!("{name}: {}", first.what));
            }
        }
        if !broken.is_empty() {
            let major = headers[0].major;
            let detail = format!(
                "compiled with headers of HIP {major}, bound to a runtime of HIP {runtime}: {}",
                few(&broken)
            );
            found.push(
                Finding::new(&rules::STRUCT_GENERATION, &client.path, detail)
                    .with(client.breaks.clone()),
            );
        }
    }
    report.findings.extend(found);
}

/// Whether a caller with these headers gets something else than it expects from this
/// runtime without hiplazy. What holds for one version with itself as well is about
/// hiplazy; a function that the runtime lacks is seen elsewhere.
pub(in crate::commands) fn is_felt(line: &Break, headers: Version, runtime: Version) -> bool {
    matches!(line.action, Action::Translate | Action::Refuse)
        && line.applies(headers, runtime)
        && !line.applies(headers, headers)
}

/// The header versions that a client may have been compiled with, where that can be told.
fn headers_of(client: &Client) -> Vec<Version> {
    let known = abi::HEADER_VERSIONS.iter().copied();
    match client.majors[..] {
        [major] => known.filter(|version| version.major == major).collect(),
        [] => {
            let has = |generation: &str| client.structs.iter().any(|known| known == generation);
            match (has("legacy"), has("R0600")) {
                (true, false) => known.filter(|version| version.major < 6).collect(),
                (false, true) => known.filter(|version| version.major >= 6).collect(),
                _ => Vec::new(),
            }
        }
        _ => Vec::new(),
    }
}

/// Major and minor of `7.14.60850`.
pub(super) fn version_of(text: &str) -> Option<Version> {
    let mut parts = text.split('.');
    let mut number = || parts.next()?.parse().ok();
    Some(Version::new(number()?, number()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::Names;

    fn broken(majors: &[u32], runtime: &str) -> Report {
        let mut report = Report::new("doctor", "a process", &Names::default());
        report.clients.push(Client {
            path: "client.so".into(),
            majors: majors.to_vec(),
            ..Client::default()
        });
        let names = ["hipDrvMemcpy3D", "hipMalloc", "hipGetProcAddress"].map(String::from);
        let bound = (version_of(runtime).unwrap(), BTreeSet::from(names));
        fill(
            &mut report,
            &BTreeMap::from([("client.so".to_string(), bound)]),
        );
        report
    }

    #[test]
    fn a_client_of_hip_5_on_a_runtime_of_hip_6_breaks_where_structs_grew() {
        let report = broken(&[5], "6.4.3");
        assert_eq!(report.findings.len(), 1);
        assert_eq!(report.findings[0].rule.id, "struct-generation");
        assert!(report.clients[0].breaks[0].starts_with("hipDrvMemcpy3D: "));
        assert_eq!(report.clients[0].breaks.len(), 1);
    }

    #[test]
    fn a_client_of_the_same_generation_is_not_mentioned() {
        assert_eq!(broken(&[6], "6.4.3").findings, []);
        assert_eq!(broken(&[], "6.4.3").findings, []);
    }
}
