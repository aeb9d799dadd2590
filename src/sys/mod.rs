//! The HIP API in Rust: types, constants and functions, named as in C.
//!
//! Types and constants are those of HIP 7. An enumeration is a struct around its
//! integer and not a Rust `enum`, since a runtime may answer a value that is newer
//! than these bindings.
//!
//! A function that is bound is called by one indirect jump.

#![allow(non_camel_case_types, non_snake_case, non_upper_case_globals)]
#![allow(clippy::too_many_arguments)]

#[allow(unused_imports)]
use core::ffi::*;

use crate::slots::load;

#[cfg(not(feature = "bindgen"))]
mod types;
/// Of the headers that this build was given.
#[cfg(feature = "bindgen")]
#[allow(
    missing_docs,
    unreachable_pub,
    unpredictable_function_pointer_comparisons
)]
#[allow(
    clippy::all,
    clippy::undocumented_unsafe_blocks,
    unsafe_op_in_unsafe_fn
)]
mod types {
    include!(concat!(env!("OUT_DIR"), "/sys_types.rs"));
}
pub use types::*;

/// The default stream of the calling thread; a cast in C, which bindgen cannot read.
pub const hipStreamPerThread: hipStream_t = 2 as hipStream_t;
/// The null stream by name, likewise.
pub const hipStreamLegacy: hipStream_t = 1 as hipStream_t;

include!(concat!(env!("OUT_DIR"), "/sys_functions.rs"));
