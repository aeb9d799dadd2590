//! The report on what was heard.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::record::{Asked, Moment, Record};
use super::state::Reference;
use crate::commands::log::{deduplicate, few};
use crate::commands::process;
use crate::elf::{Relocation, Slot};
use crate::names::Names;
use crate::process::World;
use crate::process::bindings::{Link, follow_program_plt, meant};
use crate::process::logged::{Files, Objects};
use crate::report::{Bound, Report, Unreadable};

/// The report on all processes, for `subject`.
pub(super) fn report(record: &Record, subject: &str, names: &Names) -> Report {
    let subject = match record.processes() {
        0 | 1 => format!(
            "{subject} (1 process, {})",
            count(record.bindings, "binding")
        ),
        number => format!(
            "{subject} ({number} processes, {})",
            count(record.bindings, "binding")
        ),
    };
    let mut report = Report::new("run", subject, names);
    report.objects = record.files.all.len();
    let moments = record.moments();
    let used: BTreeSet<usize> = moments
        .iter()
        .flat_map(|moment| moment.objects.iter().map(|object| object.file))
        .collect();
    let places = used.iter().map(|file| {
        let mapped = &record.files.all[*file];
        (key(*file), mapped.path.clone(), mapped.file())
    });
    let files = Files::of(places.collect());
    let objects = files.read(names);
    report.unreadable.extend(files.missing.values().cloned());
    report.unreadable.extend(objects.unreadable.iter().cloned());
    let mut clients = Clients::default();
    for moment in &moments {
        if let [first, others @ ..] = &moment.pids[..]
            && !others.is_empty()
        {
            report.preface.push(format!(
                "process {first}, and {} like it with the same objects and bindings: {}",
                others.len(),
                few(others)
            ));
        }
        add(&mut report, record, moment, &objects, &mut clients, names);
    }
    clients.tell(&mut report);
    deduplicate(&mut report);
    report.sort();
    report
}

fn key(file: usize) -> String {
    file.to_string()
}

fn add(
    report: &mut Report,
    record: &Record,
    moment: &Moment,
    objects: &Objects<'_>,
    clients: &mut Clients,
    names: &Names,
) {
    let loaded: Vec<(String, usize)> = moment
        .objects
        .iter()
        .map(|object| (key(object.file), object.namespace))
        .collect();
    let mut world = objects.world(&loaded);
    // What the command was started with; programs that it starts may have another.
    world.preloaded = process::of_own_environment(&world);
    let mut links: Vec<Link> = Vec::new();
    for reference in &moment.references {
        let name = &record.texts[reference.name as usize];
        if reference.by_dlsym {
            clients.asked(&world, reference, name);
            continue;
        }
        let link = match reference.word {
            None => of_call(&world, reference, name),
            Some(word) => of_word(&world, reference, word),
        };
        links.extend(link);
    }
    follow_program_plt(&world, &mut links);
    // The program's own PLT entry leads to a function that it has not called yet.
    links.retain(|link| {
        link.own
            || link.provider.is_none_or(|place| {
                !world.objects[place].object.flags.executable
                    || world.objects[place].object.wants(&link.name).is_none()
            })
    });
    links.dedup();
    for link in &mut links {
        link.meant = meant(&world, link);
    }
    clients.add(&world, &links, names);
    process::of_bindings(report, &world, &links, names);
}

/// A function that was looked up for a PLT entry.
fn of_call(world: &World<'_>, reference: &Reference, name: &str) -> Option<Link> {
    let (provider, address) = reference.to?;
    let object = &world.objects[reference.from].object;
    let mut of_name = object.references.iter().filter(|one| one.name == name);
    Some(Link {
        from: reference.from,
        name: name.to_string(),
        node: node(world, reference.from, provider, address, name),
        own: of_name.any(|one| one.own),
        state: Bound::Bound,
        provider: Some(provider),
        meant: None,
    })
}

/// The node of a reference: the event has the function only.
fn node(
    world: &World<'_>,
    from: usize,
    provider: usize,
    address: u64,
    name: &str,
) -> Option<String> {
    let object = &world.objects[from].object;
    let nodes: BTreeSet<&Option<String>> = object
        .references
        .iter()
        .filter(|one| one.name == name)
        .map(|one| &one.node)
        .collect();
    if nodes.len() < 2 {
        return nodes.into_iter().next().cloned().flatten();
    }
    // One that asks for several is answered by one definition each.
    let definitions = world.objects[provider].definitions.as_ref()?;
    let found = definitions.named(name.as_bytes());
    let of_address = found.iter().filter(|found| found.address == address);
    let mut own =
        of_address.filter_map(|found| Some(std::str::from_utf8(found.node?).ok()?.to_string()));
    own.find(|node| nodes.contains(&Some(node.clone())))
}

/// A word that was filled when its object was loaded.
fn of_word(world: &World<'_>, reference: &Reference, word: u64) -> Option<Link> {
    let object = &world.objects[reference.from].object;
    let has = |slot: &Slot| slot.address == word;
    let found = object
        .references
        .iter()
        .find_map(|one| Some((one, one.slots.iter().find(|slot| has(slot))?)));
    let (one, slot) = found?;
    let inside = reference.to.filter(|(place, address)| {
        let definitions = world.objects[*place].definitions.as_ref();
        definitions.is_none_or(|definitions| definitions.span().contains(address))
    });
    let defines = inside.is_some_and(|(place, address)| {
        let definitions = world.objects[place].definitions.as_ref();
        definitions.is_none_or(|definitions| {
            let found = definitions.named(one.name.as_bytes());
            found.iter().any(|found| found.address == address)
        })
    });
    let is_program = inside.is_some_and(|(place, _)| {
        let object = &world.objects[place].object;
        object.flags.executable && object.wants(&one.name).is_some()
    });
    // The program may have put something else into a variable since.
    if slot.relocation == Relocation::Absolute && !defines && !is_program {
        return None;
    }
    Some(Link {
        from: reference.from,
        name: one.name.clone(),
        node: one.node.clone(),
        own: one.own,
        state: match inside {
            Some(_) => Bound::Bound,
            None => Bound::NoLibrary,
        },
        provider: inside.map(|(place, _)| place),
        meant: None,
    })
}

/// What is said of objects that refer, over all moments.
#[derive(Default)]
struct Clients {
    /// References to functions, and those of them that were called.
    functions: BTreeMap<String, BTreeSet<String>>,
    called: BTreeMap<String, BTreeSet<String>>,
    /// References whose words ld.so fills without telling, and that were not looked at.
    words: BTreeMap<String, BTreeSet<String>>,
    asked: BTreeMap<(String, String), BTreeSet<String>>,
}

impl Clients {
    fn add(&mut self, world: &World<'_>, links: &[Link], names: &Names) {
        for (place, live) in world.objects.iter().enumerate() {
            let path = world.path(place).to_string();
            for reference in &live.object.references {
                if reference.own || reference.weak || !names.cover(&reference.name) {
                    continue;
                }
                let mut slots = reference.slots.iter();
                let kind = match slots.any(|slot| slot.relocation == Relocation::JumpSlot) {
                    true => &mut self.functions,
                    false if reference.slots.is_empty() => continue,
                    false => &mut self.words,
                };
                kind.entry(path.clone())
                    .or_default()
                    .insert(reference.name.clone());
            }
        }
        for link in links {
            let path = world.path(link.from).to_string();
            self.called
                .entry(path)
                .or_default()
                .insert(link.name.clone());
        }
    }

    fn asked(&mut self, world: &World<'_>, reference: &Reference, name: &str) {
        let Some((to, _)) = reference.to else { return };
        let pair = (
            world.path(reference.from).to_string(),
            world.path(to).to_string(),
        );
        self.asked.entry(pair).or_default().insert(name.to_string());
    }

    fn tell(self, report: &mut Report) {
        let none = BTreeSet::new();
        let left = |path: &str, of: &BTreeSet<String>| {
            let called = self.called.get(path).unwrap_or(&none);
            of.difference(called).count()
        };
        let (mut clients, mut never, mut all) = (0, 0, 0);
        for (path, functions) in &self.functions {
            let number = left(path, functions);
            if number > 0 {
                clients += 1;
                never += number;
                all += functions.len();
            }
        }
        if clients > 0 {
            let of = count(clients, "object");
            report.preface.push(format!(
                "never called: {never} of {all} functions that {of} would bind at the first call; `hiplazy doctor --pid` and --at-symbol tell what to"
            ));
        }
        for (path, words) in &self.words {
            let number = left(path, words);
            if number > 0 {
                report.unreadable.push(Unreadable {
                    path: path.clone(),
                    why: format!("{number} of its pointers to functions were not looked at, because the process was ended from outside or by _exit: what they were bound to is not known"),
                });
            }
        }
        if !self.asked.is_empty() {
            let names: usize = self.asked.values().map(BTreeSet::len).sum();
            let whom: BTreeSet<&str> = self.asked.keys().map(|(_, whom)| whom.as_str()).collect();
            report.preface.push(format!(
                "looked up by dlsym, which is a question and no reference: {} in {}",
                count(names, "name"),
                whom.into_iter().collect::<Vec<_>>().join(", ")
            ));
        }
    }
}

fn count(number: usize, of_what: &str) -> String {
    match number {
        1 => format!("1 {of_what}"),
        number => format!("{number} {of_what}s"),
    }
}

/// Whether a binding is of the node that was asked for.
pub(super) fn is_of_node(
    record: &Record,
    asked: &Asked,
    name: &str,
    node: &str,
    names: &Names,
) -> bool {
    let places = [asked.from, asked.to].map(|file| {
        let mapped = &record.files.all[file];
        (key(file), mapped.path.clone(), mapped.file())
    });
    let files = Files::of(places.into());
    let objects = files.read(names);
    let world = objects.world(&[(key(asked.from), 0), (key(asked.to), 0)]);
    self::node(&world, 0, 1, asked.address, name).as_deref() == Some(node)
}

/// Takes what this command itself has put into the environment out of a report.
pub(super) fn without_module(report: &mut Report, module: &Path) {
    let module = module.display().to_string();
    report.hazards.retain_mut(|hazard| {
        if hazard.what != "LD_AUDIT" {
            return true;
        }
        hazard.detail = hazard.detail.replace(&format!(":{module}"), "");
        !hazard.detail.starts_with(&module)
    });
}
