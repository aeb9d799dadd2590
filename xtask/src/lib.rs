//! Project tasks as a library.
//!
//! [`fetch`] is what tests use to get real runtimes, headers and stubs; it works
//! without the default features. The `abi` module (feature `abi`) builds and
//! checks the manifest.

pub mod fetch;

#[cfg(feature = "abi")]
pub mod abi;
