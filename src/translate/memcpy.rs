//! The driver's copy descriptors: memory types were renumbered in HIP 6.0, and the
//! three-dimensional one grew from 32-bit to 64-bit sizes.

use core::ffi::{CStr, c_void};

use super::{INVALID_VALUE, Real, Status, call, layout, memory_type, refuse};

const UNKNOWN_TYPE: &CStr =
    c"a memory type of the copy has no counterpart in the runtime's numbers";
const TOO_LARGE: &CStr =
    c"a size of the copy does not fit in 32 bits, which is all that HIP_MEMCPY3D of HIP 5 has";

type Stream = *mut c_void;

/// `hip_Memcpy2D`, laid out alike in every version.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Copy2d {
    src_x_in_bytes: usize,
    src_y: usize,
    src_memory_type: u32,
    src_host: *const c_void,
    src_device: *mut c_void,
    src_array: *mut c_void,
    src_pitch: usize,
    dst_x_in_bytes: usize,
    dst_y: usize,
    dst_memory_type: u32,
    dst_host: *mut c_void,
    dst_device: *mut c_void,
    dst_array: *mut c_void,
    dst_pitch: usize,
    width_in_bytes: usize,
    height: usize,
}
layout!(Copy2d: 128 bytes; src_x_in_bytes at 0, src_y at 8, src_memory_type at 16, src_host at 24,
    src_device at 32, src_array at 40, src_pitch at 48, dst_x_in_bytes at 56, dst_y at 64,
    dst_memory_type at 72, dst_host at 80, dst_device at 88, dst_array at 96, dst_pitch at 104,
    width_in_bytes at 112, height at 120);

/// The copy in the other numbers, handed to `call`; `UP` is from HIP 5's to HIP 6's.
fn convert_2d<const UP: bool>(
    function: Real,
    copy: *const Copy2d,
    call: impl FnOnce(*const Copy2d) -> Status,
) -> Status {
    // SAFETY: null or the caller's struct.
    let Some(mut own) = unsafe { copy.as_ref() }.copied() else {
        return call(copy);
    };
    let types = (
        memory_type::convert::<UP>(own.src_memory_type),
        memory_type::convert::<UP>(own.dst_memory_type),
    );
    let (Some(src), Some(dst)) = types else {
        return refuse(function, INVALID_VALUE, UNKNOWN_TYPE);
    };
    own.src_memory_type = src;
    own.dst_memory_type = dst;
    call(&own)
}

/// `hipMemcpyParam2D`.
pub(super) unsafe extern "C" fn param_2d<const UP: bool>(copy: *const Copy2d) -> Status {
    convert_2d::<UP>(Real::hipMemcpyParam2D, copy, |copy| {
        // SAFETY: the prototype of every version; the struct has the runtime's numbers.
        unsafe { call!(hipMemcpyParam2D(copy => *const Copy2d)) }
    })
}

/// `hipMemcpyParam2DAsync`.
pub(super) unsafe extern "C" fn param_2d_async<const UP: bool>(
    copy: *const Copy2d,
    stream: Stream,
) -> Status {
    convert_2d::<UP>(Real::hipMemcpyParam2DAsync, copy, |copy| {
        // SAFETY: as above.
        unsafe { call!(hipMemcpyParam2DAsync(copy => *const Copy2d, stream => Stream)) }
    })
}

/// `hipDrvMemcpy2DUnaligned`.
pub(super) unsafe extern "C" fn unaligned_2d<const UP: bool>(copy: *const Copy2d) -> Status {
    convert_2d::<UP>(Real::hipDrvMemcpy2DUnaligned, copy, |copy| {
        // SAFETY: as above.
        unsafe { call!(hipDrvMemcpy2DUnaligned(copy => *const Copy2d)) }
    })
}

/// `HIP_MEMCPY3D` with sizes of type `S`: `unsigned int` before 6.0, then `size_t`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Copy3d<S> {
    src_x_in_bytes: S,
    src_y: S,
    src_z: S,
    src_lod: S,
    src_memory_type: u32,
    src_host: *const c_void,
    src_device: *mut c_void,
    src_array: *mut c_void,
    src_pitch: S,
    src_height: S,
    dst_x_in_bytes: S,
    dst_y: S,
    dst_z: S,
    dst_lod: S,
    dst_memory_type: u32,
    dst_host: *mut c_void,
    dst_device: *mut c_void,
    dst_array: *mut c_void,
    dst_pitch: S,
    dst_height: S,
    width_in_bytes: S,
    height: S,
    depth: S,
}
type Copy3d5 = Copy3d<u32>;
type Copy3d6 = Copy3d<usize>;
layout!(Copy3d5: 128 bytes; src_x_in_bytes at 0, src_y at 4, src_z at 8, src_lod at 12,
    src_memory_type at 16, src_host at 24, src_device at 32, src_array at 40, src_pitch at 48,
    src_height at 52, dst_x_in_bytes at 56, dst_y at 60, dst_z at 64, dst_lod at 68,
    dst_memory_type at 72, dst_host at 80, dst_device at 88, dst_array at 96, dst_pitch at 104,
    dst_height at 108, width_in_bytes at 112, height at 116, depth at 120);
layout!(Copy3d6: 184 bytes; src_x_in_bytes at 0, src_y at 8, src_z at 16, src_lod at 24,
    src_memory_type at 32, src_host at 40, src_device at 48, src_array at 56, src_pitch at 64,
    src_height at 72, dst_x_in_bytes at 80, dst_y at 88, dst_z at 96, dst_lod at 104,
    dst_memory_type at 112, dst_host at 120, dst_device at 128, dst_array at 136, dst_pitch at 144,
    dst_height at 152, width_in_bytes at 160, height at 168, depth at 176);

impl<S: Copy> Copy3d<S> {
    /// The same copy with sizes of another type; `None` if one does not fit.
    fn with_sizes<T>(&self, types: (u32, u32), size: impl Fn(S) -> Option<T>) -> Option<Copy3d<T>> {
        Some(Copy3d {
            src_x_in_bytes: size(self.src_x_in_bytes)?,
            src_y: size(self.src_y)?,
            src_z: size(self.src_z)?,
            src_lod: size(self.src_lod)?,
            src_memory_type: types.0,
            src_host: self.src_host,
            src_device: self.src_device,
            src_array: self.src_array,
            src_pitch: size(self.src_pitch)?,
            src_height: size(self.src_height)?,
            dst_x_in_bytes: size(self.dst_x_in_bytes)?,
            dst_y: size(self.dst_y)?,
            dst_z: size(self.dst_z)?,
            dst_lod: size(self.dst_lod)?,
            dst_memory_type: types.1,
            dst_host: self.dst_host,
            dst_device: self.dst_device,
            dst_array: self.dst_array,
            dst_pitch: size(self.dst_pitch)?,
            dst_height: size(self.dst_height)?,
            width_in_bytes: size(self.width_in_bytes)?,
            height: size(self.height)?,
            depth: size(self.depth)?,
        })
    }
}

fn convert_3d<const UP: bool, S: Copy, T>(
    function: Real,
    copy: *const Copy3d<S>,
    size: impl Fn(S) -> Option<T>,
    call: impl FnOnce(*const Copy3d<T>) -> Status,
) -> Status {
    // SAFETY: null or the caller's struct.
    let Some(copy) = (unsafe { copy.as_ref() }) else {
        return call(core::ptr::null());
    };
    let types = (
        memory_type::convert::<UP>(copy.src_memory_type),
        memory_type::convert::<UP>(copy.dst_memory_type),
    );
    let (Some(src), Some(dst)) = types else {
        return refuse(function, INVALID_VALUE, UNKNOWN_TYPE);
    };
    match copy.with_sizes((src, dst), size) {
        Some(own) => call(&own),
        None => refuse(function, INVALID_VALUE, TOO_LARGE),
    }
}

/// A size of HIP 5 always fits.
fn wider(size: u32) -> Option<usize> {
    usize::try_from(size).ok()
}

fn narrower(size: usize) -> Option<u32> {
    u32::try_from(size).ok()
}

/// `hipDrvMemcpy3D`.
pub(super) unsafe extern "C" fn drv_3d_h5_r6(copy: *const Copy3d5) -> Status {
    convert_3d::<true, _, _>(Real::hipDrvMemcpy3D, copy, wider, |copy| {
        // SAFETY: the runtime's struct.
        unsafe { call!(hipDrvMemcpy3D(copy => *const Copy3d6)) }
    })
}

/// `hipDrvMemcpy3D`.
pub(super) unsafe extern "C" fn drv_3d_h6_r5(copy: *const Copy3d6) -> Status {
    convert_3d::<false, _, _>(Real::hipDrvMemcpy3D, copy, narrower, |copy| {
        // SAFETY: the runtime's struct.
        unsafe { call!(hipDrvMemcpy3D(copy => *const Copy3d5)) }
    })
}

/// `hipDrvMemcpy3DAsync`.
pub(super) unsafe extern "C" fn drv_3d_async_h5_r6(copy: *const Copy3d5, stream: Stream) -> Status {
    convert_3d::<true, _, _>(Real::hipDrvMemcpy3DAsync, copy, wider, |copy| {
        // SAFETY: the runtime's struct.
        unsafe { call!(hipDrvMemcpy3DAsync(copy => *const Copy3d6, stream => Stream)) }
    })
}

/// `hipDrvMemcpy3DAsync`.
pub(super) unsafe extern "C" fn drv_3d_async_h6_r5(copy: *const Copy3d6, stream: Stream) -> Status {
    convert_3d::<false, _, _>(Real::hipDrvMemcpy3DAsync, copy, narrower, |copy| {
        // SAFETY: the runtime's struct.
        unsafe { call!(hipDrvMemcpy3DAsync(copy => *const Copy3d5, stream => Stream)) }
    })
}
