//! What the next library gets that needs a name.

use std::collections::{BTreeMap, BTreeSet};

use super::verdicts::few;
use crate::classify::{Role, foreign_exports};
use crate::finding::Finding;
use crate::names::{Names, listed};
use crate::process::World;
use crate::process::bindings::{Link, runtime};
use crate::report::{Forecast, Report, Scope};
use crate::rules;

/// Names that every HIP library uses.
const ALWAYS: [&str; 3] = ["hipInit", "hipMalloc", "hipGetDevicePropertiesR0600"];

pub(super) fn fill(report: &mut Report, world: &World<'_>, links: &[Link], names: &Names) {
    let global = world.global(0);
    let mut waiting = BTreeMap::<usize, Waiting>::new();
    let asked = asked(world, names);
    let both = asked.iter().flat_map(|name| {
        // A definition on another node answers only those that ask without one.
        let node = listed(name).and_then(|listed| listed.node.clone());
        let without = node.is_some().then_some((name, None));
        [Some((name, node)), without].into_iter().flatten()
    });
    for (name, node) in both {
        let found = world.in_list(global, name, node.as_deref());
        let number = |place| {
            let number = global.iter().position(|other| *other == place);
            number.unwrap_or_default()
        };
        let unread = world.unread_before(global, found);
        let answer = found.filter(|_| unread.is_none());
        let why = match (unread, found) {
            (Some(unread), found) => {
                let behind = found.map(|found| {
                    let place = found.place;
                    format!(
                        "; behind it, number {}, {} has it",
                        number(place),
                        world.path(place)
                    )
                });
                format!(
                    "not known: {}, number {} in the global scope, cannot be read{}",
                    world.path(unread),
                    number(unread),
                    behind.unwrap_or_default()
                )
            }
            (None, Some(answer)) => format!(
                "the first of the global scope that has it, number {} of {}",
                number(answer.place),
                global.len()
            ),
            (None, None) => {
                "nobody in the global scope has it: the library gets that of its own dependency"
                    .to_string()
            }
        };
        if let Some(answer) = answer
            && names.are_hip()
            && runtime(world, answer.place).is_none()
        {
            let waiting = waiting.entry(answer.place).or_default();
            match node.is_some() || listed(name).is_none_or(|listed| listed.node.is_none()) {
                true => waiting.all.insert(name.clone()),
                false => waiting.unversioned.insert(name.clone()),
            };
        }
        report.forecast.push(Forecast {
            name: name.clone(),
            node,
            provider: answer.map(|answer| world.path(answer.place).to_string()),
            known: unread.is_none(),
            why,
        });
    }
    exporters(report, world, links, &waiting, names);
}

/// What an exporter in the global scope answers to libraries that are loaded from now on.
#[derive(Default)]
struct Waiting {
    /// Names that it answers to those that ask as the runtime's headers and linker have it:
    /// for the runtime's node, or where that has none without one.
    all: BTreeSet<String>,
    /// Names that it answers to those that ask without a node.
    unversioned: BTreeSet<String>,
}

impl Waiting {
    /// Which libraries get which names from it.
    fn detail(&self) -> String {
        let few = |names: Vec<&String>| few(&names.into_iter().cloned().collect::<Vec<_>>());
        let only: Vec<&String> = self.unversioned.difference(&self.all).collect();
        let mut parts = Vec::new();
        if !self.all.is_empty() {
            parts.push(format!("answers {}", few(self.all.iter().collect())));
        }
        if !only.is_empty() {
            parts.push(format!(
                "answers libraries that ask without a version node, and dlsym(RTLD_DEFAULT), for {}",
                few(only)
            ));
        }
        parts.join("; ")
    }
}

/// The names that are asked for: some that everybody uses, and all that several define.
fn asked(world: &World<'_>, names: &Names) -> BTreeSet<String> {
    let mut definers = BTreeMap::<&str, usize>::new();
    let mut asked = BTreeSet::new();
    for live in &world.objects {
        let own: BTreeSet<&str> = foreign_exports(&live.object, names)
            .map(|export| export.name.as_str())
            .collect();
        let bare = matches!(live.role, Role::Exporter | Role::Disguised(..));
        for name in own {
            *definers.entry(name).or_default() += 1;
            // What a stub defines is of interest also while there is no runtime.
            if bare && names.are_hip() {
                asked.insert(name.to_string());
            }
        }
    }
    if names.are_hip() {
        asked.extend(ALWAYS.map(String::from));
    }
    let several = definers.into_iter().filter(|(_, count)| *count > 1);
    asked.extend(several.map(|(name, _)| name.to_string()));
    asked
}

/// Exporters that nobody is bound to wrongly.
fn exporters(
    report: &mut Report,
    world: &World<'_>,
    links: &[Link],
    waiting: &BTreeMap<usize, Waiting>,
    names: &Names,
) {
    for (place, live) in world.objects.iter().enumerate() {
        if !matches!(live.role, Role::Exporter | Role::Disguised(..)) || !names.are_hip() {
            continue;
        }
        let caught = links.iter().any(|link| {
            link.provider == Some(place)
                && crate::process::bindings::wrong(world, link, names).is_some()
        });
        if caught {
            continue;
        }
        let scope = super::verdicts::scope(world, place);
        report.findings.push(match waiting.get(&place) {
            Some(waiting) => Finding::new(
                &rules::WAITING_EXPORTER,
                world.path(place),
                format!("{scope}; {}", waiting.detail()),
            )
            .with(waiting.all.union(&waiting.unversioned).cloned()),
            None => {
                let count = foreign_exports(&live.object, names).count();
                let rule = match world.scope_of(place) {
                    Scope::Global { .. } => &rules::SHADOWED_EXPORTER,
                    _ => &rules::LOCAL_EXPORTER,
                };
                Finding::new(
                    rule,
                    world.path(place),
                    format!("{scope}; exports {count} names"),
                )
            }
        });
    }
}
