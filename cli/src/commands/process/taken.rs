//! Names of any kind that another library takes from the runtime or what it needs.
//!
//! `librocroller` and mori each contain spdlog; whichever is global first is used by
//! both. The names are as many as there are inline functions, so they are counted.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use rayon::prelude::*;

use crate::classify::Role;
use crate::elf::{self, Keep, Reference, Relocation};
use crate::finding::Finding;
use crate::names::Names;
use crate::process::World;
use crate::process::bindings::of_object;
use crate::process::look_up::matching;
use crate::process::memory::Memory;
use crate::rules;

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
    preloaded: &BTreeSet<usize>,
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
    let copied = copied(world);
    let taken: Vec<io::Result<Vec<(usize, usize, String)>>> = closures
        .par_iter()
        .map(|(victim, closure)| {
            of_victim(world, memory, *victim, closure, preloaded, names, &copied)
        })
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
    preloaded: &BTreeSet<usize>,
    names: &Names,
    copied: &BTreeSet<(usize, String)>,
) -> io::Result<Vec<(usize, usize, String)>> {
    let live = &world.objects[victim];
    // Kept so far is only what the report is about.
    let Ok(object) = elf::read(&live.object.path, live.data, Keep::All) else {
        return Ok(Vec::new());
    };
    let is_taken_by = |place: usize| {
        !family.contains(&place) && !preloaded.contains(&place) && !is_system(world, place)
    };
    let of_interest =
        |reference: &&Reference| !names.cover(&reference.name) && !is_standard(&reference.name);
    let references = object.references.iter().filter(of_interest);
    let links = of_object(world, memory, victim, references)?;
    let taken = links.into_iter().filter_map(|link| {
        let provider = link.provider.filter(|place| is_taken_by(*place))?;
        if copied.contains(&(provider, link.name.clone())) {
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

/// The variables of which programs have copies (`R_X86_64_COPY`): these are meant to be
/// used by all.
fn copied(world: &World<'_>) -> BTreeSet<(usize, String)> {
    let mut copied = BTreeSet::new();
    for (place, live) in world.objects.iter().enumerate() {
        if !live.object.flags.executable {
            continue;
        }
        let Ok(object) = elf::read(&live.object.path, live.data, Keep::All) else {
            continue;
        };
        for reference in object.references {
            let mut slots = reference.slots.iter();
            if slots.any(|slot| slot.relocation == Relocation::Copy) {
                copied.insert((place, reference.name));
            }
        }
    }
    copied
}

fn is_system(world: &World<'_>, place: usize) -> bool {
    let name = world.objects[place].object.called();
    SYSTEM.iter().any(|stem| name.starts_with(stem))
}

/// Inline functions and templates of the C++ library, of which a process has one each by
/// design, and the allocation functions, which programs may replace.
fn is_standard(whole: &str) -> bool {
    let mangled = whole.starts_with("_Z");
    // The guards and variables of inline functions have the function's name inside.
    let name = whole.strip_prefix("_ZGV").unwrap_or(whole);
    let name = name.trim_start_matches("_Z").trim_start_matches('Z');
    const STEMS: [&str; 12] = [
        "NSt",
        "NKSt",
        "St",
        "TVSt",
        "TISt",
        "TSSt",
        "TVNSt",
        "TINSt",
        "TSNSt",
        "N9__gnu_cxx",
        "NK9__gnu_cxx",
        "TTNSt",
    ];
    let allocates = ["nw", "na", "dl", "da"]
        .iter()
        .any(|stem| name.starts_with(stem));
    mangled && (allocates || STEMS.iter().any(|stem| name.starts_with(stem)))
        || matches!(
            whole,
            "malloc" | "free" | "calloc" | "realloc" | "posix_memalign"
        )
        || whole.starts_with("__cxa")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_process_has_once_by_design_does_not_count() {
        assert!(is_standard("_ZNSt6vectorIiSaIiEE9push_backERKi"));
        assert!(is_standard("_Znwm") && is_standard("free") && is_standard("_ZdlPvm"));
        assert!(is_standard("_ZGVZNKSt8__detail11_AnyMatcherIcEclEcE5__nul"));
        assert!(is_standard(
            "_ZZNKSt7__cxx1112regex_traitsIcE16lookup_classnameEvE12__classnames"
        ));
        assert!(!is_standard("_ZN6spdlog7details8registry8instanceEv"));
    }
}
