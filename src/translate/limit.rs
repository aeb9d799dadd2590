//! `hipLimitRange`, the end of `hipLimit_t`, moved from 3 to 4099 in HIP 7.0.

use super::{Status, call};

const BEFORE_7: u32 = 3;
const SINCE_7: u32 = 4099;

/// The limit in the other numbers, in either direction: where one side has the end, the
/// other has no limit.
fn convert(limit: u32) -> u32 {
    match limit {
        BEFORE_7 => SINCE_7,
        SINCE_7 => BEFORE_7,
        other => other,
    }
}

/// `hipDeviceGetLimit`.
pub(super) unsafe extern "C" fn get(value: *mut usize, limit: u32) -> Status {
    let limit = convert(limit);
    // SAFETY: as the caller called it.
    unsafe { call!(hipDeviceGetLimit(value => *mut usize, limit => u32)) }
}

/// `hipDeviceSetLimit`.
pub(super) unsafe extern "C" fn set(limit: u32, value: usize) -> Status {
    let limit = convert(limit);
    // SAFETY: as the caller called it.
    unsafe { call!(hipDeviceSetLimit(limit => u32, value => usize)) }
}
