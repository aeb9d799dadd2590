//! The driver's copy descriptors: memory types were renumbered in HIP 6.0, and the
//! three-dimensional one grew from 32-bit to 64-bit sizes.

use core::ffi::{CStr, c_void};
use core::mem::MaybeUninit;

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
    src_padding: u32,
    src_host: *const c_void,
    src_device: *mut c_void,
    src_array: *mut c_void,
    src_pitch: usize,
    dst_x_in_bytes: usize,
    dst_y: usize,
    dst_memory_type: u32,
    dst_padding: u32,
    dst_host: *mut c_void,
    dst_device: *mut c_void,
    dst_array: *mut c_void,
    dst_pitch: usize,
    width_in_bytes: usize,
    height: usize,
}
layout!(Copy2d: 128 bytes, no padding; src_x_in_bytes at 0, src_y at 8, src_memory_type at 16,
    src_padding at 20, src_host at 24, src_device at 32, src_array at 40, src_pitch at 48,
    dst_x_in_bytes at 56, dst_y at 64, dst_memory_type at 72, dst_padding at 76, dst_host at 80, dst_device at 88, dst_array at 96, dst_pitch at 104,
    width_in_bytes at 112, height at 120);

/// Makes `own` the copy in the other numbers, with `up` HIP 6's; null for null, or the answer
/// to a copy that has none.
#[inline(never)]
fn convert_2d(
    up: bool,
    function: Real,
    copy: *const Copy2d,
    own: &mut MaybeUninit<Copy2d>,
) -> Result<*const Copy2d, Status> {
    // SAFETY: null or the caller's struct.
    let Some(copy) = (unsafe { copy.as_ref() }) else {
        return Ok(core::ptr::null());
    };
    let (src_memory_type, dst_memory_type) =
        memory_types(up, function, copy.src_memory_type, copy.dst_memory_type)?;
    Ok(own.write(Copy2d {
        src_memory_type,
        src_padding: 0,
        dst_memory_type,
        dst_padding: 0,
        ..*copy
    }))
}

/// Both memory types in the other numbers.
fn memory_types(up: bool, function: Real, src: u32, dst: u32) -> Result<(u32, u32), Status> {
    let src = memory_type::convert(up, src);
    let types = src.zip(memory_type::convert(up, dst));
    types.ok_or_else(|| refuse(function, INVALID_VALUE, UNKNOWN_TYPE))
}

macro_rules! copy_2d {
    ($(#[$doc:meta])* $name:ident: $function:ident $(, $stream:ident)?) => {
        $(#[$doc])*
        pub(super) unsafe extern "C" fn $name<const UP: bool>(
            copy: *const Copy2d,
            $($stream: Stream,)?
        ) -> Status {
            let mut own = MaybeUninit::uninit();
            match convert_2d(UP, Real::$function, copy, &mut own) {
                // SAFETY: the prototype of every version; the struct has the runtime's numbers.
                Ok(copy) => unsafe {
                    call!($function(copy => *const Copy2d $(, $stream => Stream)?))
                },
                Err(status) => status,
            }
        }
    };
}
copy_2d!(
    /// `hipMemcpyParam2D`; `UP` is from HIP 5's numbers to HIP 6's.
    param_2d: hipMemcpyParam2D
);
copy_2d!(
    /// `hipMemcpyParam2DAsync`.
    param_2d_async: hipMemcpyParam2DAsync, stream
);
copy_2d!(
    /// `hipDrvMemcpy2DUnaligned`.
    unaligned_2d: hipDrvMemcpy2DUnaligned
);

/// `HIP_MEMCPY3D` with sizes of type `S`: `unsigned int` before 6.0, then `size_t`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Copy3d<S, const TAIL: usize> {
    src_x_in_bytes: S,
    src_y: S,
    src_z: S,
    src_lod: S,
    src_memory_type: u32,
    src_padding: u32,
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
    dst_padding: u32,
    dst_host: *mut c_void,
    dst_device: *mut c_void,
    dst_array: *mut c_void,
    dst_pitch: S,
    dst_height: S,
    width_in_bytes: S,
    height: S,
    depth: S,
    tail: [u32; TAIL],
}
type Copy3d5 = Copy3d<u32, 1>;
type Copy3d6 = Copy3d<usize, 0>;
layout!(Copy3d5: 128 bytes, no padding; src_x_in_bytes at 0, src_y at 4, src_z at 8, src_lod at 12,
    src_memory_type at 16, src_padding at 20, src_host at 24, src_device at 32, src_array at 40, src_pitch at 48,
    src_height at 52, dst_x_in_bytes at 56, dst_y at 60, dst_z at 64, dst_lod at 68,
    dst_memory_type at 72, dst_padding at 76, dst_host at 80, dst_device at 88, dst_array at 96,
    dst_pitch at 104, dst_height at 108, width_in_bytes at 112, height at 116, depth at 120,
    tail at 124);
layout!(Copy3d6: 184 bytes, no padding; src_x_in_bytes at 0, src_y at 8, src_z at 16, src_lod at 24,
    src_memory_type at 32, src_padding at 36, src_host at 40, src_device at 48, src_array at 56, src_pitch at 64,
    src_height at 72, dst_x_in_bytes at 80, dst_y at 88, dst_z at 96, dst_lod at 104,
    dst_memory_type at 112, dst_padding at 116, dst_host at 120, dst_device at 128, dst_array at 136, dst_pitch at 144,
    dst_height at 152, width_in_bytes at 160, height at 168, depth at 176, tail at 184);

impl<S: Copy, const TAIL: usize> Copy3d<S, TAIL> {
    /// The same copy with sizes of another type; `None` if one does not fit.
    fn with_sizes<T, const OTHER: usize>(
        &self,
        types: (u32, u32),
        size: impl Fn(S) -> Option<T>,
    ) -> Option<Copy3d<T, OTHER>> {
        Some(Copy3d {
            src_x_in_bytes: size(self.src_x_in_bytes)?,
            src_y: size(self.src_y)?,
            src_z: size(self.src_z)?,
            src_lod: size(self.src_lod)?,
            src_memory_type: types.0,
            src_padding: 0,
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
            dst_padding: 0,
            dst_host: self.dst_host,
            dst_device: self.dst_device,
            dst_array: self.dst_array,
            dst_pitch: size(self.dst_pitch)?,
            dst_height: size(self.dst_height)?,
            width_in_bytes: size(self.width_in_bytes)?,
            height: size(self.height)?,
            depth: size(self.depth)?,
            tail: [0; OTHER],
        })
    }
}

/// As [`convert_2d`], with sizes of another type.
#[inline(never)]
fn convert_3d<S: Copy, const FROM: usize, T, const TO: usize>(
    up: bool,
    size: impl Fn(S) -> Option<T>,
    function: Real,
    copy: *const Copy3d<S, FROM>,
    own: &mut MaybeUninit<Copy3d<T, TO>>,
) -> Result<*const Copy3d<T, TO>, Status> {
    // SAFETY: null or the caller's struct.
    let Some(copy) = (unsafe { copy.as_ref() }) else {
        return Ok(core::ptr::null());
    };
    let types = memory_types(up, function, copy.src_memory_type, copy.dst_memory_type)?;
    match copy.with_sizes(types, size) {
        Some(converted) => Ok(own.write(converted)),
        None => Err(refuse(function, INVALID_VALUE, TOO_LARGE)),
    }
}

/// A size of HIP 5 always fits.
fn wider(size: u32) -> Option<usize> {
    usize::try_from(size).ok()
}

fn narrower(size: usize) -> Option<u32> {
    u32::try_from(size).ok()
}

macro_rules! copy_3d {
    ($(#[$doc:meta])* $name:ident: $function:ident, $up:literal, $size:ident,
     $from:ty => $to:ty $(, $stream:ident)?) => {
        $(#[$doc])*
        pub(super) unsafe extern "C" fn $name(
            copy: *const $from,
            $($stream: Stream,)?
        ) -> Status {
            let mut own = MaybeUninit::uninit();
            match convert_3d($up, $size, Real::$function, copy, &mut own) {
                // SAFETY: the runtime's struct.
                Ok(copy) => unsafe {
                    call!($function(copy => *const $to $(, $stream => Stream)?))
                },
                Err(status) => status,
            }
        }
    };
}
copy_3d!(
    /// `hipDrvMemcpy3D`.
    drv_3d_h5_r6: hipDrvMemcpy3D, true, wider, Copy3d5 => Copy3d6
);
copy_3d!(
    /// `hipDrvMemcpy3D`.
    drv_3d_h6_r5: hipDrvMemcpy3D, false, narrower, Copy3d6 => Copy3d5
);
copy_3d!(
    /// `hipDrvMemcpy3DAsync`.
    drv_3d_async_h5_r6: hipDrvMemcpy3DAsync, true, wider, Copy3d5 => Copy3d6, stream
);
copy_3d!(
    /// `hipDrvMemcpy3DAsync`.
    drv_3d_async_h6_r5: hipDrvMemcpy3DAsync, false, narrower, Copy3d6 => Copy3d5, stream
);
