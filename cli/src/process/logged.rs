//! The objects that a log names, read once for all of its processes.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::files;
use super::world::Live;
use super::{Found, World};
use crate::names::Names;
use crate::report::Unreadable;

/// The files of a log's objects.
pub(crate) struct Files {
    places: HashMap<String, usize>,
    found: Vec<Found>,
    /// Objects whose files cannot be read, and why.
    pub(crate) missing: Vec<Unreadable>,
}

impl Files {
    /// Opens the files of some objects, each once; `file_of` says where an object is.
    pub(crate) fn open(
        objects: impl Iterator<Item = String>,
        file_of: impl Fn(&str) -> PathBuf + Sync,
    ) -> Files {
        let mut places = HashMap::new();
        let mut paths = Vec::new();
        for path in objects {
            places.entry(path).or_insert_with_key(|path| {
                paths.push(path.clone());
                paths.len() - 1
            });
        }
        let opened: Vec<_> = paths
            .par_iter()
            .map(|path| {
                let file = file_of(path);
                let opened = files::open_named(&file);
                (file, opened)
            })
            .collect();
        let mut found = Vec::new();
        let mut missing = Vec::new();
        for (path, (file, opened)) in paths.iter().zip(opened) {
            if let Err(why) = &opened {
                missing.push(not_here(path, why));
            }
            found.push(Found {
                path: file,
                bias: 0,
                namespace: 0,
                inode: 0,
                span: 0..0,
                replaced: false,
                file: opened.ok(),
            });
        }
        Files {
            places,
            found,
            missing,
        }
    }

    /// Reads all of them.
    pub(crate) fn read(&self, names: &Names) -> Objects<'_> {
        let mut objects = Objects {
            files: self,
            lives: Vec::new(),
            unreadable: Vec::new(),
        };
        let read: Vec<_> = self
            .found
            .par_iter()
            .map(|found| Live::read(found, names))
            .collect();
        for (live, unreadable) in read {
            objects.lives.push(live);
            objects.unreadable.extend(unreadable);
        }
        objects
    }
}

fn not_here(path: &str, why: &str) -> Unreadable {
    let why = if Path::new(path).is_absolute() {
        format!(
            "is in the log, and cannot be read here ({why}): what it is and needs is guessed from its name"
        )
    } else {
        format!(
            "is in the log by a relative name, and cannot be read from this folder ({why}): what it is and needs is guessed from its name"
        )
    };
    Unreadable {
        path: path.to_string(),
        why,
    }
}

/// What the files hold.
pub(crate) struct Objects<'a> {
    files: &'a Files,
    lives: Vec<Live<'a>>,
    /// What could not be read of them.
    pub(crate) unreadable: Vec<Unreadable>,
}

impl<'a> Objects<'a> {
    /// A process of some of these objects, with their namespaces.
    pub(crate) fn world(&self, objects: &[(String, usize)]) -> World<'a> {
        let lives = objects.iter().filter_map(|(path, namespace)| {
            let place = *self.files.places.get(path)?;
            Some(self.lives[place].again(&self.files.found[place], *namespace))
        });
        World::of(lives.collect())
    }
}
