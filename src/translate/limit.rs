//! `hipLimitRange`, the end of `hipLimit_t`, moved from 3 to 4099 in HIP 7.0.

use super::{Status, call};

const BEFORE_7: u32 = 3;
const SINCE_7: u32 = 4099;

/// The limit in the runtime's numbers; `R7` for a runtime of HIP 7.
fn convert<const R7: bool>(limit: u32) -> u32 {
    match (limit, R7) {
        (BEFORE_7, true) => SINCE_7,
        (SINCE_7, false) => BEFORE_7,
        _ => limit,
    }
}

/// `hipDeviceGetLimit`.
pub(super) unsafe extern "C" fn get<const R7: bool>(value: *mut usize, limit: u32) -> Status {
    let limit = convert::<R7>(limit);
    // SAFETY: as the caller called it.
    unsafe { call!(hipDeviceGetLimit(value => *mut usize, limit => u32)) }
}

/// `hipDeviceSetLimit`.
pub(super) unsafe extern "C" fn set<const R7: bool>(limit: u32, value: usize) -> Status {
    let limit = convert::<R7>(limit);
    // SAFETY: as the caller called it.
    unsafe { call!(hipDeviceSetLimit(limit => u32, value => usize)) }
}
