//! The references of one process as its log has them, and what a log cannot tell apart:
//! questions by dlsym, addresses of a program's own, libraries of `LD_PRELOAD`.

use std::collections::{BTreeMap, BTreeSet};

use crate::binding_log::{Alike, Logged};
use crate::classify::Role;
use crate::names::Names;
use crate::process::World;
use crate::process::bindings::{Link, follow_program_plt, meant, runtime, wrong};
use crate::process::logged::Objects;
use crate::process::look_up::matching;
use crate::report::{Bound, Hazard, Unreadable};

/// A process, or several that are alike.
pub(super) struct Process<'a> {
    pub(super) world: World<'a>,
    pub(super) links: Vec<Link>,
    /// Whether it can be told what was preloaded.
    is_told: bool,
    /// What was loaded before the first constructor was called.
    early: BTreeSet<usize>,
    /// What was looked for and not found, by who may have asked dlsym for it.
    in_vain: BTreeMap<usize, Vec<String>>,
}

impl<'a> Process<'a> {
    pub(super) fn of(alike: &Alike, objects: &Objects<'a>) -> Process<'a> {
        let mut process = Process {
            world: objects.world(&alike.objects),
            links: Vec::new(),
            is_told: false,
            early: alike.early.iter().copied().collect(),
            in_vain: BTreeMap::new(),
        };
        for binding in &alike.bindings {
            process.add(binding);
        }
        process.bind_programs();
        follow_program_plt(&process.world, &mut process.links);
        for link in &mut process.links {
            link.meant = meant(&process.world, link);
        }
        if let Some(program) = alike.program {
            process.find_preloaded(program);
        }
        process
    }

    fn add(&mut self, binding: &Logged) {
        let live = &self.world.objects[binding.from];
        let of_name = || {
            let references = live.object.references.iter();
            references.filter(|reference| reference.name == binding.name)
        };
        // A look-up by dlsym that finds nothing is logged like a reference, and is none.
        if binding.to.is_none() && !of_name().any(|reference| !reference.own) {
            if live.definitions.is_none() {
                let of_object = self.in_vain.entry(binding.from).or_default();
                of_object.push(binding.name.clone());
            }
            return;
        }
        // The log has the node on a line of its own if threads wrote at once.
        let mut nodes = of_name().map(|reference| &reference.node);
        let node = match (&binding.node, nodes.next(), nodes.next()) {
            (None, Some(only), None) => only.clone(),
            (node, ..) => node.clone(),
        };
        let link = Link {
            from: binding.from,
            name: binding.name.clone(),
            node,
            own: of_name().any(|reference| reference.own),
            state: match binding.to {
                Some(_) => Bound::Bound,
                None => Bound::Unresolved,
            },
            provider: binding.to,
            meant: None,
        };
        // The same reference may be there with its node.
        let filled = binding.node.is_none() && link.node.is_some();
        if !filled || !self.links.contains(&link) {
            self.links.push(link);
        }
    }

    /// What a program itself will be bound to whose address of a function others have got:
    /// it has not called it, so the log does not have it.
    fn bind_programs(&mut self) {
        let world = &self.world;
        let mut waiting = BTreeSet::new();
        for link in &self.links {
            let Some(program) = link.provider else {
                continue;
            };
            let object = &world.objects[program].object;
            let own = self
                .links
                .iter()
                .any(|own| own.from == program && own.name == link.name);
            if object.flags.executable && link.from != program && !own {
                let reference = object.wants(&link.name);
                waiting.extend(
                    reference.map(|reference| (program, link.name.clone(), reference.node.clone())),
                );
            }
        }
        for (program, name, node) in waiting {
            let closure = world.closure(program);
            let provider = closure.into_iter().skip(1).find(|place| {
                let definitions = world.objects[*place].definitions.as_ref();
                definitions.is_some_and(|all| matching(all, &name, node.as_deref()).is_some())
            });
            self.links.push(Link {
                from: program,
                name,
                node,
                own: false,
                state: Bound::Lazy,
                provider,
                meant: None,
            });
        }
    }

    /// What came before the program's first constructor and is not among its needs. Where
    /// one of these could not be read, or is not in the log, that cannot be told.
    fn find_preloaded(&mut self, program: usize) {
        let world = &self.world;
        let closure = world.closure(program);
        self.is_told = closure.iter().all(|place| {
            let live = &world.objects[*place];
            live.definitions.is_some() && world.needs[*place].len() == live.object.needed.len()
        });
        if self.is_told {
            let early = self.early.iter().copied();
            self.world.preloaded = early
                .filter(|place| world.objects[*place].namespace == 0 && !closure.contains(place))
                .collect();
        }
    }

    /// What was looked for in vain by objects that are not here.
    pub(super) fn in_vain(&self) -> impl Iterator<Item = Unreadable> {
        self.in_vain.iter().map(|(from, looked_for)| Unreadable {
            path: self.world.path(*from).to_string(),
            why: format!(
                "looked in vain for {}: if these are references and no questions by dlsym, the first call ends the program",
                looked_for.join(", ")
            ),
        })
    }

    /// Circumstances that a log shows, and those that it leaves open.
    pub(super) fn hazards(&self, names: &Names) -> Vec<Hazard> {
        let mut hazards: Vec<Hazard> = self
            .world
            .preloaded
            .iter()
            .map(|place| hazard("preloaded", self.world.path(*place).to_string()))
            .collect();
        if names.are_hip() {
            hazards.extend(self.asked());
            hazards.extend(self.idle(names));
        }
        let mut first = BTreeSet::new();
        for link in &self.links {
            if let Some(provider) = link.provider
                && !self.is_told
                && wrong(&self.world, link, names).is_some()
            {
                first.insert(provider);
            }
        }
        hazards.extend(first.into_iter().map(|provider| {
            let detail = format!(
                "may name {}, which a log does not tell: then take it out there, or in /etc/ld.so.preload",
                self.world.path(provider)
            );
            hazard("LD_PRELOAD", detail)
        }));
        hazards
    }

    /// Who has asked dlsym, and was not answered by a runtime.
    fn asked(&self) -> impl Iterator<Item = Hazard> {
        let world = &self.world;
        let mut asked = BTreeMap::<(usize, usize), BTreeSet<&str>>::new();
        for link in &self.links {
            let live = &world.objects[link.from];
            let is_reference = live.definitions.is_none()
                || live
                    .object
                    .references
                    .iter()
                    .any(|one| one.name == link.name);
            if let Some(provider) = link.provider
                && !is_reference
                && provider != link.from
                && runtime(world, provider).is_none()
            {
                asked
                    .entry((link.from, provider))
                    .or_default()
                    .insert(&link.name);
            }
        }
        asked.into_iter().map(move |((from, provider), names)| {
            let names: Vec<&str> = names.into_iter().collect();
            let detail = format!(
                "{} has asked for {}, and {} has answered, which is no HIP runtime",
                world.path(from),
                names.join(", "),
                world.path(provider)
            );
            hazard("dlsym", detail)
        })
    }

    /// Exporters that have answered nobody yet.
    fn idle(&self, names: &Names) -> impl Iterator<Item = Hazard> {
        let caught: BTreeSet<usize> = self
            .links
            .iter()
            .filter(|link| wrong(&self.world, link, names).is_some())
            .filter_map(|link| link.provider)
            .collect();
        let objects = self.world.objects.iter().enumerate();
        objects
            .filter(move |(place, live)| {
                matches!(live.role, Role::Exporter | Role::Disguised(..))
                    && !caught.contains(place)
                    && !self.world.preloaded.contains(place)
            })
            .map(|(place, _)| {
                let detail = format!(
                    "{} has names of the runtime; whether it is in the global scope and answers the next library, a log does not tell",
                    self.world.path(place)
                );
                hazard("exporter", detail)
            })
    }
}

fn hazard(what: &str, detail: String) -> Hazard {
    Hazard {
        what: what.to_string(),
        detail,
    }
}
