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

mod types;
pub use types::*;

include!(concat!(env!("OUT_DIR"), "/sys_functions.rs"));
