//! What is wrong with who answers whom.

use std::collections::{BTreeMap, BTreeSet};

use crate::classify::{Part, Role};
use crate::finding::Finding;
use crate::names::Names;
use crate::process::World;
use crate::process::bindings::{Link, runtime, wrong};
use crate::process::instead::{Instead, instead};
use crate::report::{Bound, Report, Wrong};
use crate::rules;

pub(super) fn fill(report: &mut Report, world: &World<'_>, links: &[Link], names: &Names) {
    copies(report, world);
    providers(report, world, links, names);
    if !names.are_hip() {
        interposed(report, world, links);
    }
    unresolved(report, world, links);
}

/// Two copies of one part of the runtime.
fn copies(report: &mut Report, world: &World<'_>) {
    let mut parts = BTreeMap::<Part, Vec<usize>>::new();
    for (place, live) in world.objects.iter().enumerate() {
        if let Role::Runtime(name) = &live.role {
            parts.entry(name.part).or_default().push(place);
        }
    }
    for (part, places) in parts {
        // Two compilers or two hiprtc beside each other do no harm by themselves: their
        // state is not shared with anybody.
        if places.len() < 2 || !matches!(part, Part::Hip | Part::Hsa) {
            continue;
        }
        let namespaces: BTreeSet<usize> = places
            .iter()
            .map(|place| world.objects[*place].namespace)
            .collect();
        // A copy per namespace is what dlmopen is for, whatever file each is from.
        let rule = match namespaces.len() == places.len() {
            true => &rules::TWO_NAMESPACES,
            false => &rules::TWO_RUNTIMES,
        };
        let shown: Vec<String> = places
            .iter()
            .map(|place| match namespaces.len() {
                1 => world.path(*place).to_string(),
                _ => format!("{} ({})", world.path(*place), namespace(world, *place)),
            })
            .collect();
        let detail = format!("{} are loaded: {}", shown.len(), shown.join(", "));
        let evidence = places.iter().flat_map(|place| {
            let chains = world.needed_by(*place);
            let by = chains.into_iter().map(|chain| chain.join(" -> "));
            let mut lines: Vec<String> = by
                .map(|chain| format!("{chain} -> {}", world.path(*place)))
                .collect();
            if lines.is_empty() {
                let opened = match world.objects[*place].namespace {
                    0 => "dlopen",
                    _ => "dlmopen",
                };
                lines.push(format!("{opened} -> {}", world.path(*place)));
            }
            if namespaces.len() > 1 {
                for line in &mut lines {
                    *line += &format!(" ({})", namespace(world, *place));
                }
            }
            lines
        });
        report
            .findings
            .push(Finding::new(rule, world.path(places[0]), detail).with(evidence));
    }
}

/// The namespace of an object, as `dlmopen` counts.
fn namespace(world: &World<'_>, place: usize) -> String {
    match world.objects[place].namespace {
        0 => "the program's namespace".to_string(),
        number => format!("namespace {number}"),
    }
}

/// References that somebody else answers, by who refers and who answers.
fn providers(report: &mut Report, world: &World<'_>, links: &[Link], names: &Names) {
    let mut pairs = BTreeMap::<(usize, usize), Vec<(&Link, Wrong)>>::new();
    for link in links {
        if let (Some(provider), Some(why)) = (link.provider, wrong(world, link, names)) {
            let pair = pairs.entry((link.from, provider)).or_default();
            pair.push((link, why));
        }
    }
    for ((from, provider), found) in pairs {
        let rule = if !names.are_hip() {
            &rules::OTHER_PROVIDER
        } else if world.preloaded.contains(&provider) {
            &rules::PRELOADED_PROVIDER
        } else if runtime(world, from).is_some() {
            &rules::CAPTURED_RUNTIME
        } else {
            &rules::WRONG_PROVIDER
        };
        let lazy = found
            .iter()
            .filter(|(link, _)| link.state == Bound::Lazy)
            .count();
        let mut names: Vec<String> = found.iter().map(|(link, _)| link.symbol()).collect();
        names.sort();
        names.dedup();
        let is = if names.len() == 1 { "is" } else { "are" };
        let when = match (lazy, found.len() - lazy) {
            (0, _) => format!("{is} bound to"),
            (_, 0) => "would at the first call be bound to".to_string(),
            _ => format!("{is}, or would at the first call be, bound to"),
        };
        let what = found[0].1.means();
        let few = few(&names);
        let detail = format!("{few} {when} {}, {what}", world.path(provider));
        let mut evidence: Vec<String> = found.iter().map(|(link, _)| line(world, link)).collect();
        evidence.sort();
        evidence.dedup();
        evidence.extend(chains(world, found[0].0));
        report
            .findings
            .push(Finding::new(rule, world.path(from), detail).with(evidence));
    }
}

/// References that something answers in place of a library, as it is meant to.
fn interposed(report: &mut Report, world: &World<'_>, links: &[Link]) {
    let mut pairs = BTreeMap::<(usize, Instead, usize), BTreeSet<String>>::new();
    for link in links {
        if let (Some(provider), Some(why)) = (link.provider, instead(world, link))
            && why != Instead::First
        {
            let pair = pairs.entry((link.from, why, provider)).or_default();
            pair.insert(link.symbol());
        }
    }
    for ((from, why, provider), names) in pairs {
        let names: Vec<String> = names.into_iter().collect();
        let detail = format!(
            "{} of {}, {}",
            few(&names),
            world.path(provider),
            why.means()
        );
        let finding = Finding::new(&rules::INTERPOSED, world.path(from), detail);
        report.findings.push(finding.with(names));
    }
}

/// How the two that are confused got there.
fn chains(world: &World<'_>, link: &Link) -> Vec<String> {
    let mut lines = Vec::new();
    for (word, place) in [("meant", link.meant), ("got", link.provider)] {
        let Some(place) = place else { continue };
        let chains = world.needed_by(place);
        let by: Vec<String> = chains.iter().map(|chain| chain.join(" -> ")).collect();
        let by = if by.is_empty() {
            "opened with dlopen".to_string()
        } else {
            format!("needed by {}", by.join("; "))
        };
        lines.push(format!(
            "{word}: {} ({}), {by}",
            world.path(place),
            scope(world, place)
        ));
    }
    lines
}

pub(super) fn scope(world: &World<'_>, place: usize) -> String {
    use crate::report::Scope::{Global, Local, Namespace, Unknown};
    match world.scope_of(place) {
        Global { position } => format!("number {position} in the global scope"),
        Local => "not in the global scope".to_string(),
        Namespace { number } => format!("in namespace {number}"),
        Unknown => "scope not known".to_string(),
    }
}

fn line(world: &World<'_>, link: &Link) -> String {
    let state = match link.state {
        Bound::Bound => "bound",
        Bound::Lazy => "not called yet",
        Bound::Unresolved => "unresolved",
        Bound::NoLibrary => "in memory of no library",
        Bound::Unmapped => "no longer mapped",
    };
    let provider = link.provider.map_or("nobody", |place| world.path(place));
    let meant = match link.meant {
        Some(place) => format!(", meant for {}", world.path(place)),
        None => String::new(),
    };
    format!("{} -> {provider} ({state}{meant})", link.symbol())
}

/// Calls that will end the program.
fn unresolved(report: &mut Report, world: &World<'_>, links: &[Link]) {
    let mut by_object = BTreeMap::<usize, Vec<String>>::new();
    for link in links {
        let object = &world.objects[link.from].object;
        let weak = object
            .references
            .iter()
            .any(|reference| reference.name == link.name && reference.weak);
        if link.state == Bound::Unresolved && !weak {
            by_object.entry(link.from).or_default().push(link.symbol());
        }
    }
    for (from, mut names) in by_object {
        names.sort();
        names.dedup();
        report.findings.push(
            Finding::new(&rules::UNRESOLVED, world.path(from), few(&names)).with(names.clone()),
        );
    }
}

/// The first names, and how many more.
pub(super) fn few(names: &[String]) -> String {
    const SHOWN: usize = 6;
    if names.len() <= SHOWN {
        return names.join(", ");
    }
    let more = names.len() - SHOWN;
    format!("{} and {more} more", names[..SHOWN].join(", "))
}
