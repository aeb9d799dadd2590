//! The rules that one object alone can break.

use crate::classify::{self, Part, Role};
use crate::elf::{Binding, Export, Object};
use crate::finding::Finding;
use crate::names::{Names, listed};
use crate::rules;

use super::search_paths;
use super::sections::{generation, has_node};

/// What the rules say about an object, whose role is known.
pub fn findings(object: &Object, role: &Role, names: &Names) -> Vec<Finding> {
    let mut found = Vec::new();
    if let Role::Disguised(library, why) = role {
        let detail = format!("calls itself {}, and {why}", object.called());
        found.push(
            Finding::new(&rules::DISGUISED_RUNTIME, &object.path, detail)
                .with([format!("part: {}", library.part.as_str())]),
        );
    }
    if let Role::Filter(library) = role {
        let detail = format!(
            "is called {}, and passes on to {}",
            object.called(),
            object.filters.join(", ")
        );
        found.push(
            Finding::new(&rules::RUNTIME_FILTER, &object.path, detail)
                .with([format!("part: {}", library.part.as_str())]),
        );
    }
    // What a filter exports, the library behind it is asked for first.
    // Names that are not HIP's are nobody's: defining them is no fault.
    if names.are_hip() && !matches!(role, Role::Runtime(_) | Role::Filter(_)) {
        exports(object, names, &mut found);
        literals(object, &mut found);
        structs(object, names, &mut found);
        unversioned(object, names, &mut found);
    }
    if let Role::Runtime(library) = role
        && library.part != Part::Comgr
        && let Some(hash) = &library.hash
    {
        let detail = format!(
            "{} is a copy that auditwheel renamed (hash {hash})",
            object.file_name()
        );
        found.push(Finding::new(&rules::BUNDLED_RUNTIME, &object.path, detail));
    }
    search_paths::findings(object, &mut found);
    if object.flags.executable_stack && object.flags.dynamic {
        let detail = "PT_GNU_STACK is executable or missing";
        found.push(Finding::new(&rules::EXECUTABLE_STACK, &object.path, detail));
    }
    if object.flags.text_relocations {
        let detail = "DT_TEXTREL is set";
        found.push(Finding::new(&rules::TEXT_RELOCATIONS, &object.path, detail));
    }
    found
}

fn exports(object: &Object, names: &Names, found: &mut Vec<Finding>) {
    // The runtime's own node on somebody else's export answers for the runtime just as well.
    let (bare, on_node): (Vec<_>, Vec<_>) =
        classify::foreign_exports(object, names).partition(|export| match &export.node {
            None => true,
            Some(node) => {
                listed(&export.name).is_some_and(|known| known.node.as_ref() == Some(node))
            }
        });
    if !bare.is_empty() {
        let and = if object.flags.global {
            "; it is linked to be global in any case (DF_1_GLOBAL)"
        } else {
            ""
        };
        let where_ = match bare.iter().any(|export| export.node.is_some()) {
            true => "on the version node that the runtime has them on",
            false => "without a version node",
        };
        let detail = format!("{} {where_}: {}{and}", count(bare.len()), few(&bare));
        // A program is the first in the global scope, and nobody can open it otherwise.
        let rule = match object.flags.executable {
            true => &rules::PROGRAM_EXPORT,
            false => &rules::BARE_EXPORT,
        };
        found.push(Finding::new(rule, &object.path, detail).with(all(&bare)));
    }
    if !on_node.is_empty() {
        let detail = format!("{}: {}", count(on_node.len()), few(&on_node));
        found.push(Finding::new(&rules::NODE_EXPORT, &object.path, detail).with(all(&on_node)));
    }
    let unique: Vec<&Export> = object
        .exports
        .iter()
        .filter(|export| export.binding == Binding::Unique && names.cover(&export.name))
        .collect();
    if !unique.is_empty() {
        let detail = format!("{}: {}", count(unique.len()), few(&unique));
        found.push(Finding::new(&rules::UNIQUE_SYMBOL, &object.path, detail).with(all(&unique)));
    }
    let like: Vec<&Export> = classify::hip_like_exports(object, names).collect();
    if !like.is_empty() {
        let detail = format!("{}: {}", count(like.len()), few(&like));
        found.push(Finding::new(&rules::HIP_LIKE_EXPORT, &object.path, detail).with(all(&like)));
    }
}

/// A look-up by the old name alone. Who has the new one as well, as a literal or by a
/// reference, knows the difference; who refers to the old one has it for messages. To HIP 5
/// the old name is the right one.
fn literals(object: &Object, found: &mut Vec<Finding>) {
    let for_five = classify::majors(object)
        .last()
        .is_some_and(|major| *major < 6);
    if !object.looks_up() || for_five {
        return;
    }
    let has = |name: &str| object.literals.iter().any(|literal| literal == name);
    let old: Vec<&str> = crate::elf::RENAMED
        .iter()
        .filter(|family| has(family[0]) && !family[1..].iter().any(|newer| has(newer)))
        .filter(|family| !family.iter().any(|name| object.wants(name).is_some()))
        .map(|family| family[0])
        .collect();
    if !old.is_empty() {
        let detail = format!(
            "has the literal \"{}\" beside dlsym, and not the name with R0600",
            old.join("\", \"")
        );
        found.push(Finding::new(&rules::LEGACY_LITERAL, &object.path, detail));
    }
}

fn structs(object: &Object, names: &Names, found: &mut Vec<Finding>) {
    let refers = |wanted: &str| {
        let references = classify::references(object, names);
        references
            .filter(|reference| generation(&reference.name) == Some(wanted))
            .map(|reference| reference.name.clone())
            .collect::<Vec<_>>()
    };
    let (old, new) = (refers("legacy"), refers("R0600"));
    if !old.is_empty() && !new.is_empty() {
        let detail = format!("refers to {} and to {}", old.join(", "), new.join(", "));
        found.push(Finding::new(&rules::MIXED_STRUCTS, &object.path, detail));
        return;
    }
    let majors = classify::majors(object);
    // Who needs an old runtime and a newer one may have the functions of both.
    let (rule, major) = match majors.last() {
        Some(newest) if !old.is_empty() && *newest >= 6 => (&rules::OLD_STRUCT, newest),
        Some(newest) if !new.is_empty() && *newest < 6 => (&rules::NEW_STRUCT, newest),
        _ => return,
    };
    let functions = [old, new].concat();
    let detail = format!("refers to {} and needs HIP {major}", functions.join(", "));
    let needs = classify::runtime_needs(object).map(|(needed, _)| format!("needs {needed}"));
    let refers = functions.iter().map(|name| format!("refers to {name}"));
    found.push(Finding::new(rule, &object.path, detail).with(refers.chain(needs)));
}

fn unversioned(object: &Object, names: &Names, found: &mut Vec<Finding>) {
    let mut without: Vec<String> = classify::references(object, names)
        .filter(|reference| reference.node.is_none() && has_node(&reference.name))
        .map(|reference| reference.name.clone())
        .collect();
    without.sort();
    if let Some(first) = without.first() {
        let detail = format!(
            "{} without the node that every runtime has: {first}{}",
            count(without.len()),
            if without.len() > 1 { ", ..." } else { "" }
        );
        found.push(Finding::new(&rules::UNVERSIONED_REFERENCE, &object.path, detail).with(without));
    }
}

fn count(number: usize) -> String {
    match number {
        1 => "1 name".to_string(),
        _ => format!("{number} names"),
    }
}

/// The first few names, for one line.
fn few(exports: &[&Export]) -> String {
    let mut names: Vec<&str> = exports.iter().map(|export| export.name.as_str()).collect();
    names.sort_unstable();
    let more = if names.len() > 3 { ", ..." } else { "" };
    names.truncate(3);
    format!("{}{more}", names.join(", "))
}

fn all(exports: &[&Export]) -> Vec<String> {
    let mut lines: Vec<String> = exports
        .iter()
        .map(|export| match &export.node {
            Some(node) => format!("{}@@{node}", export.name),
            None => export.name.clone(),
        })
        .collect();
    lines.sort();
    lines
}
