//! The HIP API without linking HIP.
//!
//! A program calls [`sys`]'s functions (or, from C, `hiplazy_hipMalloc` and the
//! like). On a machine without ROCm each answers with a typed error. Where there is
//! a HIP runtime, the first call finds the right one, binds all functions by link
//! name and version node, and from then on a call is one jump.
//!
//! ```
//! use hiplazy::sys::{hipGetDeviceCount, hipSuccess};
//!
//! let mut count = 0;
//! // SAFETY: the pointer is writable.
//! let status = unsafe { hipGetDeviceCount(&mut count) };
//! if status == hipSuccess {
//!     println!("{count} devices on {:?}", hiplazy::runtime_path());
//! } else {
//!     assert_eq!(count, 0);
//!     hiplazy::last_error(|text| println!("no HIP here: {text}"));
//! }
//! ```
//!
//! Nothing happens when the library is loaded: no constructor, no thread, no file.
//! Nothing is looked for before the first call, and no lock is held while the
//! dynamic linker runs.
//!
//! # Which runtime
//!
//! The one that `HIPLAZY_RUNTIME` names, alone; one that is mapped already; those of
//! Python packages around this library; then installed ones of ABI major 7, 6, 5,
//! the caller's own first ([`set_header_version`]). A candidate is accepted by
//! identity: the object that defines its functions has the runtime's SONAME.
//!
//! # Platforms
//!
//! Linux with glibc, 64 bit, as HIP itself. The wrappers are one instruction on
//! x86-64 and compiled tail calls elsewhere.
//!
//! # Features
//!
//! - `env` (default): the `HIPLAZY_*` environment variables. Without it they are
//!   not read at all.
//! - `bindgen`: generates functions and types from the ROCm headers that
//!   `HIPLAZY_HIP_INCLUDE` or `ROCM_PATH` leads to, instead of the committed
//!   manifest. Needs libclang.

#![no_std]

#[cfg(not(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64")))]
compile_error!("hiplazy is for 64-bit Linux with glibc, as HIP itself is");

include!(concat!(env!("OUT_DIR"), "/for_each_function.rs"));
include!(concat!(env!("OUT_DIR"), "/for_each_table_length.rs"));

/// The README's Rust is compiled and run with the other examples.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod absent;
mod bind;
mod breaks;
mod buffer;
mod candidate;
mod dl;
mod elf;
mod env;
mod errno;
mod error_texts;
#[doc(hidden)]
pub mod export;
mod failure;
mod folders;
mod functions;
mod header_version;
mod intern;
mod library_path;
mod loaded;
mod log;
mod maps;
mod open;
mod report;
mod search;
mod shortage;
#[doc(hidden)]
pub mod slots;
mod strings;
pub mod sys;
mod text;
mod thread;
mod translate;

use core::ffi::{CStr, c_int, c_void};
use core::ptr::NonNull;

pub use header_version::{header_version, set_header_version};

/// Why there is no runtime, as a `hipError_t`. [`last_error`] has the full text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LoadError(c_int);

impl LoadError {
    /// The error code: 303 (`hipErrorSharedObjectInitFailed`) if no runtime was
    /// found, 2 (`hipErrorOutOfMemory`) if there was no memory to look for one.
    pub fn code(self) -> c_int {
        self.0
    }
}

impl core::fmt::Display for LoadError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(
            error_texts::hip(self.0)
                .0
                .to_str()
                .unwrap_or("hipErrorUnknown"),
        )
    }
}

impl core::error::Error for LoadError {}

/// Finds the runtime, opens it and binds all functions now, rather than at the
/// first call.
///
/// # Errors
///
/// There is no runtime that can be used. A later call searches again if something
/// was loaded into the process in between.
pub fn load() -> Result<(), LoadError> {
    match bind::load() {
        0 => Ok(()),
        code => Err(LoadError(code)),
    }
}

/// Whether the runtime has a function of this link name. Loads the runtime.
pub fn has(link_name: &CStr) -> bool {
    symbol(link_name).is_some()
}

/// The runtime's own address of a function, by its link name; also of names that
/// are newer than hiplazy. Loads the runtime.
pub fn symbol(link_name: &CStr) -> Option<NonNull<c_void>> {
    NonNull::new(bind::symbol_by_name(link_name)?)
}

/// The real path of the bound runtime; `None` before one is bound.
pub fn runtime_path() -> Option<&'static CStr> {
    bind::bound().map(|runtime| runtime.path)
}

/// The bound runtime's `hipRuntimeGetVersion`: `major * 10000000 + minor * 100000 +
/// patch`; 0 before one is bound, and for what the runtime itself calls while it is asked.
pub fn runtime_version() -> i32 {
    let version = bind::bound().and_then(|runtime| runtime.version());
    version.unwrap_or(0)
}

/// Hands `read` this thread's last failure in full, `""` if there was none: the
/// function that was called, and every candidate with the reason against it.
pub fn last_error<R>(read: impl FnOnce(&str) -> R) -> R {
    // SAFETY: a C string in this thread's block, which only this thread's next
    // call changes.
    let text = unsafe { CStr::from_ptr(thread::last_error()) };
    read(
        text.to_str()
            .unwrap_or("(the text is not UTF-8; hiplazy_last_error() has it)"),
    )
}

/// hiplazy's own version.
pub fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}
