//! `hipIpcMemLazyEnablePeerAccess`, 0 in HIP 5 and 1 since 6.0.

use core::ffi::{c_uint, c_void};

use super::{INVALID_VALUE, Real, Status, call, refuse};

/// `hipIpcMemHandle_t`, passed by value.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Handle([u8; 64]);

/// `hipIpcOpenMemHandle`, for a header whose flag is `HEADER` and a runtime whose flag is
/// `RUNTIME`. Both versions know no other flag.
pub(super) unsafe extern "C" fn open<const HEADER: c_uint, const RUNTIME: c_uint>(
    pointer: *mut *mut c_void,
    handle: Handle,
    flags: c_uint,
) -> Status {
    if flags != HEADER {
        return refuse(
            Real::hipIpcOpenMemHandle,
            INVALID_VALUE,
            c"the only flag is hipIpcMemLazyEnablePeerAccess, 0 in the headers of HIP 5 and 1 since HIP 6",
        );
    }
    // SAFETY: as the caller called it, with the runtime's flag.
    unsafe {
        call!(hipIpcOpenMemHandle(
            pointer => *mut *mut c_void, handle => Handle, RUNTIME => c_uint
        ))
    }
}
