//! One candidate of a search: looked at, opened, accepted or refused with a reason.

use core::ffi::{CStr, c_void};

use crate::buffer::{Buffer, PATH_SIZE};
use crate::elf::{self, Soname, Unfit};
use crate::intern::intern;
use crate::library_path::LibraryPath;
use crate::loaded::{self, Library, Loaded, Refused};
use crate::log::{Level, log};
use crate::open::{Opened, open_agreed};
use crate::report::Report;
use crate::text::Text;

/// How a candidate is looked at.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A path that may not be there.
    Path,
    /// A path or name that the user gave.
    Explicit,
    /// A mapped object.
    Mapped,
    /// A name that ld.so searches for.
    Name,
}

/// The candidates of one search.
pub(crate) struct Candidates<'a, 'b> {
    pub(crate) library: Library,
    pub(crate) report: &'a mut Report<'b>,
    /// Files that were refused in this search, by interned real path.
    refused: [Option<&'static CStr>; 32],
    /// Set when looking further would do harm.
    pub(crate) stop: bool,
    /// Where ld.so looks for names, once it was asked.
    library_path: Option<LibraryPath>,
}

impl<'a, 'b> Candidates<'a, 'b> {
    pub(crate) fn new(library: Library, report: &'a mut Report<'b>) -> Self {
        Candidates {
            library,
            report,
            refused: [None; 32],
            stop: false,
            library_path: None,
        }
    }

    /// Whether the file of a mapped object was refused under its path.
    pub(crate) fn was_refused(&self, name: &CStr) -> bool {
        let path = loaded::real_path(name);
        path.is_some() && self.refused.contains(&path)
    }

    /// Tries one candidate and records what became of it.
    pub(crate) fn attempt(&mut self, how: &str, file: &CStr, kind: Kind) -> Option<Loaded> {
        if self.stop {
            return None;
        }
        let mut buffer = Buffer::new(1024)?;
        let mut why = Text::new(&mut buffer);
        match self.try_open(file, kind, &mut why) {
            Ok(loaded) => {
                log(Level::Info, |text| {
                    text.str("bound ").str(self.library.title());
                    text.str(": ").c_str(loaded.path);
                    text.str(" (SONAME ").c_str(loaded.soname).str("); ");
                    text.str(how).str(": ").c_str(file);
                });
                Some(loaded)
            }
            Err(opened) => {
                self.report.refused(how, file, why.bytes());
                let level = match opened {
                    _ if kind == Kind::Explicit => Level::Error,
                    Opened::Absent => Level::Debug,
                    Opened::Refused(_) => Level::Warn,
                };
                log(level, |text| {
                    text.str(how).str(": ").c_str(file);
                    text.str(": ").push(why.bytes());
                });
                None
            }
        }
    }

    fn try_open(&mut self, file: &CStr, kind: Kind, why: &mut Text) -> Result<Loaded, Opened> {
        let is_path = file.to_bytes().contains(&b'/');
        let candidate = match kind {
            Kind::Mapped => intern(file.to_bytes()),
            _ if is_path => {
                let soname = whole(elf::check(file), why)?;
                // What the user names may bring the runtime along as its dependency.
                if kind == Kind::Path {
                    loaded::check_soname(soname.bytes(), self.library, false, why)
                        .map_err(Opened::Refused)?;
                }
                loaded::real_path(file)
            }
            _ => self.as_ld_so_finds(file, kind == Kind::Explicit, why)?,
        };
        let Some(candidate) = candidate else {
            why.str("no memory to keep its name");
            return Err(Opened::Refused(Refused::NotIt));
        };
        if self.refused.contains(&Some(candidate)) {
            why.str("the same file as one above");
            return Err(Opened::Absent);
        }
        let mapped_only = kind == Kind::Mapped;
        let explicit = kind == Kind::Explicit;
        let result = open_agreed(self.library, candidate, mapped_only, explicit, why);
        if let Err(opened) = result {
            if let Some(free) = self.refused.iter_mut().find(|entry| entry.is_none()) {
                *free = Some(candidate);
            }
            if mapped_only && opened == Opened::Refused(Refused::UnknownMajor) {
                self.stop = true;
            }
        }
        result
    }

    /// What to open for a name: the first right file in the folders that ld.so goes
    /// through, or the name itself if there is none of that name.
    fn as_ld_so_finds(
        &mut self,
        name: &CStr,
        explicit: bool,
        why: &mut Text,
    ) -> Result<Option<&'static CStr>, Opened> {
        if self.library_path.is_none() {
            self.library_path = LibraryPath::of((&raw const HERE).cast::<c_void>());
        }
        let Some(mut buffer) = Buffer::new(PATH_SIZE) else {
            return Ok(None);
        };
        let mut path = Text::new(&mut buffer);
        let mut in_the_way = false;
        for folder in self.library_path.iter().flat_map(LibraryPath::folders) {
            path.truncate(0);
            path.c_str(folder).str("/").c_str(name);
            let Some(file) = path.path() else { continue };
            let before = why.len();
            let fit = match elf::check(file) {
                Ok(soname) => {
                    loaded::check_soname(soname.bytes(), self.library, explicit, why).is_ok()
                }
                Err(unfit @ (Unfit::Truncated | Unfit::NotAFile)) => {
                    unfit.describe(why);
                    false
                }
                // Behind a file with another fault ld.so goes on, or it says itself
                // what is wrong.
                Err(_) => continue,
            };
            if fit {
                why.truncate(before);
                return Ok(loaded::real_path(file));
            }
            why.str(" (").c_str(file).str("); ");
            in_the_way = true;
        }
        if in_the_way {
            why.str("by name ld.so would take it");
            return Err(Opened::Refused(Refused::NotIt));
        }
        Ok(intern(name.to_bytes()))
    }
}

/// The name of a file that ld.so can open; says why if it cannot.
fn whole(checked: Result<Soname, Unfit>, why: &mut Text) -> Result<Soname, Opened> {
    checked.map_err(|unfit| {
        unfit.describe(why);
        match unfit {
            Unfit::Absent => Opened::Absent,
            _ => Opened::Refused(Refused::NotIt),
        }
    })
}

/// Something of this object, to find the object by.
pub(crate) static HERE: u8 = 0;
