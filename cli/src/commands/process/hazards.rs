//! Circumstances that change how names bind.

use std::collections::{BTreeMap, BTreeSet};

use crate::elf::Binding;
use crate::finding::Finding;
use crate::names::{Names, is_hip_like};
use crate::process::{Capture, World};
use crate::report::{Hazard, Report};
use crate::rules;

/// Libraries that bring their own `malloc`.
const ALLOCATORS: [&str; 6] = [
    "libjemalloc",
    "libtcmalloc",
    "libmimalloc",
    "libsnmalloc",
    "libhoard",
    "libtbbmalloc_proxy",
];

/// Run-time libraries of the sanitizers.
const SANITIZERS: [(&str, &str); 8] = [
    ("libasan.", "AddressSanitizer"),
    ("libclang_rt.asan", "AddressSanitizer"),
    ("libtsan.", "ThreadSanitizer"),
    ("libclang_rt.tsan", "ThreadSanitizer"),
    ("liblsan.", "LeakSanitizer"),
    ("libubsan.", "UndefinedBehaviorSanitizer"),
    ("libclang_rt.ubsan", "UndefinedBehaviorSanitizer"),
    ("libhwasan.", "HWAddressSanitizer"),
];

/// A function that only the run-time library of each sanitizer defines.
const SANITIZER_FUNCTIONS: [(&str, &str); 4] = [
    ("__asan_init", "AddressSanitizer"),
    ("__tsan_init", "ThreadSanitizer"),
    ("__hwasan_init", "HWAddressSanitizer"),
    ("__ubsan_handle_add_overflow", "UndefinedBehaviorSanitizer"),
];

/// Variables of the dynamic linker and of hiplazy that decide what is bound to what.
const VARIABLES: [(&str, &str); 9] = [
    ("LD_PRELOAD", "libraries that come before all others"),
    ("LD_AUDIT", "libraries that may change every binding"),
    ("LD_BIND_NOW", "nothing is bound lazily"),
    (
        "LD_DYNAMIC_WEAK",
        "a strong definition is preferred to a weak one",
    ),
    ("LD_LIBRARY_PATH", "folders that come before the system's"),
    ("HIPLAZY_RUNTIME", "the runtime that hiplazy uses, alone"),
    (
        "HIPLAZY_DISABLE",
        "hiplazy behaves as if there were no runtime",
    ),
    ("HIPLAZY_SCOPE", "where hiplazy looks names up"),
    ("HIPLAZY_ABI", "what hiplazy does where structs differ"),
];

/// The variables that matter.
pub(crate) fn of_environment(environment: &BTreeMap<String, String>) -> Vec<Hazard> {
    let set = VARIABLES.iter().filter_map(|(name, meaning)| {
        let value = environment.get(*name).filter(|value| !value.is_empty())?;
        Some(Hazard {
            what: (*name).to_string(),
            detail: format!("{value} ({meaning})"),
        })
    });
    set.collect()
}

pub(super) fn fill(report: &mut Report, capture: &Capture, world: &World<'_>, names: &Names) {
    let push = |report: &mut Report, what: &str, detail: String| {
        report.hazards.push(Hazard {
            what: what.to_string(),
            detail,
        });
    };
    report.hazards.extend(of_environment(&capture.environment));
    let at_secure = capture.auxiliary.get(libc::AT_SECURE);
    report.hazards.extend(more_rights(at_secure));
    for place in &world.preloaded {
        push(report, "preloaded", world.path(*place).to_string());
    }
    let deepbind: Vec<usize> = (0..world.objects.len())
        .filter(|place| world.is_deepbind(*place))
        .collect();
    for place in &deepbind {
        let detail = format!(
            "{} looks in what it needs before the global scope",
            world.path(*place)
        );
        push(report, "RTLD_DEEPBIND", detail);
    }
    for (place, live) in world.objects.iter().enumerate() {
        if live.namespace > 0 && matches!(live.role, crate::classify::Role::Runtime(_)) {
            let detail = format!(
                "{} is in namespace {} (dlmopen)",
                world.path(place),
                live.namespace
            );
            push(report, "namespace", detail);
        }
    }
    sanitizers(report, world);
    allocators(report, world, &deepbind);
    unique(report, world, names);
}

/// What the dynamic linker makes of rights that the caller has not.
fn more_rights(at_secure: Option<u64>) -> Option<Hazard> {
    (at_secure == Some(1)).then(|| Hazard {
        what: "AT_SECURE".to_string(),
        detail: "it has more rights than its caller: LD_PRELOAD, LD_LIBRARY_PATH and HIPLAZY_* are ignored".to_string(),
    })
}

/// By the names of their libraries, or by a function of theirs: clang links them
/// statically.
fn sanitizers(report: &mut Report, world: &World<'_>) {
    let mut found = BTreeSet::new();
    for live in &world.objects {
        let name = live.object.file_name();
        if let Some((_, tool)) = SANITIZERS.iter().find(|(stem, _)| name.starts_with(stem)) {
            found.insert((*tool, name));
        }
    }
    // That of AddressSanitizer has UndefinedBehaviorSanitizer's functions as well.
    if found.is_empty() {
        found.extend(SANITIZER_FUNCTIONS.iter().find_map(|(function, tool)| {
            let answer = world.in_list(world.global(0), function, None)?;
            Some((*tool, world.objects[answer.place].object.file_name()))
        }));
    }
    report
        .hazards
        .extend(found.into_iter().map(|(tool, file)| Hazard {
            what: "sanitizer".to_string(),
            detail: format!("{tool}: {file}"),
        }));
}

/// Who answers `malloc` first, if that is not the C library; and who does not ask there.
fn allocators(report: &mut Report, world: &World<'_>, deepbind: &[usize]) {
    let Some(answer) = world.in_list(world.global(0), "malloc", None) else {
        return;
    };
    let path = world.path(answer.place);
    let name = world.objects[answer.place].object.file_name();
    if name.starts_with("libc.so") || name.starts_with("libc-2") || name.starts_with("ld-") {
        return;
    }
    let known = ALLOCATORS.iter().any(|stem| name.starts_with(stem));
    report.hazards.push(Hazard {
        what: "allocator".to_string(),
        detail: if known {
            path.to_string()
        } else {
            format!("{path} defines malloc")
        },
    });
    for place in deepbind {
        let own = world.look_up(*place, "malloc", None);
        if own.is_some_and(|own| own.place != answer.place) {
            let detail = format!("malloc of everybody else is in {path}");
            let finding = Finding::new(&rules::DEEPBIND_ALLOCATOR, world.path(*place), detail);
            report.findings.push(finding);
        }
    }
}

/// Unique symbols of HIP's C++ code, or of those that the report is about, that several
/// objects define.
fn unique(report: &mut Report, world: &World<'_>, names: &Names) {
    let is_of_interest = |name: &str| match names.are_hip() {
        true => is_hip_like(name),
        false => names.cover(name),
    };
    let mut owners = BTreeMap::<&str, Vec<usize>>::new();
    for (place, live) in world.objects.iter().enumerate() {
        for export in &live.object.exports {
            if export.binding == Binding::Unique && is_of_interest(&export.name) {
                owners.entry(&export.name).or_default().push(place);
            }
        }
    }
    let mut groups = BTreeMap::<Vec<usize>, Vec<String>>::new();
    for (name, places) in owners {
        if places.len() > 1 {
            groups.entry(places).or_default().push(name.to_string());
        }
    }
    for (places, names) in groups {
        let others: Vec<&str> = places[1..].iter().map(|place| world.path(*place)).collect();
        let detail = format!(
            "{} unique C++ symbols are also defined by {}, which use these",
            names.len(),
            others.join(", ")
        );
        let finding = Finding::new(&rules::UNIQUE_SYMBOL, world.path(places[0]), detail);
        report.findings.push(finding.with(names));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Only root can make such a program and look at it; a live test does.
    #[test]
    fn more_rights_than_the_caller_are_a_circumstance() {
        assert_eq!(more_rights(Some(1)).unwrap().what, "AT_SECURE");
        assert!(more_rights(Some(0)).is_none() && more_rights(None).is_none());
    }
}
