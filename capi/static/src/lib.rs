//! `libhiplazy.a`: the prefixed C interface for static linking. Its symbols are
//! hidden, so that whoever links it exports none of them.

#![cfg_attr(panic = "abort", no_std)]

binding::c_interface!(hidden hiplazy_);

#[cfg(panic = "abort")]
#[path = "../../freestanding.rs"]
mod freestanding;
