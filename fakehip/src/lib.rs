//! A fake HIP runtime for tests.
//!
//! Builds shared objects that look like AMD's runtime to the dynamic linker
//! (SONAME, every exported name, its version node) and to a program (struct
//! layouts, error codes, device and memory semantics), with host memory as
//! device memory and no GPU. What programs call can be recorded, counted and
//! made to fail: see `fakehip.h` and the README.
//!
//! ```no_run
//! use fakehip::{Library, Version};
//! use std::path::Path;
//!
//! let folder = Path::new("target/fake");
//! // libamdhip64.so.5, .so.6, .so.7, libhiprtc.so.6, .so.7, libhsa-runtime64.so.1
//! fakehip::build_all(folder)?;
//! // HIP 6.4.3 without a function, under a name as Python wheels have it
//! let wheel = Library::hip(Version::V6_4_3).auditwheel("0a1b2c3d").without(["hipMemcpyPeer"]);
//! let paths = fakehip::build(folder, &[wheel])?;
//! # Ok::<(), fakehip::Error>(())
//! ```
//!
//! Needs a C compiler (`$CC` or `cc`) for ELF targets; tried with gcc and clang.

mod builder;
mod compiler;
mod error;
mod exports;
mod generate;
mod library;
mod sources;
mod version;

use std::path::{Path, PathBuf};

pub use builder::{build, write_header};
pub use error::Error;
pub use library::{Kind, Library};
pub use sources::HEADER;
pub use version::Version;

/// The libraries of one HIP version: `libamdhip64`, and `libhiprtc` from HIP 6 on.
#[must_use]
pub fn libraries_of(version: Version) -> Vec<Library> {
    let mut libraries = vec![Library::hip(version)];
    if version.rtc_table().is_some() {
        libraries.push(Library::rtc(version));
    }
    libraries
}

/// Builds everything: the libraries of each major's default version, and `libhsa-runtime64.so.1`.
///
/// # Errors
///
/// As [`build`].
pub fn build_all(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut libraries: Vec<Library> = [Version::V5_7_1, Version::V6_4_3, Version::V7_14]
        .into_iter()
        .flat_map(libraries_of)
        .collect();
    libraries.push(Library::hsa());
    build(folder, &libraries)
}
