//! Addresses that are asked for by name, right for the caller's headers.

use core::ffi::{CStr, c_char, c_int, c_uint, c_ulonglong, c_void};

use super::{SUCCESS, Status, call};
use crate::breaks::Version;
use crate::{bind, functions, slots};

/// Puts our own entry in the place of an address that callers with the headers of
/// `header` cannot call as it is.
///
/// # Safety
///
/// `name` is null or a C string; `address` is null or the place where the runtime has
/// just written the function's address.
unsafe fn replace(name: *const c_char, address: *mut *mut c_void, header: Version) {
    if name.is_null() || address.is_null() {
        return;
    }
    // SAFETY: as the caller promises.
    let name = unsafe { CStr::from_ptr(name) };
    if let Some(index) = functions::find(name).map(|index| functions::entry_for(index, header))
        && bind::needs_own_entry(index)
    {
        // SAFETY: as the caller promises. A slot is always callable.
        unsafe { address.write(slots::content(index)) };
    }
}

macro_rules! proc_address {
    ($(#[$doc:meta])* $name:ident: $function:ident) => {
        $(#[$doc])*
        pub(super) unsafe extern "C" fn $name<const HEADER: Version>(
            symbol: *const c_char,
            address: *mut *mut c_void,
            version: c_int,
            flags: u64,
            found: *mut c_uint,
        ) -> Status {
            // SAFETY: as the caller called it.
            unsafe {
                let status = call!($function(
                    symbol => *const c_char, address => *mut *mut c_void, version => c_int,
                    flags => u64, found => *mut c_uint
                ));
                if status == SUCCESS {
                    replace(symbol, address, HEADER);
                }
                status
            }
        }
    };
}
proc_address!(
    /// `hipGetProcAddress`, for callers with headers of version `HEADER`.
    get: hipGetProcAddress
);
proc_address!(
    /// `hipGetProcAddress_spt`.
    get_spt: hipGetProcAddress_spt
);

macro_rules! entry_point {
    ($(#[$doc:meta])* $name:ident: $function:ident) => {
        $(#[$doc])*
        pub(super) unsafe extern "C" fn $name<const HEADER: Version>(
            symbol: *const c_char,
            address: *mut *mut c_void,
            flags: c_ulonglong,
            found: *mut c_uint,
        ) -> Status {
            // SAFETY: as the caller called it.
            unsafe {
                let status = call!($function(
                    symbol => *const c_char, address => *mut *mut c_void,
                    flags => c_ulonglong, found => *mut c_uint
                ));
                if status == SUCCESS {
                    replace(symbol, address, HEADER);
                }
                status
            }
        }
    };
}
entry_point!(
    /// `hipGetDriverEntryPoint`, for callers with headers of version `HEADER`.
    entry_point: hipGetDriverEntryPoint
);
entry_point!(
    /// `hipGetDriverEntryPoint_spt`.
    entry_point_spt: hipGetDriverEntryPoint_spt
);
