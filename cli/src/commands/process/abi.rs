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
pub(in crate::commands) fn by_exports(object: &Object) -> Option<Version> {
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
            let version = runtime.version.as_deref().and_then(version_of);
            let version = version.or_else(|| version_of(runtime.at_least.as_deref()?))?;
            Some((runtime.path.clone(), version))
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
pub(in crate::commands) fn fill(
    report: &mut Report,
    bound: &BTreeMap<String, (Version, BTreeSet<String>)>,
) {
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
            let headers = shown(&headers);
            let detail = format!(
                "compiled with headers of {headers}, bound to a runtime of HIP {runtime}: {}",
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
///
/// The functions that it refers to come from the headers themselves. What it needs comes
/// from the linker, which may have been given another runtime: where the two contradict
/// each other, the functions count.
fn headers_of(client: &Client) -> Vec<Version> {
    let known = || abi::HEADER_VERSIONS.iter().copied();
    let is_known = |major: &u32| known().any(|version| version.major == *major);
    let has = |generation: &str| client.structs.iter().any(|has| has == generation);
    let is_of_hip_5 = match (has("legacy"), has("R0600") || has("R0000")) {
        (true, false) => Some(true),
        (false, true) => Some(false),
        // Both: parts of it were compiled with different headers.
        _ => None,
    };
    if !client.majors.iter().all(is_known) || (client.majors.is_empty() && is_of_hip_5.is_none()) {
        return Vec::new();
    }
    let fits = |version: &Version| is_of_hip_5.is_none_or(|old| old == (version.major < 6));
    let is_needed =
        |version: &Version| client.majors.is_empty() || client.majors.contains(&version.major);
    let agreed: Vec<Version> = known().filter(fits).filter(is_needed).collect();
    match agreed.is_empty() {
        true => known().filter(fits).collect(),
        false => agreed,
    }
}

/// `HIP 5`, `HIP 6 or newer`.
fn shown(headers: &[Version]) -> String {
    let majors = || headers.iter().map(|version| version.major);
    let newest = abi::HEADER_VERSIONS.iter().map(|version| version.major);
    match (majors().min(), majors().max()) {
        (Some(first), Some(last)) if first < last && Some(last) == newest.max() => {
            format!("HIP {first} or newer")
        }
        (Some(first), Some(last)) if first < last => format!("HIP {first} to {last}"),
        (Some(only), _) => format!("HIP {only}"),
        _ => String::new(),
    }
}

/// Major and minor of `7.14.60850`.
pub(in crate::commands) fn version_of(text: &str) -> Option<Version> {
    let mut parts = text.split('.');
    let mut number = || parts.next()?.parse().ok();
    Some(Version::new(number()?, number()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::Names;

    fn broken(majors: &[u32], structs: &[&str], runtime: &str) -> Report {
        let mut report = Report::new("doctor", "a process", &Names::default());
        report.clients.push(Client {
            path: "client.so".into(),
            majors: majors.to_vec(),
            structs: structs.iter().map(ToString::to_string).collect(),
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
        let report = broken(&[5], &[], "6.4.3");
        assert_eq!(report.findings.len(), 1);
        assert_eq!(report.findings[0].rule.id, "struct-generation");
        assert!(report.clients[0].breaks[0].starts_with("hipDrvMemcpy3D: "));
        assert_eq!(report.clients[0].breaks.len(), 1);
    }

    #[test]
    fn a_client_of_the_same_generation_is_not_mentioned() {
        assert_eq!(broken(&[6], &[], "6.4.3").findings, []);
        assert_eq!(broken(&[], &[], "6.4.3").findings, []);
    }

    #[test]
    fn functions_tell_more_of_the_headers_than_what_was_linked_with() {
        let found = |majors: &[u32], structs: &[&str], runtime: &str| {
            let findings = broken(majors, structs, runtime).findings;
            findings.first().map(|finding| {
                let (headers, _) = finding.detail.split_once(", bound").unwrap();
                headers.replace("compiled with headers of ", "")
            })
        };
        let five = Some("HIP 5".to_string());
        assert_eq!(found(&[], &["legacy"], "6.4.3"), five);
        assert_eq!(found(&[7], &["legacy"], "7.14.0"), five);
        assert_eq!(found(&[5], &["R0600"], "6.4.3"), None);
        assert_eq!(
            found(&[5], &["R0600"], "5.7.1"),
            Some("HIP 6 or newer".to_string())
        );
        // Where both agree, the need says which of the versions.
        assert_eq!(found(&[6], &["R0600"], "5.7.1"), Some("HIP 6".to_string()));
        // Parts of different generations, and a version that is not known, tell nothing.
        assert_eq!(found(&[], &["R0600", "legacy"], "5.7.1"), None);
        assert_eq!(found(&[9], &["legacy"], "6.4.3"), None);
    }
}
