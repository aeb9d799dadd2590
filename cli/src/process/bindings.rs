//! What references are bound to: the words that the dynamic linker has filled.

use std::collections::HashMap;
use std::io;

use rayon::prelude::*;

use super::World;
use super::instead::{Instead, instead};
use super::memory::Memory;
use super::proc_folder::ProcFolder;
use crate::classify::{LibraryName, Part, Role};
use crate::elf::{Object, Reference, Relocation, Slot};
use crate::names::{Api, Names, api_of, listed};
use crate::report::{Bound, Wrong};

/// A reference and what it is bound to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// The object that refers.
    pub from: usize,
    /// The link name.
    pub name: String,
    /// The node it asks for.
    pub node: Option<String>,
    /// Whether the object defines the name itself.
    pub own: bool,
    /// Whether the word is filled.
    pub state: Bound,
    /// The object it is bound to, or would be now.
    pub provider: Option<usize>,
    /// The object that it should be bound to.
    pub meant: Option<usize>,
}

impl Link {
    /// `name@node`.
    pub fn symbol(&self) -> String {
        match &self.node {
            Some(node) => format!("{}@{node}", self.name),
            None => self.name.clone(),
        }
    }
}

/// Where a word points.
enum Points {
    Into(usize),
    Nowhere,
    /// To the object's own PLT: not bound yet.
    Lazy,
    /// To memory of no object.
    NoLibrary,
    /// To this address, at which nothing is mapped.
    Unmapped(u64),
    /// Wherever the program wants it to: it is a variable that the program has changed.
    Changed,
}

/// Reads the bindings of all references that `names` cover.
///
/// # Errors
///
/// If the process is gone or may not be read.
pub fn read(world: &World<'_>, memory: Memory, names: &Names) -> io::Result<Vec<Link>> {
    let all: Vec<io::Result<Vec<Link>>> = (0..world.objects.len())
        .into_par_iter()
        .map(|from| {
            let object = &world.objects[from].object;
            let of_interest = |reference: &&Reference| names.cover(&reference.name);
            of_object(
                world,
                memory,
                from,
                object.references.iter().filter(of_interest),
            )
        })
        .collect();
    let mut links = Vec::new();
    for of_one in all {
        links.extend(of_one?);
    }
    follow_program_plt(world, &mut links);
    for link in &mut links {
        link.meant = meant(world, link);
    }
    Ok(links)
}

/// Reads the bindings of some references of an object.
///
/// # Errors
///
/// As [`read`].
pub fn of_object<'r>(
    world: &World<'_>,
    memory: Memory,
    from: usize,
    references: impl Iterator<Item = &'r Reference>,
) -> io::Result<Vec<Link>> {
    let bias = world.objects[from].bias;
    let slots: Vec<(&Reference, &Slot)> = references
        .flat_map(|reference| reference.slots.iter().map(move |slot| (reference, slot)))
        .filter(|(_, slot)| {
            matches!(
                slot.relocation,
                Relocation::JumpSlot | Relocation::GlobDat | Relocation::Absolute
            )
        })
        .collect();
    let addresses: Vec<u64> = slots
        .iter()
        .map(|(_, slot)| bias.wrapping_add(slot.address))
        .collect();
    let words = memory.words(&addresses)?;
    let mut pointing: Vec<(&Reference, Points)> = Vec::new();
    for ((reference, slot), word) in slots.into_iter().zip(words) {
        if let Some(word) = word {
            pointing.push((reference, points(world, from, reference, slot, word)));
        }
    }
    look_again(memory, &mut pointing)?;
    let mut links: Vec<Link> = Vec::new();
    for (reference, points) in pointing {
        let (state, provider) = match points {
            Points::Into(place) => (Bound::Bound, Some(place)),
            Points::Nowhere => (Bound::Unresolved, None),
            Points::NoLibrary => (Bound::NoLibrary, None),
            Points::Unmapped(_) => (Bound::Unmapped, None),
            Points::Changed => continue,
            Points::Lazy => {
                let answer = world.look_up(from, &reference.name, reference.node.as_deref());
                match (world.unread_in_scope(from, answer), answer) {
                    // That one may be who answers.
                    (Some(_), _) => (Bound::Lazy, None),
                    (None, Some(answer)) => (Bound::Lazy, Some(answer.place)),
                    (None, None) => (Bound::Unresolved, None),
                }
            }
        };
        let link = Link {
            from,
            name: reference.name.clone(),
            node: reference.node.clone(),
            own: reference.own,
            state,
            provider,
            meant: None,
        };
        // One name often has a word for calls and others for pointers.
        let same = |known: &&Link| {
            known.name == link.name
                && known.node == link.node
                && known.state == link.state
                && known.provider == link.provider
        };
        if !links.iter().rev().take(16).any(|known| same(&known)) {
            links.push(link);
        }
    }
    Ok(links)
}

fn points(world: &World<'_>, from: usize, reference: &Reference, slot: &Slot, word: u64) -> Points {
    let live = &world.objects[from];
    // A pointer in data is the program's to change, once the dynamic linker has filled it.
    let is_variable = slot.relocation == Relocation::Absolute;
    if word == 0 {
        // What is strong and in data would have ended the program when it was loaded.
        return match is_variable && !reference.weak {
            true => Points::Changed,
            false => Points::Nowhere,
        };
    }
    // Before the first call the word holds what the file holds, plus the load address:
    // the address of the PLT entry that calls the dynamic linker.
    let is_call = slot.relocation == Relocation::JumpSlot;
    if is_call && !live.from_memory {
        let in_file = live
            .definitions
            .as_ref()
            .and_then(|definitions| definitions.word(slot.address));
        if in_file.is_some_and(|value| value != 0 && live.bias.wrapping_add(value) == word) {
            return Points::Lazy;
        }
    }
    let target = match slot.relocation {
        Relocation::Absolute => word.wrapping_sub(slot.addend as u64),
        _ => word,
    };
    let place = world.at(target);
    let exact = place.is_some_and(|place| defines_at(world, place, reference, target));
    if !exact {
        // The resolver of an IFUNC may answer with code of another object, or of none; the
        // definition that was found is what counts.
        let answer = world.look_up(from, &reference.name, reference.node.as_deref());
        if let Some(answer) = answer.filter(|answer| answer.indirect) {
            return Points::Into(answer.place);
        }
        // Where the file's own words are not known: what lies in the object itself, and is
        // no definition of the name, is the PLT.
        if is_call && live.from_memory && place == Some(from) {
            return Points::Lazy;
        }
    }
    let is_known = exact || place.is_some_and(|place| may_answer(world, place, reference));
    match place {
        _ if is_variable && !is_known => Points::Changed,
        Some(place) => Points::Into(place),
        None if world.is_mapped(target) => Points::NoLibrary,
        None => Points::Unmapped(target),
    }
}

/// The list of what is mapped is older than the words: memory that has come since then is
/// there.
fn look_again(memory: Memory, pointing: &mut [(&Reference, Points)]) -> io::Result<()> {
    let is_gone = |points: &Points| matches!(points, Points::Unmapped(_));
    if !pointing.iter().any(|(_, points)| is_gone(points)) {
        return Ok(());
    }
    let mappings = ProcFolder::of(memory.pid()).mappings()?;
    for (_, points) in pointing {
        if let Points::Unmapped(target) = points
            && super::mapping_at(&mappings, *target).is_some()
        {
            *points = Points::NoLibrary;
        }
    }
    Ok(())
}

/// Whether an object may have the address of a function that it does not define: a program
/// has that of its PLT entry, and of an unreadable file it is not known.
fn may_answer(world: &World<'_>, place: usize, reference: &Reference) -> bool {
    let live = &world.objects[place];
    live.definitions.is_none()
        || (live.object.flags.executable && live.object.wants(&reference.name).is_some())
}

fn defines_at(world: &World<'_>, place: usize, reference: &Reference, target: u64) -> bool {
    let live = &world.objects[place];
    let Some(definitions) = &live.definitions else {
        return false;
    };
    definitions
        .named(reference.name.as_bytes())
        .iter()
        .any(|definition| live.bias.wrapping_add(definition.address) == target)
}

/// A program that is not position independent has one address per function for all
/// objects: its own PLT entry. What that is bound to is what counts.
pub(crate) fn follow_program_plt(world: &World<'_>, links: &mut [Link]) {
    let mut programs = HashMap::new();
    for link in links.iter() {
        if world.objects[link.from].object.flags.executable && link.provider != Some(link.from) {
            programs.insert((link.from, link.name.clone()), (link.state, link.provider));
        }
    }
    for link in links {
        let Some(provider) = link.provider else {
            continue;
        };
        if let Some((state, behind)) = programs.get(&(provider, link.name.clone()))
            && !link.own
        {
            link.state = *state;
            link.provider = *behind;
        }
    }
}

/// The object that a reference should be bound to, as far as its object says.
pub fn meant(world: &World<'_>, link: &Link) -> Option<usize> {
    let live = &world.objects[link.from];
    if link.own {
        return matches!(live.role, Role::Runtime(_)).then_some(link.from);
    }
    let closure = world.closure(link.from);
    let defines = |place: &usize| {
        let definitions = world.objects[*place].definitions.as_ref();
        definitions.is_some_and(|definitions| {
            super::look_up::matching(definitions, &link.name, link.node.as_deref()).is_some()
        })
    };
    // The library that the linker found the node in, by name.
    let reference = reference_of(&live.object, link);
    let named = reference.and_then(|reference| reference.library.as_deref());
    if let Some(library) = named
        && let Some(place) = closure
            .iter()
            .find(|place| world.objects[**place].object.called() == library)
    {
        return Some(*place);
    }
    closure.iter().skip(1).find(|place| defines(place)).copied()
}

fn reference_of<'o>(object: &'o Object, link: &Link) -> Option<&'o Reference> {
    object
        .references
        .iter()
        .find(|reference| reference.name == link.name && reference.node == link.node)
}

/// Why a binding is wrong, if it is.
pub fn wrong(world: &World<'_>, link: &Link, names: &Names) -> Option<Wrong> {
    if link.state == Bound::Unmapped {
        return Some(Wrong::Unmapped);
    }
    let provider = link.provider?;
    if provider == link.from {
        return None;
    }
    // What the linker found the name in was a runtime, whatever lies under its name now.
    let live = &world.objects[link.from];
    let object = &live.object;
    // It has asked dlsym, as a log shows, and got what it asked for.
    let is_reference = |reference: &Reference| reference.name == link.name;
    if live.definitions.is_some() && !object.references.iter().any(is_reference) {
        return None;
    }
    let linked_to = reference_of(object, link).and_then(|reference| reference.library.as_deref());
    let is_of_runtime = names.are_hip() && linked_to.is_some_and(is_runtime_name);
    if Some(provider) == link.meant && !is_of_runtime {
        return None;
    }
    if !names.are_hip() {
        return (instead(world, link) == Some(Instead::First)).then_some(Wrong::OtherLibrary);
    }
    let Some(found) = runtime(world, provider) else {
        // A name of somebody's own that only looks like HIP's is for him to answer.
        let is_the_runtimes = is_of_runtime
            || listed(&link.name).is_some()
            || api_of(&link.name) == Some(Api::Hsa)
            || link
                .meant
                .is_some_and(|meant| runtime(world, meant).is_some());
        return is_the_runtimes.then_some(Wrong::NoRuntime);
    };
    let meant = link.meant.filter(|meant| *meant != provider)?;
    let wanted = runtime(world, meant)?;
    (found.part == wanted.part).then_some(Wrong::OtherCopy)
}

/// Whether a library of this name would be a runtime.
fn is_runtime_name(library: &str) -> bool {
    LibraryName::parse(library).is_some_and(|name| name.part != Part::Comgr)
}

/// The runtime that an object is.
pub fn runtime<'w>(world: &'w World<'_>, place: usize) -> Option<&'w LibraryName> {
    match &world.objects[place].role {
        Role::Runtime(name) if name.part != Part::Comgr => Some(name),
        _ => None,
    }
}
