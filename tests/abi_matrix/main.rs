//! Every function whose structs or constants changed, called as programs with the headers of
//! every version call it, on a fake runtime of every version. What arrives and what comes
//! back is compared with what the manifest's tables say: a field is the field of the same
//! name, a constant the constant of the same name, or the call is refused.

// The caller program passes all arguments as registers, and the fakes are of x86-64.
#![cfg(target_arch = "x86_64")]

#[path = "../common/mod.rs"]
mod common;

mod arguments;
mod by_name;
mod calls;
mod cell;
mod cells;
mod child;
mod constants;
mod conversion;
mod failures;
mod flags;
mod limits;
mod matrix;
mod odd_versions;
mod oracle;
mod policy;
mod random;
mod scope;
mod substitutes;
mod tables;
mod undecided;
