//! Functions that stand between a caller compiled with the headers of one HIP version
//! and a runtime of another, where a struct or a constant changed behind an unchanged
//! name. `abi/breaks.txt` says which of them is used when.
//!
//! Each states both layouts, converts field by field, calls the runtime's own function,
//! and writes only what the caller's layout holds, and that only if the call succeeded.
//! What has no counterpart is refused, never guessed.
//!
//! Names end in the header's and the runtime's side: `h5_r6` serves callers with
//! headers of HIP 5 on a runtime of HIP 6 or newer.

mod allocation_properties;
mod device_attribute;
mod device_flags;
mod device_properties;
mod external;
mod graph_node_type;
mod ipc;
mod launch_attribute;
mod library_options;
mod limit;
mod memcpy;
mod memory_location;
mod memory_type;
mod memset_node;
mod pointer_attributes;
mod pool_properties;
mod proc_address;
mod real;

use core::ffi::{CStr, c_int, c_void};

pub(crate) use real::{Real, keep, kept, numbers};

use crate::failure::{Cause, Failure};
use crate::{functions, thread};

/// A `hipError_t`.
type Status = c_int;

const SUCCESS: Status = 0;
const INVALID_VALUE: Status = 1;
const OUT_OF_MEMORY: Status = 2;
const SYMBOL_NOT_FOUND: Status = 302;
/// `hipErrorNotSupported`: of a call that would mean something else to this runtime.
pub(crate) const NOT_SUPPORTED: Status = 801;

/// The answer of a substitute where the runtime lacks what it is made of.
#[cold]
#[inline(never)]
fn lacks(function: Real) -> Status {
    refuse(
        function,
        SYMBOL_NOT_FOUND,
        c"not in the runtime, which lacks the newer function too that it was to stand in for",
    )
}

/// The answer to a call with something that the runtime has no counterpart of.
#[cold]
fn refuse(function: Real, code: Status, why: &'static CStr) -> Status {
    thread::record(
        Failure {
            function: functions::find(function.name()),
            cause: Cause::Untranslatable { code, why },
        },
        Some(code),
    );
    code
}

/// Calls the runtime's own function of this name, with arguments of these types: those of
/// the manifest's prototype, with the structs of the runtime's version.
macro_rules! call {
    ($name:ident($($value:expr => $type:ty),+)) => {
        match $crate::translate::Real::$name.address() {
            address if address.is_null() => $crate::translate::lacks($crate::translate::Real::$name),
            address => core::mem::transmute::<
                *const core::ffi::c_void,
                unsafe extern "C" fn($($type),+) -> core::ffi::c_int,
            >(address)($($value),+),
        }
    };
}
use call;

/// States a struct's size and where its fields are; a mistake does not compile. The
/// figures are those of `abi/layouts.txt`.
///
/// With `no padding` the fields are all there is: of a struct that is made here the other
/// side then sees no byte that nobody wrote. What C leaves between them has a name.
macro_rules! layout {
    ($type:ident: $size:literal bytes, no padding; $($($field:ident).+ at $offset:literal),+ $(,)?) => {
        layout!($type: $size bytes; $($($field).+ at $offset),+);
        const _: () = {
            const fn size_of_field<F>(_: fn(&$type) -> &F) -> usize {
                size_of::<F>()
            }
            assert!(size_of::<$type>() == 0 $(+ size_of_field(|it| &it.$($field).+))+);
        };
    };
    ($type:ident: $size:literal bytes; $($($field:ident).+ at $offset:literal),+ $(,)?) => {
        const _: () = {
            assert!(size_of::<$type>() == $size);
            $(assert!(core::mem::offset_of!($type, $($field).+) == $offset);)+
        };
    };
}
use layout;

include!(concat!(env!("OUT_DIR"), "/translators.rs"));
