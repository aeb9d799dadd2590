//! A process at one time: what it has loaded, and what is bound.

use std::collections::{BTreeSet, HashMap};

use super::mapped::MappedFiles;
use crate::classify::LibraryName;
use crate::names::Names;

/// What changes it.
#[derive(Debug, Clone, Copy)]
pub(super) enum Event {
    Opened {
        map: u64,
        namespace: usize,
        bias: u64,
        file: usize,
    },
    Complete,
    Closed(u64),
    Bound {
        from: u64,
        to: u64,
        address: u64,
        name: u32,
        by_dlsym: bool,
    },
    Word {
        map: u64,
        word: u64,
        value: u64,
        name: u32,
    },
}

/// An object as it is loaded in a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Loaded {
    pub(super) file: usize,
    pub(super) namespace: usize,
}

/// Something that is bound.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Reference {
    /// The place of the object that refers.
    pub(super) from: usize,
    /// The place of the object that has it, and the address in it.
    pub(super) to: Option<(usize, u64)>,
    pub(super) name: u32,
    /// The word that has been filled, where it is no function's PLT entry.
    pub(super) word: Option<u64>,
    pub(super) by_dlsym: bool,
}

/// An object that is loaded.
#[derive(Debug, Clone)]
pub(super) struct Instance {
    pub(super) map: u64,
    pub(super) bias: u64,
    pub(super) file: usize,
    namespace: usize,
    complete: bool,
    serial: usize,
}

/// A process at one time.
#[derive(Debug, Clone, Default)]
pub(super) struct State {
    pub(super) loaded: Vec<Instance>,
    serial: usize,
    /// By serial numbers.
    references: BTreeSet<Reference>,
    /// Since it was last looked at.
    pub(super) grown: bool,
}

impl State {
    pub(super) fn add(&mut self, event: Event) {
        let serial = |state: &State, map| {
            let mut loaded = state.loaded.iter();
            loaded.find(|one| one.map == map).map(|one| one.serial)
        };
        let reference = match event {
            Event::Opened {
                map,
                namespace,
                bias,
                file,
            } => {
                self.serial += 1;
                self.loaded.push(Instance {
                    map,
                    bias,
                    file,
                    namespace,
                    complete: false,
                    serial: self.serial,
                });
                return;
            }
            Event::Complete => {
                for one in &mut self.loaded {
                    self.grown |= !one.complete;
                    one.complete = true;
                }
                return;
            }
            Event::Closed(map) => {
                if let Some(gone) = serial(self, map) {
                    self.loaded.retain(|one| one.serial != gone);
                    self.references.retain(|reference| {
                        reference.from != gone && reference.to.is_none_or(|(to, _)| to != gone)
                    });
                }
                return;
            }
            Event::Bound {
                from,
                to,
                address,
                name,
                by_dlsym,
            } => {
                let bias = self.loaded.iter().find(|one| one.map == to);
                let bias = bias.map_or(0, |one| one.bias);
                let (Some(from), Some(to)) = (serial(self, from), serial(self, to)) else {
                    return;
                };
                Reference {
                    from,
                    to: Some((to, address.wrapping_sub(bias))),
                    name,
                    word: None,
                    by_dlsym,
                }
            }
            Event::Word {
                map,
                word,
                value,
                name,
            } => {
                let Some(from) = serial(self, map) else {
                    return;
                };
                let to = self.at(value);
                Reference {
                    from,
                    to: to.map(|to| (to.serial, value.wrapping_sub(to.bias))),
                    name,
                    word: Some(word),
                    by_dlsym: false,
                }
            }
        };
        self.grown |= self.references.insert(reference);
    }

    /// The object that begins last before an address: whether it reaches there is seen in
    /// its file.
    pub(super) fn at(&self, address: u64) -> Option<&Instance> {
        let before = self.loaded.iter().filter(|one| one.bias <= address);
        before.max_by_key(|one| one.bias)
    }

    /// Whether there is anything to say about it.
    pub(super) fn matters(&self, files: &MappedFiles, names: &Names) -> bool {
        let is_runtime = |one: &Instance| {
            let name = files.all[one.file].path.file_name();
            let name = name.and_then(|name| name.to_str());
            one.complete && name.is_some_and(|name| LibraryName::parse(name).is_some())
        };
        !self.references.is_empty() || (names.are_hip() && self.loaded.iter().any(is_runtime))
    }

    /// By places in the list of objects.
    pub(super) fn resolve(&self) -> (Vec<Loaded>, Vec<Reference>) {
        let complete = self.loaded.iter().filter(|one| one.complete);
        let mut places = HashMap::new();
        let mut objects = Vec::new();
        for one in complete {
            places.insert(one.serial, objects.len());
            objects.push(Loaded {
                file: one.file,
                namespace: one.namespace,
            });
        }
        let references = self.references.iter().filter_map(|reference| {
            let to = match reference.to {
                Some((to, address)) => Some((*places.get(&to)?, address)),
                None => None,
            };
            Some(Reference {
                from: *places.get(&reference.from)?,
                to,
                ..reference.clone()
            })
        });
        let references = references.collect();
        (objects, references)
    }
}
