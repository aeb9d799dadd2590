//! Names of any kind that another library takes from the runtime or what it needs.
//!
//! `librocroller` and mori each contain spdlog; whichever is global first is used by
//! both. The names are as many as there are inline functions, so they are counted.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use rayon::prelude::*;

use crate::classify::Role;
use crate::elf::{self, Keep, Reference};
use crate::finding::Finding;
use crate::names::Names;
use crate::process::World;
use crate::process::bindings::of_object;
use crate::process::look_up::matching;
use crate::process::memory::Memory;
use crate::rules;
use crate::standard_names::is_standard;

/// The C and C++ run-time libraries: programs replace their functions on purpose.
const SYSTEM: [&str; 10] = [
    "ld-linux",
    "libc.so",
    "libm.so",
    "libdl.so",
    "libpthread.so",
    "librt.so",
    "libgcc_s",
    "libstdc++",
    "libresolv.so",
    "libutil.so",
];

/// How many names are shown for each pair.
const SHOWN: usize = 8;

pub(super) fn fill(
    report: &mut crate::report::Report,
    world: &World<'_>,
    memory: Memory,
    names: &Names,
) -> io::Result<()> {
    let runtimes = (0..world.objects.len())
        .filter(|place| matches!(world.objects[*place].role, Role::Runtime(_)));
    // Each object with all that the runtimes need together with it: within that, who
    // answers whom is the runtime's own affair.
    let mut closures = BTreeMap::<usize, BTreeSet<usize>>::new();
    for runtime in runtimes {
        let family = world.closure(runtime);
        for place in &family {
            if !is_system(world, *place) {
                closures.entry(*place).or_default().extend(&family);
            }
        }
    }
    let taken: Vec<io::Result<Vec<(usize, usize, String)>>> = closures
        .par_iter()
        .map(|(victim, closure)| of_victim(world, memory, *victim, closure, names))
        .collect();
    let mut pairs = BTreeMap::<(usize, usize), BTreeSet<String>>::new();
    for of_one in taken {
        for (victim, provider, name) in of_one? {
            pairs.entry((provider, victim)).or_default().insert(name);
        }
    }
    for ((provider, victim), names) in pairs {
        let victim = world.path(victim);
        let detail = match names.len() {
            1 => format!("1 name of {victim}"),
            number => format!("{number} names of {victim}"),
        };
        let more = names.len().saturating_sub(SHOWN);
        let mut evidence: Vec<String> = names.into_iter().take(SHOWN).collect();
        if more > 0 {
            evidence.push(format!("and {more} more"));
        }
        let finding = Finding::new(&rules::TAKEN_SYMBOLS, world.path(provider), detail);
        report.findings.push(finding.with(evidence));
    }
    Ok(())
}

fn of_victim(
    world: &World<'_>,
    memory: Memory,
    victim: usize,
    family: &BTreeSet<usize>,
    names: &Names,
) -> io::Result<Vec<(usize, usize, String)>> {
    let live = &world.objects[victim];
    // Kept so far is only what the report is about.
    let Ok(object) = elf::read(&live.object.path, live.data, Keep::All) else {
        return Ok(Vec::new());
    };
    let is_taken_by = |place: usize| {
        !family.contains(&place) && !world.preloaded.contains(&place) && !is_system(world, place)
    };
    let of_interest =
        |reference: &&Reference| !names.cover(&reference.name) && !is_standard(&reference.name);
    let references = object.references.iter().filter(of_interest);
    let links = of_object(world, memory, victim, references)?;
    let taken = links.into_iter().filter_map(|link| {
        let provider = link.provider.filter(|place| is_taken_by(*place))?;
        if world.has_copy(provider, &link.name) {
            return None;
        }
        // A name that none of them defines is meant for others.
        let own = family.iter().any(|place| {
            if is_system(world, *place) {
                return false;
            }
            let definitions = world.objects[*place].definitions.as_ref();
            definitions.is_some_and(|definitions| {
                matching(definitions, &link.name, link.node.as_deref()).is_some()
            })
        });
        own.then_some((victim, provider, link.name))
    });
    Ok(taken.collect())
}

fn is_system(world: &World<'_>, place: usize) -> bool {
    let name = world.objects[place].object.called();
    SYSTEM.iter().any(|stem| name.starts_with(stem))
}
