//! The objects that a log names, read once for all of its processes.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::files;
use super::world::Live;
use super::{Found, World};
use crate::classify::Role;
use crate::names::Names;
use crate::report::Unreadable;

/// The files of a log's objects.
pub(crate) struct Files {
    places: HashMap<String, usize>,
    found: Vec<Found>,
    /// Objects whose files cannot be read, and why.
    pub(crate) missing: BTreeMap<String, Unreadable>,
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
        let mut files = Files {
            places,
            found: Vec::new(),
            missing: BTreeMap::new(),
        };
        for (path, (file, opened)) in paths.iter().zip(opened) {
            if let Err(why) = &opened {
                files.missing.insert(path.clone(), not_here(path, why));
            }
            files.push(file, opened.ok());
        }
        files
    }

    /// Opens files that have been found: each with a name of its own here, its path in
    /// reports, and the path by which it can be opened or why there is none.
    pub(crate) fn of(all: Vec<(String, PathBuf, Result<PathBuf, String>)>) -> Files {
        let opened: Vec<_> = all
            .into_par_iter()
            .map(|(name, path, file)| {
                let opened = file.and_then(|file| files::open_named(&file));
                (name, path, opened)
            })
            .collect();
        let mut files = Files {
            places: HashMap::new(),
            found: Vec::new(),
            missing: BTreeMap::new(),
        };
        for (name, path, opened) in opened {
            if let Err(why) = &opened {
                let unreadable = Unreadable {
                    path: path.display().to_string(),
                    why: why.clone(),
                };
                files.missing.insert(name.clone(), unreadable);
            }
            files.places.insert(name, files.found.len());
            files.push(path, opened.ok());
        }
        files
    }

    fn push(&mut self, path: PathBuf, file: Option<files::Opened>) {
        self.found.push(Found {
            path,
            bias: 0,
            namespace: 0,
            inode: 0,
            span: 0..0,
            replaced: false,
            file,
        });
    }

    /// The objects that were found here by a name that only means something in the folder
    /// of the process, and what was taken for them.
    pub(crate) fn relative(&self) -> BTreeMap<&str, &Path> {
        let here = self.places.iter().filter_map(|(path, place)| {
            let found = &self.found[*place];
            (!path.starts_with('/') && found.file.is_some())
                .then_some((path.as_str(), found.path.as_path()))
        });
        here.collect()
    }

    /// Whether any of them is here.
    pub(crate) fn any(&self) -> bool {
        self.found.iter().any(|found| found.file.is_some())
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
    /// What one of them is.
    pub(crate) fn get(&self, path: &str) -> Option<&Live<'a>> {
        Some(&self.lives[*self.files.places.get(path)?])
    }

    /// Whether any of these has to do with what is looked for.
    pub(crate) fn matter(&self, objects: &[(String, usize)]) -> bool {
        let mut found = objects.iter().filter_map(|(path, _)| self.get(path));
        found.any(|live| !matches!(live.role, Role::Other))
    }

    /// A process of some of these objects, with their namespaces.
    pub(crate) fn world(&self, objects: &[(String, usize)]) -> World<'a> {
        let lives = objects.iter().filter_map(|(path, namespace)| {
            let place = *self.files.places.get(path)?;
            Some(self.lives[place].again(&self.files.found[place], *namespace))
        });
        World::of(lives.collect())
    }
}
