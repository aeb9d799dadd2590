//! Project tasks as a library.
//!
//! [`fetch`] is what tests use to get real runtimes, headers and stubs; it works
//! without the default features. The `abi` module (feature `abi`) builds and
//! checks the manifest. The `c_headers` module (feature `c-headers`) writes the C
//! headers that are installed. The `site` module (feature `cli`) makes the folder that
//! `docs/doctor.md` looks at.

pub mod fetch;

#[cfg(feature = "abi")]
pub mod abi;

#[cfg(feature = "c-headers")]
pub mod c_headers;

#[cfg(feature = "cli")]
pub mod site;
