//! `hipLaunchAttributeValue`, a union that grew from 32 to 64 bytes in HIP 7.0. Every
//! member fits in 32; a newer runtime may still read and write all 64.
//!
//! Headers of HIP 7 hand an older runtime more than it looks at, which does no harm.

use core::ffi::c_void;

use super::{SUCCESS, Status, call, layout};

#[repr(C, align(8))]
#[derive(Clone, Copy)]
pub(super) struct Value6 {
    bytes: [u8; 32],
}
layout!(Value6: 32 bytes; bytes at 0);

#[repr(C, align(8))]
pub(super) struct Value7 {
    bytes: [u8; 32],
    rest: [u8; 32],
}
layout!(Value7: 64 bytes; bytes at 0, rest at 32);

/// `hipGraphKernelNodeGetAttribute`.
pub(super) unsafe extern "C" fn get_h6_r7(
    node: *mut c_void,
    attribute: u32,
    value: *mut Value6,
) -> Status {
    // SAFETY: null or the caller's union, whose bytes stay where the runtime writes none.
    let mut own = unsafe { value.as_ref() }.map(|value| Value7 {
        bytes: value.bytes,
        rest: [0; 32],
    });
    let place = own
        .as_mut()
        .map_or(core::ptr::null_mut(), core::ptr::from_mut);
    // SAFETY: room for the runtime's union, or null.
    let status = unsafe {
        call!(hipGraphKernelNodeGetAttribute(
            node => *mut c_void, attribute => u32, place => *mut Value7
        ))
    };
    if status == SUCCESS
        && let Some(own) = own
    {
        // SAFETY: not null, hence writable for the caller's union.
        unsafe { value.write(Value6 { bytes: own.bytes }) };
    }
    status
}

/// `hipGraphKernelNodeSetAttribute`.
pub(super) unsafe extern "C" fn set_h6_r7(
    node: *mut c_void,
    attribute: u32,
    value: *const Value6,
) -> Status {
    // SAFETY: null or the caller's union.
    let own = unsafe { value.as_ref() }.map(|value| Value7 {
        bytes: value.bytes,
        rest: [0; 32],
    });
    let place = own.as_ref().map_or(core::ptr::null(), core::ptr::from_ref);
    // SAFETY: the runtime's union, or null.
    unsafe {
        call!(hipGraphKernelNodeSetAttribute(
            node => *mut c_void, attribute => u32, place => *const Value7
        ))
    }
}
