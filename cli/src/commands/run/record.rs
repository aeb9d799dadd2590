//! What was heard of each process.
//!
//! A child of `fork` begins as what its parent was; `exec` begins anew, under the same
//! number.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use super::mapped::{MappedFiles, device};
use super::state::{Event, Loaded, Reference, State};
use super::wire::{BY_DLSYM, Header, Kind};
use crate::names::Names;
use crate::report::Unreadable;

/// More events are not kept: no real command has as many of these names.
const MOST_EVENTS: usize = 16 << 20;
/// Longer lines of forks are cut.
const MOST_FORKS: usize = 4096;

/// A process and what it runs.
type Key = (u64, u32);

#[derive(Debug, Default)]
struct Process {
    pid: u32,
    forked_from: Option<(Key, u32)>,
    events: Vec<(u32, Event)>,
    /// Messages that came, and the number of the next one if none was lost.
    heard: u32,
    next: u32,
    too_old: bool,
}

/// What some processes had loaded at once, and bound.
#[derive(Debug)]
pub(super) struct Moment {
    pub(super) pids: Vec<u32>,
    pub(super) objects: Vec<Loaded>,
    pub(super) references: Vec<Reference>,
}

/// A function that was asked for is bound.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asked {
    pub(super) pid: u32,
    pub(super) from: usize,
    pub(super) to: usize,
    /// The address in the provider.
    pub(super) address: u64,
}

/// All of it.
#[derive(Default)]
pub(super) struct Record {
    names: Names,
    asked: Option<String>,
    asked_bound: Vec<Asked>,
    processes: HashMap<Key, Process>,
    order: Vec<Key>,
    /// The last process that was told under each number of its own.
    by_number: HashMap<u64, Key>,
    pids: HashSet<u32>,
    strings: HashMap<String, u32>,
    pub(super) texts: Vec<String>,
    pub(super) files: MappedFiles,
    events: usize,
    /// How many bindings were told.
    pub(super) bindings: usize,
    failed: Option<String>,
}

impl Record {
    /// Of `names`; `asked` is the link name of a function to wait for.
    pub(super) fn of(names: &Names, asked: Option<&str>) -> Record {
        Record {
            names: names.clone(),
            asked: asked.map(ToString::to_string),
            ..Record::default()
        }
    }

    pub(super) fn fail(&mut self, why: String) {
        self.failed.get_or_insert(why);
    }

    /// Whether a process has told anything.
    pub(super) fn has(&self, pid: u32) -> bool {
        self.pids.contains(&pid)
    }

    /// How many programs were run, and forks that have loaded or bound something since.
    pub(super) fn processes(&self) -> usize {
        let is_one = |key: &&Key| {
            let process = &self.processes[*key];
            let grows =
                |(_, event): &(u32, Event)| !matches!(event, Event::Closed(_) | Event::Complete);
            process.forked_from.is_none() || process.events.iter().any(grows)
        };
        self.order.iter().filter(is_one).count()
    }

    /// Bindings of the function that was asked for, since the last time.
    pub(super) fn asked_bound(&mut self) -> Vec<Asked> {
        std::mem::take(&mut self.asked_bound)
    }

    pub(super) fn add(&mut self, pid: u32, header: &Header, kind: Kind, text: &[u8]) {
        if self.events >= MOST_EVENTS {
            self.fail("told more than is kept; --prefix with longer prefixes keeps less".into());
            return;
        }
        self.events += 1;
        self.pids.insert(pid);
        let key = self.key(pid, header);
        let event = self.event(pid, key, header, kind, text);
        let Some(process) = self.processes.get_mut(&key) else {
            return;
        };
        process.heard += 1;
        process.next = process.next.max(header.sequence.wrapping_add(1));
        process.too_old |= kind == Kind::TooOld;
        process
            .events
            .extend(event.map(|event| (header.sequence, event)));
    }

    fn key(&mut self, pid: u32, header: &Header) -> Key {
        let key = (header.process, pid);
        if self.processes.contains_key(&key) {
            return key;
        }
        // In a new process namespace a child may have the number that its parent has in
        // its own, and does not notice.
        let forked_from = match self.by_number.get(&header.process) {
            Some(other) => Some((*other, header.sequence)),
            None if header.parent == 0 => None,
            None => {
                let parent = self.by_number.get(&header.parent);
                parent.map(|parent| (*parent, header.forked_at))
            }
        };
        let first = forked_from.map_or(0, |(_, at)| at);
        self.processes.insert(
            key,
            Process {
                pid,
                forked_from,
                heard: 0,
                next: first,
                ..Process::default()
            },
        );
        self.by_number.insert(header.process, key);
        self.order.push(key);
        key
    }

    fn event(
        &mut self,
        pid: u32,
        key: Key,
        header: &Header,
        kind: Kind,
        text: &[u8],
    ) -> Option<Event> {
        let [a, b, c, d, e] = header.values;
        match kind {
            Kind::Opened => {
                let path = PathBuf::from(OsStr::from_bytes(text));
                Some(Event::Opened {
                    map: a,
                    namespace: b as usize,
                    bias: c,
                    file: self.files.mapped(pid, path, device(d), e),
                })
            }
            Kind::Closed => Some(Event::Closed(a)),
            Kind::Complete => Some(Event::Complete),
            Kind::Bound | Kind::Word => {
                let name = std::str::from_utf8(text).ok()?;
                if !self.names.cover(name) {
                    return None;
                }
                self.bindings += 1;
                if self.asked.as_deref() == Some(name) {
                    self.note_asked(pid, key, header, kind);
                }
                let name = self.string(name);
                Some(match kind {
                    Kind::Bound => Event::Bound {
                        from: a,
                        to: b,
                        address: c,
                        name,
                        by_dlsym: d & BY_DLSYM != 0,
                    },
                    _ => Event::Word {
                        map: a,
                        word: b,
                        value: c,
                        name,
                    },
                })
            }
            Kind::Started | Kind::TooOld | Kind::Over => None,
        }
    }

    fn note_asked(&mut self, pid: u32, key: Key, header: &Header, kind: Kind) {
        let state = self.state(key, u32::MAX);
        let [from, second, third, ..] = header.values;
        let Some(from) = state.loaded.iter().find(|one| one.map == from) else {
            return;
        };
        let to = match kind {
            Kind::Bound => state.loaded.iter().find(|one| one.map == second),
            _ => state.at(third),
        };
        if let Some(to) = to {
            self.asked_bound.push(Asked {
                pid,
                from: from.file,
                to: to.file,
                address: third.wrapping_sub(to.bias),
            });
        }
    }

    fn string(&mut self, text: &str) -> u32 {
        if let Some(place) = self.strings.get(text) {
            return *place;
        }
        let place = u32::try_from(self.texts.len()).unwrap_or(u32::MAX);
        self.texts.push(text.to_string());
        self.strings.insert(text.to_string(), place);
        place
    }

    /// Processes that could not tell all.
    pub(super) fn lost(&self, shown: &str) -> Vec<Unreadable> {
        let mut lost = Vec::new();
        if let Some(why) = &self.failed {
            lost.push(Unreadable {
                path: shown.to_string(),
                why: why.clone(),
            });
        }
        for key in &self.order {
            let process = &self.processes[key];
            let path = format!("process {}", process.pid);
            let first = process.forked_from.map_or(0, |(_, at)| at);
            if process.too_old {
                lost.push(Unreadable {
                    path,
                    why: "was not looked at: its glibc is older than 2.35, whose auditing interface does not tell all bindings; use `hiplazy doctor --pid`, or LD_DEBUG=bindings and `hiplazy log`".into(),
                });
                continue;
            }
            let missing = (process.next - first).saturating_sub(process.heard);
            if missing > 0 {
                lost.push(Unreadable {
                    path: path.clone(),
                    why: format!("could not tell {missing} of its events (it had no descriptor left, or hiplazy was stopped for long): not all of its bindings are known"),
                });
            }
            let complete = |(_, event): &(u32, Event)| matches!(event, Event::Complete);
            if process.forked_from.is_none() && !process.events.iter().any(complete) {
                lost.push(Unreadable {
                    path: self.program(process).map_or(path.clone(), |name| format!("{path} ({name})")),
                    why: "did not start: ld.so could not load a library that it needs, and has said which; nothing was bound in it".into(),
                });
            }
        }
        lost
    }

    fn program(&self, process: &Process) -> Option<String> {
        process.events.iter().find_map(|(_, event)| match event {
            Event::Opened { file, .. } => Some(self.files.all[*file].path.display().to_string()),
            _ => None,
        })
    }

    /// All that was loaded at once at some time, with what was bound; the same once.
    pub(super) fn moments(&self) -> Vec<Moment> {
        let mut places = HashMap::<(Vec<Loaded>, Vec<Reference>), usize>::new();
        let mut moments: Vec<Moment> = Vec::new();
        for key in &self.order {
            let pid = self.processes[key].pid;
            self.replay(*key, u32::MAX, 0, &mut |state| {
                if !state.matters(&self.files, &self.names) {
                    return;
                }
                let (objects, references) = state.resolve();
                let next = moments.len();
                let place = *places
                    .entry((objects.clone(), references.clone()))
                    .or_insert(next);
                if place == next {
                    moments.push(Moment {
                        pids: Vec::new(),
                        objects,
                        references,
                    });
                }
                if !moments[place].pids.contains(&pid) {
                    moments[place].pids.push(pid);
                }
            });
        }
        moments
    }

    fn state(&self, key: Key, before: u32) -> State {
        self.replay(key, before, 0, &mut |_| {})
    }

    /// What a process was before an event; `each` sees it whenever it has as much as it
    /// ever had.
    fn replay(&self, key: Key, before: u32, depth: usize, each: &mut dyn FnMut(&State)) -> State {
        let Some(process) = self.processes.get(&key) else {
            return State::default();
        };
        let mut state = match process.forked_from {
            Some((parent, at)) if depth < MOST_FORKS && parent != key => {
                self.replay(parent, at.min(before), depth + 1, &mut |_| {})
            }
            _ => State::default(),
        };
        // What it only inherited is its parent's to tell.
        state.grown = process.forked_from.is_none();
        let mut events: Vec<&(u32, Event)> = process
            .events
            .iter()
            .filter(|(number, _)| *number < before)
            .collect();
        // Threads number their messages before they send them.
        events.sort_by_key(|(number, _)| *number);
        for (_, event) in events {
            if matches!(event, Event::Closed(_)) && state.grown {
                each(&state);
                state.grown = false;
            }
            state.add(*event);
        }
        if state.grown {
            each(&state);
        }
        state
    }
}
