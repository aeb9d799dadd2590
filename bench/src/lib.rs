//! What a HIP call costs through hiplazy, beside the other ways to make it.
//!
//! The same C loop is compiled once per [`Variant`]; the variants differ only in
//! how a call finds its function. All of them reach one mapped fake runtime, and
//! each is checked against that runtime's own record before it is measured.
//!
//! Times come from criterion, as ratios within one run: the machine may be shared
//! and slow, and then it is so for all. See [`judge`] for the limits.

mod build;
pub mod calls;
pub mod folder;
pub mod instructions;
pub mod judge;
pub mod prepare;
pub mod report;
pub mod samples;
pub mod sizes;
pub mod startup;
pub mod variant;

pub use folder::Folder;
pub use variant::{Function, Variant};
