//! `libhiplazy.so`: the prefixed C interface as a shared library.

#![cfg_attr(panic = "abort", no_std)]

binding::c_interface!(visible hiplazy_);

#[cfg(panic = "abort")]
#[path = "../../freestanding.rs"]
mod freestanding;
