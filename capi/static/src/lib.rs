//! `libhiplazy.a`: the prefixed C interface for static linking. Its symbols are
//! hidden, so that whoever links it exports none of them.

// A release build is freestanding: nothing of Rust's standard library goes into other
// people's programs. Debug builds link it, so that these crates can be checked
// together with others that use it.
#![cfg_attr(not(debug_assertions), no_std)]

binding::c_interface!(hidden hiplazy_);

#[cfg(not(debug_assertions))]
#[path = "../../freestanding.rs"]
mod freestanding;
