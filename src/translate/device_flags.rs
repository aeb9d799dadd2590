//! `hipDeviceLmemResizeToMax`, which was 0x16 for 16 by mistake, and then 0x10.
//!
//! 0x16 has bits of the scheduling flags as well, of no schedule that there is, so that
//! it can be told: both versions leave the schedule to the runtime then.

use core::ffi::{c_int, c_uint, c_void};

use super::{SUCCESS, Status, call};

const WRONG: c_uint = 0x16;
const RIGHT: c_uint = 0x10;

/// Flags of the older headers for a newer runtime.
fn newer(flags: c_uint) -> c_uint {
    if flags & WRONG == WRONG {
        flags & !WRONG | RIGHT
    } else {
        flags
    }
}

/// Flags of a newer runtime for the older headers.
fn older(flags: c_uint) -> c_uint {
    if flags & RIGHT == RIGHT {
        flags | WRONG
    } else {
        flags
    }
}

/// `hipSetDeviceFlags`, older headers.
pub(super) unsafe extern "C" fn set(flags: c_uint) -> Status {
    let flags = newer(flags);
    // SAFETY: as the caller called it.
    unsafe { call!(hipSetDeviceFlags(flags => c_uint)) }
}

/// `hipDevicePrimaryCtxSetFlags`, older headers.
pub(super) unsafe extern "C" fn set_primary(device: c_int, flags: c_uint) -> Status {
    let flags = newer(flags);
    // SAFETY: as the caller called it.
    unsafe { call!(hipDevicePrimaryCtxSetFlags(device => c_int, flags => c_uint)) }
}

/// `hipCtxCreate`, older headers.
pub(super) unsafe extern "C" fn create(
    context: *mut *mut c_void,
    flags: c_uint,
    device: c_int,
) -> Status {
    let flags = newer(flags);
    // SAFETY: as the caller called it.
    unsafe { call!(hipCtxCreate(context => *mut *mut c_void, flags => c_uint, device => c_int)) }
}

/// Calls with a place of our own for the flags, and gives the caller the converted ones.
fn answer(
    flags: *mut c_uint,
    convert: fn(c_uint) -> c_uint,
    call: impl FnOnce(*mut c_uint) -> Status,
) -> Status {
    let mut own = 0;
    let place = match flags.is_null() {
        true => flags,
        false => &raw mut own,
    };
    let status = call(place);
    if status == SUCCESS && !flags.is_null() {
        // SAFETY: not null, hence writable.
        unsafe { flags.write(convert(own)) };
    }
    status
}

/// The direction: `true` for older headers on a newer runtime.
fn direction<const OLD: bool>() -> fn(c_uint) -> c_uint {
    if OLD { older } else { newer }
}

/// `hipGetDeviceFlags`.
pub(super) unsafe extern "C" fn get<const OLD: bool>(flags: *mut c_uint) -> Status {
    answer(flags, direction::<OLD>(), |flags| {
        // SAFETY: as the caller called it, or with our own place.
        unsafe { call!(hipGetDeviceFlags(flags => *mut c_uint)) }
    })
}

/// `hipCtxGetFlags`.
pub(super) unsafe extern "C" fn get_context<const OLD: bool>(flags: *mut c_uint) -> Status {
    answer(flags, direction::<OLD>(), |flags| {
        // SAFETY: as the caller called it, or with our own place.
        unsafe { call!(hipCtxGetFlags(flags => *mut c_uint)) }
    })
}

/// `hipDevicePrimaryCtxGetState`.
pub(super) unsafe extern "C" fn get_primary<const OLD: bool>(
    device: c_int,
    flags: *mut c_uint,
    active: *mut c_int,
) -> Status {
    let mut own_active = 0;
    let place = match active.is_null() {
        true => active,
        false => &raw mut own_active,
    };
    let status = answer(flags, direction::<OLD>(), |flags| {
        // SAFETY: as the caller called it, or with our own places.
        unsafe {
            call!(hipDevicePrimaryCtxGetState(
                device => c_int, flags => *mut c_uint, place => *mut c_int
            ))
        }
    });
    if status == SUCCESS && !active.is_null() {
        // SAFETY: not null, hence writable.
        unsafe { active.write(own_active) };
    }
    status
}
