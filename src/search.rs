//! Which runtime: the candidates in their order.
//!
//! The order is the contract's: the one that `HIPLAZY_RUNTIME` names, alone; one
//! that is mapped already; Python packages near this library; then by ABI major
//! ld.so's own search, `ROCM_PATH`, `HIP_PATH` and the usual folders.

use core::ffi::{CStr, c_void};

use crate::dl::{self, Mapped, Object};
use crate::elf::{self, Soname, Unfit};
use crate::env;
use crate::folders::{self, Folders};
use crate::intern::intern;
use crate::loaded::{self, Library, Loaded, MAJORS, Refused, so_number};
use crate::log::{Level, log};
use crate::open::{Opened, open_agreed};
use crate::report::Report;
use crate::text::Text;

/// One search for one library.
pub(crate) struct Search<'a, 'b> {
    library: Library,
    report: &'a mut Report<'b>,
    /// Files that were refused in this search, by interned real path.
    refused: [Option<&'static CStr>; 32],
    /// Set when looking further would do harm.
    stop: bool,
}

/// The ABI major of `libhsa-runtime64`, the only one there has been.
const HSA_MAJOR: u32 = 1;

/// How a candidate is looked at.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A path that may not be there.
    Path,
    /// A path or name that the user gave.
    Explicit,
    /// A mapped object.
    Mapped,
    /// A name that ld.so searches for.
    Name,
}

impl<'a, 'b> Search<'a, 'b> {
    pub(crate) fn new(library: Library, report: &'a mut Report<'b>) -> Self {
        Search {
            library,
            report,
            refused: [None; 32],
            stop: false,
        }
    }

    /// Looks for the HIP runtime. `header_major` is the caller's own, 0 if unknown.
    pub(crate) fn hip(&mut self, header_major: u32) -> Option<Loaded> {
        if let Some(runtime) = env::own(env::RUNTIME) {
            let found = self.attempt("HIPLAZY_RUNTIME", runtime, Kind::Explicit);
            if found.is_none() {
                // Not even one that was mapped meanwhile: a refused file may be mapped
                // itself, and moves the link map.
                self.stop = true;
                self.report.note(
                    "HIPLAZY_RUNTIME is tried alone: correct it, or unset it to search for a runtime.",
                );
            }
            return found;
        }
        self.mapped()
            .or_else(|| self.python())
            .or_else(|| self.installed(header_major))
            .or_else(|| {
                self.report
                    .note("Install ROCm, or set HIPLAZY_RUNTIME to the path of a libamdhip64.");
                None
            })
    }

    /// Looks for the run-time compiler of the bound runtime `hip`: its own copy
    /// beside it, up to HIP 6 the runtime itself, then any of the same ABI major.
    pub(crate) fn hiprtc(&mut self, hip: &Loaded) -> Option<Loaded> {
        self.beside(hip, hip.major)
            .or_else(|| {
                if hip.major > 6 {
                    return None;
                }
                let inside = loaded::inside(hip, self.library);
                if inside.is_none() {
                    self.report
                        .refused("the runtime itself", hip.path, b"has no hiprtc functions");
                }
                inside
            })
            .or_else(|| self.mapped())
            .or_else(|| self.installed_major(Some(hip.major)))
    }

    /// Looks for the HSA runtime, beside `hip` if that is bound.
    pub(crate) fn hsa(&mut self, hip: Option<&Loaded>) -> Option<Loaded> {
        hip.and_then(|hip| self.beside(hip, HSA_MAJOR))
            .or_else(|| self.mapped())
            .or_else(|| self.installed_major(Some(HSA_MAJOR)))
    }

    /// A line in the report.
    pub(crate) fn note(&mut self, line: &str) {
        self.report.note(line);
    }

    /// Whether candidates may still be tried.
    pub(crate) fn may_go_on(&self) -> bool {
        !self.stop
    }

    /// A runtime that is mapped already: whoever mapped it will use it, and a second
    /// one beside it breaks both.
    pub(crate) fn mapped(&mut self) -> Option<Loaded> {
        let mapped = Mapped::list(self.library.filter());
        let preferred = if self.library == Library::Hip {
            dl::global_symbol(c"hipInit", Some(c"hip_4.2"))
                .and_then(|address| Object::containing(address))
        } else {
            None
        };
        let preferred = preferred.as_ref().map(Object::name);
        if mapped.names().count() > 1 {
            log(Level::Warn, |text| {
                text.str("more than one ")
                    .str(self.library.title())
                    .str(" is mapped:");
                for name in mapped.names() {
                    text.str(" ").c_str(name);
                }
            });
        }
        let first = mapped.names().filter(|name| Some(*name) == preferred);
        let rest = mapped.names().filter(|name| Some(*name) != preferred);
        for name in first.chain(rest) {
            if let Some(loaded) = self.attempt("already mapped", name, Kind::Mapped) {
                return Some(loaded);
            }
            if self.stop {
                self.report.note(
                    "A second runtime beside the mapped one would break both, so no other is tried.",
                );
                break;
            }
        }
        None
    }

    /// The ROCm of the Python packages around this library: the stack will load
    /// that copy sooner or later.
    fn python(&mut self) -> Option<Loaded> {
        if self.stop {
            return None;
        }
        let here = Object::containing((&raw const HERE).cast::<c_void>())?;
        let mut buffer = [0; libc::PATH_MAX as usize];
        let mut path = Text::new(&mut buffer);
        let packages = folders::packages_of(here.name().to_bytes(), &mut path)
            || folders::packages_of(loaded::real_path(here.name())?.to_bytes(), &mut path);
        if !packages {
            return None;
        }
        let root = path.len();
        for folder in ["/_rocm_sdk_core/lib", "/torch/lib"] {
            path.truncate(root);
            path.str(folder);
            let end = path.len();
            for major in MAJORS.into_iter().map(Some).chain([None]) {
                path.truncate(end);
                path.str("/");
                self.file_name(&mut path, major);
                if let Some(loaded) = self.attempt_path("Python packages", &path) {
                    return Some(loaded);
                }
            }
        }
        None
    }

    /// Installed runtimes, by ABI major.
    fn installed(&mut self, header_major: u32) -> Option<Loaded> {
        if self.stop {
            return None;
        }
        let own = MAJORS.into_iter().filter(|major| *major == header_major);
        let others = MAJORS.into_iter().filter(|major| *major != header_major);
        for major in own.chain(others).map(Some).chain([None]) {
            if let Some(loaded) = self.installed_major(major) {
                return Some(loaded);
            }
        }
        None
    }

    /// One file name in all the usual places.
    fn installed_major(&mut self, major: Option<u32>) -> Option<Loaded> {
        let mut buffer = [0; 64];
        let mut name = Text::new(&mut buffer);
        self.file_name(&mut name, major);
        if let Some(loaded) = self.attempt("ld.so", name.path()?, Kind::Name) {
            return Some(loaded);
        }
        let mut buffer = [0; libc::PATH_MAX as usize];
        let mut path = Text::new(&mut buffer);
        let mut folders = Folders::new();
        while let Some(how) = folders.next(&mut path) {
            path.str("/");
            self.file_name(&mut path, major);
            if let Some(loaded) = self.attempt_path(how, &path) {
                return Some(loaded);
            }
        }
        None
    }

    /// The library in the folder of `runtime`, whose own copy it is: by its SONAME,
    /// by the name that auditwheel gave it, and without a number.
    fn beside(&mut self, runtime: &Loaded, major: u32) -> Option<Loaded> {
        let mut buffer = [0; libc::PATH_MAX as usize];
        let mut path = Text::new(&mut buffer);
        let whole = runtime.path.to_bytes();
        let folder = whole.len() - dl::base_name(whole).len();
        path.push(whole.get(..folder)?);
        self.file_name(&mut path, Some(major));
        if let Some(loaded) = self.attempt_path("beside the runtime", &path) {
            return Some(loaded);
        }
        path.truncate(folder);
        let library = self.library;
        let hashed = |name: &[u8]| library.named(name) && so_number(name) == Some(major);
        if folders::first_entry(&mut path, hashed)
            && let Some(loaded) = self.attempt_path("beside the runtime", &path)
        {
            return Some(loaded);
        }
        path.truncate(folder);
        self.file_name(&mut path, None);
        self.attempt_path("beside the runtime", &path)
    }

    fn file_name(&self, path: &mut Text, major: Option<u32>) {
        path.str(self.library.stem()).str(".so");
        if let Some(major) = major {
            path.str(".").number(major.into());
        }
    }

    fn attempt_path(&mut self, how: &str, path: &Text) -> Option<Loaded> {
        self.attempt(how, path.path()?, Kind::Path)
    }

    /// Tries one candidate and records what became of it.
    fn attempt(&mut self, how: &str, file: &CStr, kind: Kind) -> Option<Loaded> {
        if self.stop {
            return None;
        }
        let mut buffer = [0; 1024];
        let mut why = Text::new(&mut buffer);
        match self.try_open(file, kind, &mut why) {
            Ok(loaded) => {
                log(Level::Info, |text| {
                    text.str("bound ")
                        .str(self.library.title())
                        .str(": ")
                        .c_str(loaded.path);
                    text.str(" (SONAME ")
                        .c_str(loaded.soname)
                        .str("); ")
                        .str(how);
                    text.str(": ").c_str(file);
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
                    text.str(how)
                        .str(": ")
                        .c_str(file)
                        .str(": ")
                        .push(why.bytes());
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
                let soname = self.whole(elf::check(file), why)?;
                // What the user names may bring the runtime along as its dependency.
                if kind == Kind::Path {
                    loaded::check_soname(soname.bytes(), self.library, false, why)
                        .map_err(Opened::Refused)?;
                }
                loaded::real_path(file)
            }
            _ => {
                if let Some((path, found)) = folders::in_library_path(file) {
                    self.fit_for_ld_so(path, found, kind, why)?;
                }
                intern(file.to_bytes())
            }
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

    /// The name of a file that ld.so can open; says why if it cannot.
    fn whole(&self, checked: Result<Soname, Unfit>, why: &mut Text) -> Result<Soname, Opened> {
        checked.map_err(|unfit| {
            unfit.describe(why);
            match unfit {
                Unfit::Absent => Opened::Absent,
                _ => Opened::Refused(Refused::NotIt),
            }
        })
    }

    /// The same for the file that ld.so will take for a name.
    fn fit_for_ld_so(
        &self,
        path: &CStr,
        checked: Result<Soname, Unfit>,
        kind: Kind,
        why: &mut Text,
    ) -> Result<(), Opened> {
        let from = |why: &mut Text| {
            why.str(" (").c_str(path).str(", from LD_LIBRARY_PATH)");
        };
        let soname = self.whole(checked, why).inspect_err(|_| from(why))?;
        let explicit = kind == Kind::Explicit;
        loaded::check_soname(soname.bytes(), self.library, explicit, why)
            .inspect_err(|_| from(why))
            .map_err(Opened::Refused)
    }
}

/// Something of this object, to find the object by.
static HERE: u8 = 0;
