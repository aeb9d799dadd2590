//! The compiled loops of one variant, opened.

use std::ffi::{CStr, c_char, c_int, c_long};
use std::path::Path;

use anyhow::{Context, Result, ensure};
use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW, Symbol};

use crate::{Folder, Function, Variant};

/// Opens a library in a scope of its own, as a Python extension is opened. The
/// process has to be one of [`Folder::command`].
fn open(path: &Path) -> Result<Library> {
    // SAFETY: the fake runtime and hiplazy have no constructors; those of the
    // TileLang stub and of the C++ library it needs ask nothing of the process.
    unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) }
        .with_context(|| format!("cannot open {}", path.display()))
}

/// The fake runtime, mapped before any variant, so that all reach this one.
pub struct FakeRuntime {
    _library: Library,
}

impl FakeRuntime {
    /// Maps it. It has two devices in processes of [`FakeRuntime::DEVICES`].
    ///
    /// # Errors
    ///
    /// The dynamic linker's.
    pub fn open(folder: &Folder) -> Result<FakeRuntime> {
        Ok(FakeRuntime {
            _library: open(&folder.fake_runtime())?,
        })
    }

    /// The environment in which the loops find the device that they select.
    pub const DEVICES: (&'static str, &'static str) = ("FAKEHIP_DEVICES", "2");
}

/// The loops of one variant. Leaves its library mapped: hiplazy and the fake runtime
/// are never unloaded either.
pub struct Calls {
    variant: Variant,
    runs: Vec<(Function, unsafe extern "C" fn(c_long) -> c_int)>,
}

impl Calls {
    /// Opens the variant, makes its first calls, and checks against the fake
    /// runtime's record that the calls arrive with their arguments and that their
    /// results come back.
    ///
    /// # Errors
    ///
    /// What the dynamic linker said, or which call went wrong.
    pub fn open(_runtime: &FakeRuntime, folder: &Folder, variant: Variant) -> Result<Calls> {
        let library = open(&folder.variant(variant))?;
        let run = |function: Function| {
            let name = format!("run_{}", function.name());
            // SAFETY: declared so in calls.h.
            unsafe { library.get::<unsafe extern "C" fn(c_long) -> c_int>(name.as_bytes()) }
                .map(|symbol| (function, *symbol))
        };
        let functions = variant.functions().iter();
        let runs = functions.map(|function| run(*function));
        let runs = runs.collect::<Result<_, _>>()?;
        // SAFETY: declared so in calls.h.
        let setup: Symbol<unsafe extern "C" fn() -> c_int> = unsafe { library.get(b"setup") }?;
        // SAFETY: declared so in calls.h.
        let check: Symbol<unsafe extern "C" fn() -> *const c_char> =
            unsafe { library.get(b"check") }?;
        // SAFETY: the first call; no conditions.
        let result = unsafe { setup() };
        ensure!(
            result == 0,
            "the first calls through {variant} gave error {result}"
        );
        // SAFETY: after setup.
        let wrong = unsafe { check() };
        if !wrong.is_null() {
            // SAFETY: a C string in the library's own memory.
            let wrong = unsafe { CStr::from_ptr(wrong) }.to_string_lossy();
            anyhow::bail!("calls through {variant} do not do the right thing: {wrong}");
        }
        std::mem::forget(library);
        Ok(Calls { variant, runs })
    }

    /// Makes `count` calls. The time that this takes is what is measured.
    ///
    /// # Panics
    ///
    /// A call had a wrong result, or the variant has no such function: there is then
    /// nothing to measure.
    pub fn run(&self, function: Function, count: u64) {
        let run = self.runs.iter().find(|(known, _)| *known == function);
        let (_, run) = run.expect("only what the variant has is measured");
        let count_long = c_long::try_from(count).expect("criterion asks for fewer calls");
        // SAFETY: after setup.
        let wrong = unsafe { run(count_long) };
        assert!(
            wrong == 0,
            "{count} calls of {function} through {} had a wrong result",
            self.variant
        );
    }
}
