//! What lies elsewhere than in the file of a library: words that point to no library, and
//! code whose file was replaced.

use std::collections::BTreeMap;

use super::verdicts::few;
use crate::classify::Role;
use crate::finding::Finding;
use crate::process::World;
use crate::process::bindings::Link;
use crate::report::{Bound, Hazard, Report, Scope};
use crate::rules;

pub(super) fn fill(report: &mut Report, world: &World<'_>, links: &[Link]) {
    for (from, names) in of_state(links, Bound::Unmapped) {
        let finding = Finding::new(
            &rules::UNMAPPED_PROVIDER,
            world.path(from),
            format!(
                "{} {} bound to memory that is no longer mapped",
                few(&names),
                if names.len() == 1 { "is" } else { "are" }
            ),
        );
        report.findings.push(finding.with(names));
    }
    for (from, names) in of_state(links, Bound::NoLibrary) {
        report.hazards.push(Hazard {
            what: "code of no library".to_string(),
            detail: format!(
                "{} of {}: the word points to memory that no library has, which a tool's trampoline or a compiler at run time may have made",
                few(&names),
                world.path(from)
            ),
        });
    }
    for (place, live) in world.objects.iter().enumerate() {
        // Where it is global, it may have any name; who is bound to it already is known.
        if let (None, Scope::Global { position }) = (&live.definitions, world.scope_of(place)) {
            report.hazards.push(Hazard {
                what: "unread library".to_string(),
                detail: format!(
                    "{}, number {position} in the global scope, could not be read: it may be the one that answers what is not bound yet, and the next library",
                    world.path(place)
                ),
            });
        }
        if live.replaced && !matches!(live.role, Role::Other) {
            report.hazards.push(Hazard {
                what: "replaced file".to_string(),
                detail: format!(
                    "{} was deleted or replaced since it was loaded: the process goes on with the old one, and the next one gets what has the name now",
                    world.path(place)
                ),
            });
        }
    }
}

/// The references in a state, sorted, by the object that refers.
fn of_state(links: &[Link], state: Bound) -> BTreeMap<usize, Vec<String>> {
    let mut by_object = BTreeMap::<usize, Vec<String>>::new();
    for link in links.iter().filter(|link| link.state == state) {
        by_object.entry(link.from).or_default().push(link.symbol());
    }
    for names in by_object.values_mut() {
        names.sort();
        names.dedup();
    }
    by_object
}
