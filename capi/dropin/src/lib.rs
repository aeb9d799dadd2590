//! `libhiplazy_dropin.a`: HIP's own names for static linking, so that source which
//! calls `hipMalloc` links as it is. All are hidden: an exported bare name would
//! answer calls that others in the process meant for the real runtime. They have their
//! prefixed names too, for a binary that calls both.

// A release build is freestanding: nothing of Rust's standard library goes into other
// people's programs. Debug builds link it, so that these crates can be checked
// together with others that use it.
#![cfg_attr(not(debug_assertions), no_std)]

binding::c_interface!(hidden "" control hiplazy_);

#[cfg(not(debug_assertions))]
#[path = "../../freestanding.rs"]
mod freestanding;
