//! What one run of a program has loaded and bound, from moment to moment.
//!
//! A process that executes another program is another image from then on. Within one,
//! what was closed before something else was opened has never been together with that:
//! the state before the opening is a [`Moment`] of its own. Destructors may still bind
//! names, so what is being closed stays until then.

use std::collections::{HashMap, HashSet};

/// A path and a namespace.
pub(super) type Place = (u32, u32);

/// A reference that was bound, or to nobody.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Kept {
    pub(super) from: Place,
    pub(super) to: Option<Place>,
    pub(super) name: u32,
    pub(super) node: Option<u32>,
}

/// How an image begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Beginning {
    /// With a program that ld.so loads.
    Program,
    /// As a copy of what this process was.
    Fork(u32),
    /// The log does not tell.
    Unknown,
}

#[derive(Debug, Clone)]
struct Loaded {
    place: Place,
    /// Whether the process itself has named it, and not only whom it is a copy of.
    own: bool,
    /// Its destructors were called.
    closing: bool,
}

/// All that is loaded at once.
#[derive(Debug, Clone)]
pub(super) struct Moment {
    /// Whether the process is a copy of another.
    pub(super) is_fork: bool,
    /// What the program was started as.
    pub(super) program: Option<u32>,
    /// In the order in which the log names them: that of loading, nearly.
    pub(super) objects: Vec<Place>,
    /// What there was before the first constructor was called: what the program needs,
    /// and what was preloaded.
    pub(super) early: HashSet<Place>,
    /// In order.
    pub(super) references: Vec<Kept>,
}

impl Moment {
    /// How much it is.
    pub(super) fn size(&self) -> usize {
        self.objects.len() + self.references.len()
    }
}

/// One run of a program.
#[derive(Debug, Clone)]
pub(super) struct Image {
    pub(super) beginning: Beginning,
    /// Whether ld.so has given control to the program.
    pub(super) started: bool,
    /// Whether the program has ended by itself.
    pub(super) ended: bool,
    /// The name that the last statement has found in the vdso, if it did.
    pub(super) in_vdso: Option<u32>,
    /// Whether all statements were of that kind.
    pub(super) is_new: bool,
    /// Whether the last statement was that the C library's constructor is called: before
    /// 2.31 glibc looked the vdso's names up there.
    pub(super) in_libc: bool,
    /// What the program was started as.
    pub(super) program: Option<u32>,
    initialized: bool,
    /// Whether there is something that no moment has yet.
    changed: bool,
    objects: Vec<Loaded>,
    known: HashMap<Place, usize>,
    early: HashSet<Place>,
    references: HashSet<Kept>,
}

impl Image {
    pub(super) fn new(beginning: Beginning) -> Image {
        Image {
            beginning,
            started: false,
            ended: false,
            in_vdso: None,
            is_new: true,
            in_libc: false,
            program: None,
            initialized: false,
            changed: false,
            objects: Vec::new(),
            known: HashMap::new(),
            early: HashSet::new(),
            references: HashSet::new(),
        }
    }

    /// A copy, which another process goes on with.
    pub(super) fn fork(&self, parent: u32) -> Image {
        let mut child = self.clone();
        child.beginning = Beginning::Fork(parent);
        (child.started, child.ended, child.is_new) = (false, false, false);
        child.changed = true;
        for object in &mut child.objects {
            object.own = false;
        }
        child
    }

    pub(super) fn is_of_program(&self, path: u32) -> bool {
        self.program == Some(path)
    }

    pub(super) fn has(&self, place: Place) -> bool {
        self.known.contains_key(&place)
    }

    /// How much it has.
    pub(super) fn size(&self) -> usize {
        self.objects.len() + self.references.len()
    }

    /// Takes note of objects that are there now; the moment that has passed, if one has.
    pub(super) fn mention(&mut self, places: &[Place]) -> Option<Moment> {
        let is_new = places.iter().any(|place| !self.known.contains_key(place));
        let passed = if is_new { self.close() } else { None };
        for place in places {
            if let Some(at) = self.known.get(place) {
                self.objects[*at].own = true;
                continue;
            }
            self.known.insert(*place, self.objects.len());
            self.objects.push(Loaded {
                place: *place,
                own: true,
                closing: false,
            });
            if !self.initialized {
                self.early.insert(*place);
            }
            self.changed = true;
        }
        passed
    }

    /// Keeps a reference; whether it is a new one.
    pub(super) fn refer(&mut self, kept: Kept) -> bool {
        let is_new = self.references.insert(kept);
        self.changed |= is_new;
        is_new
    }

    /// Constructors of a file are called.
    pub(super) fn init(&mut self, path: u32) -> Option<Moment> {
        self.initialized = true;
        let mut of_path = self.objects.iter().filter(|one| one.place.0 == path);
        if of_path.clone().next().is_none() {
            // The namespace is not written; with no binding, it does not matter much.
            return self.mention(&[(path, 0)]);
        }
        if !of_path.any(|one| one.closing) {
            return None;
        }
        // It was closed and is opened again, by its old name.
        let passed = self.passed();
        for one in &mut self.objects {
            one.closing &= one.place.0 != path;
        }
        self.remove(|one| one.closing);
        passed
    }

    /// Destructors of an object are called.
    pub(super) fn fini(&mut self, place: Place) {
        if let Some(at) = self.known.get(&place) {
            self.objects[*at].closing = true;
        }
    }

    /// The program itself is loaded.
    pub(super) fn start(&mut self, program: u32) -> Option<Moment> {
        if self.beginning != Beginning::Program {
            self.beginning = Beginning::Program;
            self.remove(|one| !one.own);
        }
        self.started = true;
        self.program = Some(program);
        let passed = self.mention(&[(program, 0)]);
        self.early.insert((program, 0));
        passed
    }

    /// What there is now, if no moment has it.
    pub(super) fn now(&self) -> Option<Moment> {
        self.changed.then(|| self.moment())
    }

    fn moment(&self) -> Moment {
        let mut references: Vec<Kept> = self.references.iter().copied().collect();
        references.sort_unstable();
        Moment {
            is_fork: matches!(self.beginning, Beginning::Fork(_)),
            program: self.program,
            objects: self.objects.iter().map(|one| one.place).collect(),
            early: self.early.clone(),
            references,
        }
    }

    fn passed(&mut self) -> Option<Moment> {
        let passed = self.now();
        self.changed = false;
        passed
    }

    /// Removes what was closed.
    fn close(&mut self) -> Option<Moment> {
        if !self.objects.iter().any(|one| one.closing) {
            return None;
        }
        let passed = self.passed();
        self.remove(|one| one.closing);
        passed
    }

    fn remove(&mut self, is_gone: impl Fn(&Loaded) -> bool) {
        self.objects.retain(|one| !is_gone(one));
        let places = self.objects.iter().map(|one| one.place);
        self.known = places.zip(0..).collect();
        let known = &self.known;
        self.early.retain(|place| known.contains_key(place));
        self.references.retain(|kept| {
            known.contains_key(&kept.from) && kept.to.is_none_or(|to| known.contains_key(&to))
        });
    }
}
