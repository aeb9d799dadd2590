//! `hipMemAdvise_v2` and `hipMemPrefetchAsync_v2` of HIP 7.1 on runtimes that have only
//! the functions they extend, which name a device by number.

use core::ffi::{CStr, c_int, c_uint, c_void};

use super::{INVALID_VALUE, NOT_SUPPORTED, Real, Status, call, refuse};

/// `hipMemLocation`, passed by value.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Location {
    r#type: u32,
    id: c_int,
}

/// `hipCpuDeviceId`, as which the older functions know the host.
const CPU: c_int = -1;

const NO_PLACE: &CStr = c"only a device or the host as a whole can be named to this runtime: hipMemLocationTypeDevice or hipMemLocationTypeHost";

fn device(location: Location) -> Option<c_int> {
    match location.r#type {
        1 => Some(location.id), // Device
        2 => Some(CPU),         // Host
        _ => None,
    }
}

/// `hipMemAdvise_v2` by `hipMemAdvise`.
pub(super) unsafe extern "C" fn advise(
    pointer: *const c_void,
    count: usize,
    advice: u32,
    location: Location,
) -> Status {
    let Some(device) = device(location) else {
        return refuse(Real::hipMemAdvise_v2, NOT_SUPPORTED, NO_PLACE);
    };
    // SAFETY: the older function's prototype, and the caller's memory.
    unsafe {
        call!(hipMemAdvise(
            pointer => *const c_void, count => usize, advice => u32, device => c_int
        ))
    }
}

/// `hipMemPrefetchAsync_v2` by `hipMemPrefetchAsync`.
pub(super) unsafe extern "C" fn prefetch(
    pointer: *const c_void,
    count: usize,
    location: Location,
    flags: c_uint,
    stream: *mut c_void,
) -> Status {
    if flags != 0 {
        return refuse(
            Real::hipMemPrefetchAsync_v2,
            INVALID_VALUE,
            c"flags must be 0, as they are reserved",
        );
    }
    let Some(device) = device(location) else {
        return refuse(Real::hipMemPrefetchAsync_v2, NOT_SUPPORTED, NO_PLACE);
    };
    // SAFETY: the older function's prototype, and the caller's memory.
    unsafe {
        call!(hipMemPrefetchAsync(
            pointer => *const c_void, count => usize, device => c_int, stream => *mut c_void
        ))
    }
}
