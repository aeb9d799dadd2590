//! Memset nodes of the driver's graph functions: `HIP_MEMSET_NODE_PARAMS` in HIP 6,
//! `hipMemsetParams` since 7.0.

use core::ffi::{c_uint, c_void};

use super::{Status, call, layout};

/// `HIP_MEMSET_NODE_PARAMS`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Params6 {
    dst: *mut c_void,
    pitch: usize,
    value: c_uint,
    element_size: c_uint,
    width: usize,
    height: usize,
}
layout!(Params6: 40 bytes, no padding; dst at 0, pitch at 8, value at 16, element_size at 20, width at 24,
    height at 32);

/// `hipMemsetParams`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Params7 {
    dst: *mut c_void,
    element_size: c_uint,
    element_padding: u32,
    height: usize,
    pitch: usize,
    value: c_uint,
    value_padding: u32,
    width: usize,
}
layout!(Params7: 48 bytes, no padding; dst at 0, element_size at 8, element_padding at 12, height at 16,
    pitch at 24, value at 32, value_padding at 36, width at 40);

impl From<&Params6> for Params7 {
    fn from(params: &Params6) -> Params7 {
        let Params6 {
            dst,
            pitch,
            value,
            element_size,
            width,
            height,
        } = *params;
        Params7 {
            dst,
            element_size,
            element_padding: 0,
            height,
            pitch,
            value,
            value_padding: 0,
            width,
        }
    }
}

impl From<&Params7> for Params6 {
    fn from(params: &Params7) -> Params6 {
        let Params7 {
            dst,
            element_size,
            height,
            pitch,
            value,
            width,
            ..
        } = *params;
        Params6 {
            dst,
            pitch,
            value,
            element_size,
            width,
            height,
        }
    }
}

type Node = *mut c_void;

/// `call` with the converted parameters, or with null for null.
///
/// # Safety
///
/// `params` is null or a struct of the caller's.
unsafe fn convert<S, T: for<'a> From<&'a S>>(
    params: *const S,
    call: impl FnOnce(*const T) -> Status,
) -> Status {
    // SAFETY: as the caller promises.
    let own = unsafe { params.as_ref() }.map(T::from);
    call(own.as_ref().map_or(core::ptr::null(), core::ptr::from_ref))
}

macro_rules! functions {
    ($add:ident, $set:ident: $header:ty => $runtime:ty) => {
        /// `hipDrvGraphAddMemsetNode`.
        pub(super) unsafe extern "C" fn $add(
            node: *mut Node,
            graph: *mut c_void,
            dependencies: *const Node,
            count: usize,
            params: *const $header,
            context: *mut c_void,
        ) -> Status {
            // SAFETY: the caller's struct or null; then the runtime's, and the rest as
            // the caller called it.
            unsafe {
                convert::<$header, $runtime>(params, |params| {
                    call!(hipDrvGraphAddMemsetNode(
                        node => *mut Node, graph => *mut c_void, dependencies => *const Node,
                        count => usize, params => *const $runtime, context => *mut c_void
                    ))
                })
            }
        }

        /// `hipDrvGraphExecMemsetNodeSetParams`.
        pub(super) unsafe extern "C" fn $set(
            graph: *mut c_void,
            node: Node,
            params: *const $header,
            context: *mut c_void,
        ) -> Status {
            // SAFETY: as above.
            unsafe {
                convert::<$header, $runtime>(params, |params| {
                    call!(hipDrvGraphExecMemsetNodeSetParams(
                        graph => *mut c_void, node => Node, params => *const $runtime,
                        context => *mut c_void
                    ))
                })
            }
        }
    };
}
functions!(add_h6_r7, set_h6_r7: Params6 => Params7);
functions!(add_h7_r6, set_h7_r6: Params7 => Params6);
