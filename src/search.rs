//! Which runtime: the candidates in their order.
//!
//! The order is the contract's: the one that `HIPLAZY_RUNTIME` names, alone; one
//! that is mapped already; Python packages near this library; then by ABI major
//! ld.so's own search, `ROCM_PATH`, `HIP_PATH` and the usual folders.

use core::ffi::{CStr, c_void};

use crate::buffer::{Buffer, PATH_SIZE};
use crate::candidate::{Candidates, HERE, Kind};
use crate::dl::{self, Mapped, Object};
use crate::env;
use crate::folders::{self, Folders};
use crate::intern::intern;
use crate::loaded::{self, Library, Loaded, MAJORS, so_number};
use crate::log::{Level, log};
use crate::report::Report;
use crate::text::Text;

/// One search for one library.
pub(crate) struct Search<'a, 'b>(Candidates<'a, 'b>);

/// The ABI major of `libhsa-runtime64`, the only one there has been.
const HSA_MAJOR: u32 = 1;

impl<'a, 'b> Search<'a, 'b> {
    pub(crate) fn new(library: Library, report: &'a mut Report<'b>) -> Self {
        Search(Candidates::new(library, report))
    }

    /// Looks for the HIP runtime. `header_major` is the caller's own, 0 if unknown.
    pub(crate) fn hip(&mut self, header_major: u32) -> Option<Loaded> {
        if let Some(runtime) = env::own(env::RUNTIME) {
            let found = self.0.attempt("HIPLAZY_RUNTIME", runtime, Kind::Explicit);
            if found.is_none() {
                // Not even one that was mapped meanwhile: a refused file may be mapped
                // itself, and moves the link map.
                self.0.stop = true;
                self.0.report.note(
                    "HIPLAZY_RUNTIME is tried alone: correct it, or unset it to search for a runtime.",
                );
            }
            return found;
        }
        self.mapped()
            .or_else(|| self.python())
            .or_else(|| self.installed(header_major))
    }

    /// What would help, at the end of a report.
    pub(crate) fn advise(&mut self) {
        if self.0.library == Library::Hip && self.may_go_on() {
            self.note("Install ROCm, or set HIPLAZY_RUNTIME to the path of a libamdhip64.");
        }
    }

    /// Looks for the run-time compiler of the bound runtime `hip`: its own copy
    /// beside it, up to HIP 6 the runtime itself, then any of the same ABI major.
    pub(crate) fn hiprtc(&mut self, hip: &Loaded) -> Option<Loaded> {
        self.beside(hip, hip.major)
            .or_else(|| {
                if hip.major > 6 {
                    return None;
                }
                let inside = loaded::inside(hip, self.0.library);
                if inside.is_none() {
                    self.0.report.refused(
                        "the runtime itself",
                        hip.path,
                        b"has no hiprtc functions",
                    );
                }
                inside
            })
            .or_else(|| self.mapped_like(Some(hip), Some(hip.major)))
            .or_else(|| self.installed_major(Some(hip.major)))
    }

    /// Looks for the HSA runtime: a mapped one, of several the one beside `hip`, then
    /// the file beside `hip`, then an installed one.
    pub(crate) fn hsa(&mut self, hip: Option<&Loaded>) -> Option<Loaded> {
        self.mapped_like(hip, Some(HSA_MAJOR))
            .or_else(|| hip.and_then(|hip| self.beside(hip, HSA_MAJOR)))
            .or_else(|| self.installed_major(Some(HSA_MAJOR)))
    }

    /// A line in the report.
    pub(crate) fn note(&mut self, line: &str) {
        self.0.report.note(line);
    }

    /// Whether candidates may still be tried.
    pub(crate) fn may_go_on(&self) -> bool {
        !self.0.stop
    }

    /// A library that is mapped already: whoever mapped it will use it, and a second
    /// one beside it breaks both.
    pub(crate) fn mapped(&mut self) -> Option<Loaded> {
        self.mapped_like(None, None)
    }

    /// One that was mapped while this search went on, with the same demands on it as
    /// before; `hip` is the bound HIP runtime.
    pub(crate) fn mapped_meanwhile(&mut self, hip: Option<&Loaded>) -> Option<Loaded> {
        let major = match self.0.library {
            Library::Hip => None,
            Library::Hiprtc => hip.map(|hip| hip.major),
            Library::Hsa => Some(HSA_MAJOR),
        };
        self.mapped_like(hip, major)
    }

    /// The same, of several preferably the one that others link to or that lies beside
    /// `hip`, and of no other ABI major than `major`.
    fn mapped_like(&mut self, hip: Option<&Loaded>, major: Option<u32>) -> Option<Loaded> {
        let library = self.0.library;
        let mapped = Mapped::list(library.filter())?;
        // Copied at once: nothing of ours holds that object open.
        let linked_to = (library == Library::Hip)
            .then(|| dl::global_symbol(c"hipInit", Some(c"hip_4.2")))
            .flatten()
            .and_then(|address| intern(Object::containing(address)?.name().to_bytes()))
            .filter(|name| library.named(dl::base_name(name.to_bytes())));
        let beside = |name: &CStr| {
            hip.is_some_and(|hip| {
                let real = loaded::real_path(name).unwrap_or(c"");
                folders::folder_of(real.to_bytes()) == folders::folder_of(hip.path.to_bytes())
            })
        };
        let of_major = |name: &CStr| {
            let number = so_number(dl::base_name(name.to_bytes()));
            major.is_none() || number.is_none() || number == major
        };
        if mapped.names().count() > 1 {
            log(Level::Warn, |text| {
                text.str("more than one ")
                    .str(library.title())
                    .str(" is mapped:");
                for name in mapped.names() {
                    text.str(" ").c_str(name);
                }
            });
        }
        let preferred = |name: &&CStr| Some(*name) == linked_to || beside(name);
        let first = linked_to
            .into_iter()
            .chain(mapped.names().filter(|name| beside(name)));
        let rest = mapped.names().filter(|name| !preferred(name));
        for name in first.chain(rest).filter(|name| of_major(name)) {
            // A file that was opened and refused before is mapped by that.
            if self.0.was_refused(name) {
                continue;
            }
            if let Some(loaded) = self.0.attempt("already mapped", name, Kind::Mapped) {
                return Some(loaded);
            }
            if self.0.stop {
                self.0.report.note(
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
        if self.0.stop {
            return None;
        }
        let here = Object::containing((&raw const HERE).cast::<c_void>())?;
        let mut buffer = Buffer::new(PATH_SIZE)?;
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
        if self.0.stop {
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
        if let Some(loaded) = self.0.attempt("ld.so", name.path()?, Kind::Name) {
            return Some(loaded);
        }
        let mut buffer = Buffer::new(PATH_SIZE)?;
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
        let mut buffer = Buffer::new(PATH_SIZE)?;
        let mut path = Text::new(&mut buffer);
        let folder = folders::folder_of(runtime.path.to_bytes());
        // Where the runtime lies is not known if its path is relative.
        if !folder.starts_with(b"/") {
            return None;
        }
        path.push(folder);
        let folder = folder.len();
        self.file_name(&mut path, Some(major));
        if let Some(loaded) = self.attempt_path("beside the runtime", &path) {
            return Some(loaded);
        }
        path.truncate(folder);
        let library = self.0.library;
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
        path.str(self.0.library.stem()).str(".so");
        if let Some(major) = major {
            path.str(".").number(major.into());
        }
    }

    fn attempt_path(&mut self, how: &str, path: &Text) -> Option<Loaded> {
        self.0.attempt(how, path.path()?, Kind::Path)
    }
}
