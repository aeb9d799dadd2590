//! `hipDeviceAttribute_t`: five attributes went in HIP 6.0, and one moved in 7.1.

use core::ffi::c_int;

use super::{INVALID_VALUE, Real, Status, call, refuse};

unsafe fn forward(value: *mut c_int, attribute: u32, device: c_int) -> Status {
    // SAFETY: as the caller called it; the attribute is in the runtime's numbers.
    unsafe { call!(hipDeviceGetAttribute(value => *mut c_int, attribute => u32, device => c_int)) }
}

/// `Name`, `Uuid`, `Arch`, `GcnArch` and `GcnArchName` of HIP 5, `Unused1` to `Unused5`
/// since.
const GONE: [u32; 5] = [64, 86, 10001, 10003, 10004];

/// `hipDeviceGetAttribute`, in either direction.
unsafe fn without_gone(value: *mut c_int, attribute: u32, device: c_int) -> Status {
    if GONE.contains(&attribute) {
        return refuse(
            Real::hipDeviceGetAttribute,
            INVALID_VALUE,
            c"the attributes Name, Uuid, Arch, GcnArch and GcnArchName of HIP 5 are unused numbers since HIP 6; hipGetDeviceProperties has what they meant",
        );
    }
    // SAFETY: as the caller called it.
    unsafe { forward(value, attribute, device) }
}

/// `hipDeviceGetAttribute`.
pub(super) unsafe extern "C" fn get_h5_r6(
    value: *mut c_int,
    attribute: u32,
    device: c_int,
) -> Status {
    // SAFETY: as the caller called it.
    unsafe { without_gone(value, attribute, device) }
}

/// `hipDeviceGetAttribute`.
pub(super) unsafe extern "C" fn get_h6_r5(
    value: *mut c_int,
    attribute: u32,
    device: c_int,
) -> Status {
    // SAFETY: as the caller called it.
    unsafe { without_gone(value, attribute, device) }
}

/// `hipDeviceAttributePciChipId` of 7.0, which is another attribute since 7.1.
const CHIP_ID_7_0: u32 = 10019;
/// And since 7.1.
const CHIP_ID_7_1: u32 = 10020;

/// `hipDeviceGetAttribute`.
pub(super) unsafe extern "C" fn get_h70_r71(
    value: *mut c_int,
    attribute: u32,
    device: c_int,
) -> Status {
    let attribute = match attribute {
        CHIP_ID_7_0 => CHIP_ID_7_1,
        CHIP_ID_7_1 => {
            return refuse(
                Real::hipDeviceGetAttribute,
                INVALID_VALUE,
                c"the number is of no attribute in HIP 7.0, and of hipDeviceAttributePciChipId in the runtime",
            );
        }
        other => other,
    };
    // SAFETY: as the caller called it.
    unsafe { forward(value, attribute, device) }
}

/// `hipDeviceGetAttribute`.
pub(super) unsafe extern "C" fn get_h71_r70(
    value: *mut c_int,
    attribute: u32,
    device: c_int,
) -> Status {
    let attribute = match attribute {
        CHIP_ID_7_1 => CHIP_ID_7_0,
        CHIP_ID_7_0 => {
            return refuse(
                Real::hipDeviceGetAttribute,
                INVALID_VALUE,
                c"hipDeviceAttributeMaxAvailableVgprsPerThread came with HIP 7.1; the runtime means another attribute by its number",
            );
        }
        other => other,
    };
    // SAFETY: as the caller called it.
    unsafe { forward(value, attribute, device) }
}
