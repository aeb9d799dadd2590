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

/// `hipErrorInvalidDevice`
const INVALID_DEVICE: Status = 101;

/// The device's number, or the answer to a place that has none.
fn device(function: Real, location: Location) -> Result<c_int, Status> {
    match (location.r#type, location.id) {
        // Device. A negative number is none; to the older functions -1 is the host.
        (1, id @ 0..) => Ok(id),
        (1, _) => Err(refuse(
            function,
            INVALID_DEVICE,
            c"the location is a device of a negative number",
        )),
        // Host
        (2, _) => Ok(CPU),
        _ => Err(refuse(function, NOT_SUPPORTED, NO_PLACE)),
    }
}

/// `hipMemAdvise_v2` by `hipMemAdvise`.
pub(super) unsafe extern "C" fn advise(
    pointer: *const c_void,
    count: usize,
    advice: u32,
    location: Location,
) -> Status {
    let device = match device(Real::hipMemAdvise_v2, location) {
        Ok(device) => device,
        Err(status) => return status,
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
    let device = match device(Real::hipMemPrefetchAsync_v2, location) {
        Ok(device) => device,
        Err(status) => return status,
    };
    // SAFETY: the older function's prototype, and the caller's memory.
    unsafe {
        call!(hipMemPrefetchAsync(
            pointer => *const c_void, count => usize, device => c_int, stream => *mut c_void
        ))
    }
}
