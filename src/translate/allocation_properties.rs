//! `hipMemAllocationProp` of virtual memory, reordered in HIP 5.3.

use core::ffi::{CStr, c_int, c_void};
use core::mem::MaybeUninit;

use super::{NOT_SUPPORTED, Real, SUCCESS, Status, call, layout, refuse};

#[repr(C)]
#[derive(Clone, Copy)]
struct Location {
    r#type: u32,
    id: c_int,
}

/// Of HIP 5.2.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Properties52 {
    compression_type: u8,
    compression_padding: [u8; 3],
    location: Location,
    requested_handle_type: u32,
    r#type: u32,
    usage: u16,
    usage_padding: u16,
    win32_handle_meta_data: *mut c_void,
}
layout!(Properties52: 32 bytes, no padding; compression_type at 0, compression_padding at 1, location at 4,
    requested_handle_type at 12, r#type at 16, usage at 20, usage_padding at 22,
    win32_handle_meta_data at 24);

/// Of HIP 5.3 and newer.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Properties53 {
    r#type: u32,
    requested_handle_type: u32,
    location: Location,
    win32_handle_meta_data: *mut c_void,
    compression_type: u8,
    gpu_direct_rdma_capable: u8,
    usage: u16,
    tail: u32,
}
layout!(Properties53: 32 bytes, no padding; r#type at 0, requested_handle_type at 4, location at 8,
    win32_handle_meta_data at 16, compression_type at 24, gpu_direct_rdma_capable at 25,
    usage at 26, tail at 28);

const NO_RDMA: &CStr =
    c"gpuDirectRDMACapable is set, which hipMemAllocationProp of HIP 5.2 has no place for";

fn up(from: &Properties52) -> Option<Properties53> {
    Some(Properties53 {
        r#type: from.r#type,
        requested_handle_type: from.requested_handle_type,
        location: from.location,
        win32_handle_meta_data: from.win32_handle_meta_data,
        compression_type: from.compression_type,
        gpu_direct_rdma_capable: 0,
        usage: from.usage,
        tail: 0,
    })
}

fn down(from: &Properties53) -> Option<Properties52> {
    (from.gpu_direct_rdma_capable == 0).then_some(Properties52 {
        compression_type: from.compression_type,
        compression_padding: [0; 3],
        location: from.location,
        requested_handle_type: from.requested_handle_type,
        r#type: from.r#type,
        usage: from.usage,
        usage_padding: 0,
        win32_handle_meta_data: from.win32_handle_meta_data,
    })
}

/// Hands `call` the converted properties, or null for null.
fn give<S, T>(
    function: Real,
    properties: *const S,
    convert: impl Fn(&S) -> Option<T>,
    call: impl FnOnce(*const T) -> Status,
) -> Status {
    // SAFETY: null or the caller's struct.
    let Some(properties) = (unsafe { properties.as_ref() }) else {
        return call(core::ptr::null());
    };
    match convert(properties) {
        Some(own) => call(&own),
        None => refuse(function, NOT_SUPPORTED, NO_RDMA),
    }
}

macro_rules! functions {
    ($create:ident, $granularity:ident, $from_handle:ident:
     header $header:ty, runtime $runtime:ty, $to_runtime:ident, $to_header:ident) => {
        /// `hipMemCreate`.
        pub(super) unsafe extern "C" fn $create(
            handle: *mut *mut c_void,
            size: usize,
            properties: *const $header,
            flags: u64,
        ) -> Status {
            give(Real::hipMemCreate, properties, $to_runtime, |properties| {
                // SAFETY: the runtime's struct, or null.
                unsafe {
                    call!(hipMemCreate(
                        handle => *mut *mut c_void, size => usize,
                        properties => *const $runtime, flags => u64
                    ))
                }
            })
        }

        /// `hipMemGetAllocationGranularity`.
        pub(super) unsafe extern "C" fn $granularity(
            granularity: *mut usize,
            properties: *const $header,
            option: u32,
        ) -> Status {
            let function = Real::hipMemGetAllocationGranularity;
            give(function, properties, $to_runtime, |properties| {
                // SAFETY: the runtime's struct, or null.
                unsafe {
                    call!(hipMemGetAllocationGranularity(
                        granularity => *mut usize, properties => *const $runtime, option => u32
                    ))
                }
            })
        }

        /// `hipMemGetAllocationPropertiesFromHandle`.
        pub(super) unsafe extern "C" fn $from_handle(
            properties: *mut $header,
            handle: *mut c_void,
        ) -> Status {
            let mut own = MaybeUninit::<$runtime>::zeroed();
            let place = match properties.is_null() {
                true => core::ptr::null_mut(),
                false => own.as_mut_ptr(),
            };
            // SAFETY: room for the runtime's struct, or null.
            let status = unsafe {
                call!(hipMemGetAllocationPropertiesFromHandle(
                    place => *mut $runtime, handle => *mut c_void
                ))
            };
            if status != SUCCESS || properties.is_null() {
                return status;
            }
            // SAFETY: zeroed at first, and all bit patterns are valid.
            match $to_header(unsafe { own.assume_init_ref() }) {
                Some(converted) => {
                    // SAFETY: not null, hence writable for the caller's struct.
                    unsafe { properties.write(converted) };
                    SUCCESS
                }
                None => refuse(
                    Real::hipMemGetAllocationPropertiesFromHandle,
                    NOT_SUPPORTED,
                    NO_RDMA,
                ),
            }
        }
    };
}
functions!(create_h52_r53, granularity_h52_r53, from_handle_h52_r53:
    header Properties52, runtime Properties53, up, down);
functions!(create_h53_r52, granularity_h53_r52, from_handle_h53_r52:
    header Properties53, runtime Properties52, down, up);
