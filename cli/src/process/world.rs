//! The objects of a process, with their symbols and scopes.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::sync::OnceLock;

use rayon::prelude::*;

use super::proc_folder::Mapping;
use super::scopes::{breadth_first, estimate};
use super::{Capture, Element, Found, Scopes};
use crate::classify::{self, LibraryName, Role};
use crate::elf::{self, Definitions, Keep, Object};
use crate::names::Names;
use crate::report::{Scope, Unreadable};

/// Longer chains are cut at their outer end.
const LONGEST_CHAIN: usize = 16;

/// An object of a process.
pub struct Live<'a> {
    /// What is in its file; only the path if that could not be read.
    pub object: Object,
    /// Its symbols.
    pub definitions: Option<Definitions<'a>>,
    /// Its file.
    pub data: &'a [u8],
    /// It is not the file, but what the process has of it in memory.
    pub from_memory: bool,
    /// What it is.
    pub role: Role,
    /// What is added to its addresses.
    pub bias: u64,
    /// Its namespace.
    pub namespace: usize,
    /// Its file's inode.
    pub inode: u64,
    /// The addresses it takes in the process; empty if that is not known.
    pub span: Range<u64>,
    /// Its file was deleted or replaced since it was mapped.
    pub replaced: bool,
    /// Itself and what it needs, in the order in which names are looked up, where the
    /// dynamic linker keeps that.
    pub list: Option<Vec<usize>>,
    /// What its references are looked up in.
    pub scope: Vec<Element>,
}

impl<'a> Live<'a> {
    pub(super) fn read(found: &'a Found, names: &Names) -> (Live<'a>, Option<Unreadable>) {
        let path = found.path.display().to_string();
        let data = found.file.as_ref().map_or(&[][..], |file| &file.data[..]);
        let sections = found.file.as_ref().and_then(|file| file.sections.as_ref());
        let mut unreadable = None;
        let mut fail = |why: elf::Error| {
            unreadable = Some(Unreadable {
                path: path.clone(),
                why: why.to_string(),
            });
        };
        let object = if found.file.is_some() {
            let read = elf::read(&path, data, Keep::Of(names));
            read.map_err(&mut fail).ok()
        } else {
            None
        };
        let definitions = sections.and_then(|sections| {
            let parsed = Definitions::parse(data, sections);
            parsed.map_err(&mut fail).ok().flatten()
        });
        if let Some(why) = found.file.as_ref().and_then(|file| file.data.cut()) {
            unreadable = Some(Unreadable {
                path: path.clone(),
                why: why.into(),
            });
        }
        let (object, role) = match object {
            Some(object) => {
                let role = classify::role(&object, names);
                (object, role)
            }
            None => unread(path, names),
        };
        let live = Live {
            object,
            role,
            definitions,
            data,
            from_memory: found.file.as_ref().is_some_and(|file| file.from_memory),
            bias: found.bias,
            namespace: found.namespace,
            inode: found.inode,
            span: found.span.clone(),
            replaced: found.replaced,
            list: None,
            scope: Vec::new(),
        };
        (live, unreadable)
    }

    /// The same object in another process, of which only the namespace is known.
    pub(super) fn again(&self, found: &'a Found, namespace: usize) -> Live<'a> {
        let sections = found.file.as_ref().and_then(|file| file.sections.as_ref());
        let parse = |sections| Definitions::parse(self.data, sections).ok().flatten();
        Live {
            object: self.object.clone(),
            role: self.role.clone(),
            definitions: sections.and_then(parse),
            data: self.data,
            from_memory: self.from_memory,
            bias: self.bias,
            namespace,
            inode: self.inode,
            span: self.span.clone(),
            replaced: self.replaced,
            list: None,
            scope: Vec::new(),
        }
    }
}

/// An object of which there is only the name: that must do to tell a runtime.
fn unread(path: String, names: &Names) -> (Object, Role) {
    let object = Object {
        path,
        ..Object::default()
    };
    let name = LibraryName::parse(object.file_name()).filter(|_| names.are_hip());
    let role = name.map_or(Role::Other, Role::Runtime);
    (object, role)
}

/// All objects of a process.
pub struct World<'a> {
    /// In the order in which they were loaded, by namespace.
    pub objects: Vec<Live<'a>>,
    /// Why scopes are estimates.
    pub estimated: Option<String>,
    /// What could not be read.
    pub unreadable: Vec<Unreadable>,
    /// What was loaded before everything else because somebody said so (`LD_PRELOAD`).
    pub preloaded: BTreeSet<usize>,
    /// The objects that each needs, by its `DT_NEEDED`.
    pub needs: Vec<Vec<usize>>,
    /// The objects that need each.
    users: Vec<Vec<usize>>,
    /// Addresses in order: start, end, object.
    spans: Vec<(u64, u64, usize)>,
    /// All that is mapped, of objects or not.
    mappings: &'a [Mapping],
    /// There are objects whose symbols are not known.
    pub(super) has_unread: bool,
    /// The global scope of each namespace.
    globals: HashMap<usize, Vec<usize>>,
    /// Where programs have copies of variables, once somebody has asked.
    copies: OnceLock<HashMap<usize, BTreeSet<u64>>>,
}

impl Capture {
    /// Reads the files of the objects that are loaded.
    pub fn read(&self, names: &Names) -> World<'_> {
        let mut world = World::new(&self.objects, names);
        world.mappings = &self.mappings;
        world.unreadable.extend(self.unreadable.iter().cloned());
        world.set_scopes(self);
        world
    }
}

impl<'a> World<'a> {
    /// Reads the files of some objects; nothing is known of their scopes yet.
    fn new(found: &'a [Found], names: &Names) -> World<'a> {
        let read: Vec<(Live<'a>, Option<Unreadable>)> = found
            .par_iter()
            .map(|found| Live::read(found, names))
            .collect();
        let (objects, unreadable): (Vec<_>, Vec<_>) = read.into_iter().unzip();
        let mut world = World::of(objects);
        world.unreadable.extend(unreadable.into_iter().flatten());
        world
    }

    /// A process of objects that have been read.
    pub(super) fn of(objects: Vec<Live<'a>>) -> World<'a> {
        let mut world = World {
            has_unread: objects.iter().any(|live| live.definitions.is_none()),
            objects,
            estimated: None,
            unreadable: Vec::new(),
            preloaded: BTreeSet::new(),
            needs: Vec::new(),
            users: Vec::new(),
            spans: Vec::new(),
            mappings: &[],
            globals: HashMap::new(),
            copies: OnceLock::new(),
        };
        world.find_needs();
        world.find_spans();
        world
    }

    fn find_needs(&mut self) {
        let mut called = HashMap::<(usize, &str), usize>::new();
        for (place, live) in self.objects.iter().enumerate() {
            for name in [live.object.called(), live.object.file_name()] {
                called.entry((live.namespace, name)).or_insert(place);
            }
        }
        let needs = self.objects.iter().map(|live| {
            let needed = live.object.needed.iter();
            needed
                .filter_map(|name| called.get(&(live.namespace, name.as_str())).copied())
                .collect()
        });
        self.needs = needs.collect();
        self.users = vec![Vec::new(); self.needs.len()];
        for (user, needs) in self.needs.iter().enumerate() {
            for needed in needs {
                // One object's needs follow each other: a user that is known is the last one.
                let users = &mut self.users[*needed];
                if users.last() != Some(&user) {
                    users.push(user);
                }
            }
        }
    }

    fn find_spans(&mut self) {
        for (place, live) in self.objects.iter().enumerate() {
            let Range { start, end } = live.span;
            if start < end {
                self.spans.push((start, end, place));
            }
        }
        self.spans.sort_unstable();
    }

    fn set_scopes(&mut self, capture: &Capture) {
        let mut scopes = match &capture.scopes {
            _ if capture.closed.is_some() => Scopes::default(),
            Ok(scopes) => scopes.by_object(&capture.object_of, self.objects.len()),
            Err(why) => {
                self.estimated = Some(why.clone());
                Scopes::default()
            }
        };
        if scopes.scopes.is_empty() {
            let namespaces: Vec<usize> = self.objects.iter().map(|live| live.namespace).collect();
            scopes = estimate(&self.needs, &namespaces);
        }
        for (place, list) in scopes.lists.into_iter().enumerate() {
            self.objects[place].list = list;
        }
        for (place, scope) in scopes.scopes.into_iter().enumerate() {
            self.objects[place].scope = scope.unwrap_or_default();
        }
        for live in &self.objects {
            if let Some(list) = &live.list {
                // The first of a namespace is its program, whose list is the global one.
                self.globals
                    .entry(live.namespace)
                    .or_insert_with(|| list.clone());
            }
        }
    }

    /// The global scope of a namespace, in order.
    pub fn global(&self, namespace: usize) -> &[usize] {
        self.globals.get(&namespace).map_or(&[], Vec::as_slice)
    }

    /// The object that an address lies in.
    pub fn at(&self, address: u64) -> Option<usize> {
        let after = self.spans.partition_point(|(start, ..)| *start <= address);
        let (_, end, place) = *self.spans.get(after.checked_sub(1)?)?;
        (address < end).then_some(place)
    }

    /// Whether anything was mapped at an address.
    pub fn is_mapped(&self, address: u64) -> bool {
        super::mapping_at(self.mappings, address).is_some()
    }

    /// An object and what it needs: the dynamic linker's list, else by `DT_NEEDED`.
    pub fn closure(&self, place: usize) -> Vec<usize> {
        match &self.objects[place].list {
            // That of the program has what others opened in it as well.
            Some(list) if !self.is_first(place) => list.clone(),
            _ => breadth_first(place, &self.needs),
        }
    }

    /// Whether [`World::closure`] has all that an object needs.
    pub fn knows_closure(&self, place: usize) -> bool {
        let has_list = self.objects[place].list.is_some() && !self.is_first(place);
        has_list
            || self.closure(place).iter().all(|place| {
                let live = &self.objects[*place];
                live.definitions.is_some() && self.needs[*place].len() == live.object.needed.len()
            })
    }

    /// Whether an object is a program with a copy of this variable (`R_X86_64_COPY`): that
    /// is meant to be used by all, also by the library that it was copied from.
    pub fn has_copy(&self, place: usize, name: &str) -> bool {
        let copies = self.copies.get_or_init(|| {
            let programs = self.objects.iter().enumerate();
            programs
                .filter(|(_, live)| live.object.flags.executable)
                .filter_map(|(place, live)| Some((place, live.definitions.as_ref()?.copies())))
                .collect()
        });
        let definitions = self.objects[place].definitions.as_ref();
        copies
            .get(&place)
            .zip(definitions)
            .is_some_and(|(copies, definitions)| {
                let mut found = definitions.named(name.as_bytes()).into_iter();
                found.any(|definition| copies.contains(&definition.address))
            })
    }

    /// Whether its list is the global scope of its namespace.
    fn is_first(&self, place: usize) -> bool {
        let namespace = self.objects[place].namespace;
        self.global(namespace).first() == Some(&place)
    }

    /// The path of an object.
    pub fn path(&self, place: usize) -> &str {
        &self.objects[place].object.path
    }

    /// Where an object is visible.
    pub fn scope_of(&self, place: usize) -> Scope {
        let namespace = self.objects[place].namespace;
        if namespace > 0 {
            return Scope::Namespace { number: namespace };
        }
        if self.globals.is_empty() || self.estimated.is_some() {
            return Scope::Unknown;
        }
        let global = self.global(namespace);
        match global.iter().position(|other| *other == place) {
            Some(position) => Scope::Global { position },
            None => Scope::Local,
        }
    }

    /// Whether an object looks names up in what it needs before the global scope.
    pub fn is_deepbind(&self, place: usize) -> bool {
        let namespace = self.objects[place].namespace;
        let Some(global) = self.global(namespace).first() else {
            return false;
        };
        let scope = &self.objects[place].scope;
        let mut lists = scope.iter().filter_map(|element| match element {
            Element::List(owner) => Some(owner),
            Element::Itself => None,
        });
        lists.next().is_some_and(|first| first != global) && lists.any(|owner| owner == global)
    }

    /// The chains of objects by which an object is needed, outermost first: one for each
    /// object that needs it directly.
    pub fn needed_by(&self, place: usize) -> Vec<Vec<String>> {
        let chain_of = |user: usize| {
            let mut chain = vec![user];
            // Up to who needs that, as far as there is somebody new.
            while chain.len() < LONGEST_CHAIN
                && let Some(last) = chain.last()
                && let Some(outer) = self.users[*last]
                    .iter()
                    .find(|outer| !chain.contains(outer) && **outer != place)
            {
                chain.push(*outer);
            }
            let outermost_first = chain.into_iter().rev();
            outermost_first
                .map(|at| self.path(at).to_string())
                .collect()
        };
        let users = self.users[place].iter();
        users
            .filter(|user| **user != place)
            .map(|user| chain_of(*user))
            .collect()
    }
}

impl Scopes {
    /// By object instead of by link map: several link maps may be one object.
    fn by_object(&self, object_of: &[Option<usize>], objects: usize) -> Scopes {
        let mut lists = vec![None; objects];
        let mut scopes = vec![None; objects];
        let object = |map: &usize| object_of.get(*map).copied().flatten();
        for (map, place) in object_of.iter().enumerate() {
            let Some(place) = *place else { continue };
            if lists[place].is_none() {
                let list = self.lists[map].as_ref();
                lists[place] = list.map(|list| list.iter().filter_map(object).collect());
            }
            if scopes[place].is_none() {
                let scope = self.scopes[map].as_ref();
                scopes[place] = scope.map(|scope| {
                    let elements = scope.iter().filter_map(|element| match element {
                        Element::List(owner) => object(owner).map(Element::List),
                        Element::Itself => Some(Element::Itself),
                    });
                    elements.collect()
                });
            }
        }
        Scopes { lists, scopes }
    }
}
