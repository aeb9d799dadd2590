//! `hipMemPoolProps.maxSize`, in bytes that were reserved before HIP 6.2.

use core::ffi::{CStr, c_int, c_void};
use core::mem::MaybeUninit;

use super::{NOT_SUPPORTED, Real, SUCCESS, Status, call, layout, refuse};

/// `hipMemPoolProps` with the names of 6.2.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Properties {
    alloc_type: u32,
    handle_types: u32,
    location_type: u32,
    location_id: c_int,
    win32_security_attributes: *mut c_void,
    max_size: usize,
    reserved: [u8; 56],
}
layout!(Properties: 88 bytes, no padding; alloc_type at 0, handle_types at 4, location_type at 8,
    location_id at 12, win32_security_attributes at 16, max_size at 24, reserved at 32);

/// `hipMemAllocNodeParams`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct NodeParams {
    properties: Properties,
    access: *const c_void,
    access_count: usize,
    bytesize: usize,
    pointer: *mut c_void,
}
layout!(NodeParams: 120 bytes, no padding; properties at 0, access at 88, access_count at 96, bytesize at 104,
    pointer at 112);

const NO_LIMIT: &CStr =
    c"maxSize is set, which the runtime would take for reserved bytes and not obey";

/// The properties for the other side; `is_old` for headers before 6.2, whose reserved bytes
/// must not become a limit. `None` if a limit would be ignored.
fn convert(is_old: bool, mut properties: Properties) -> Option<Properties> {
    if is_old {
        properties.max_size = 0;
    }
    (properties.max_size == 0).then_some(properties)
}

/// `hipMemPoolCreate`; `OLD` for headers before 6.2.
pub(super) unsafe extern "C" fn create<const OLD: bool>(
    pool: *mut *mut c_void,
    properties: *const Properties,
) -> Status {
    // SAFETY: as the caller called it.
    unsafe { create_for(OLD, pool, properties) }
}

#[inline(never)]
unsafe fn create_for(
    is_old: bool,
    pool: *mut *mut c_void,
    properties: *const Properties,
) -> Status {
    let forward = |properties: *const Properties| {
        // SAFETY: as the caller called it, or with a struct of the same layout.
        unsafe {
            call!(hipMemPoolCreate(pool => *mut *mut c_void, properties => *const Properties))
        }
    };
    // SAFETY: null or the caller's struct.
    let Some(given) = (unsafe { properties.as_ref() }) else {
        return forward(properties);
    };
    match convert(is_old, *given) {
        Some(own) => forward(&own),
        None => refuse(Real::hipMemPoolCreate, NOT_SUPPORTED, NO_LIMIT),
    }
}

type Node = *mut c_void;

/// `hipGraphAddMemAllocNode`, which writes the pointer of the memory into the struct.
pub(super) unsafe extern "C" fn add_node<const OLD: bool>(
    node: *mut Node,
    graph: *mut c_void,
    dependencies: *const Node,
    count: usize,
    params: *mut NodeParams,
) -> Status {
    // SAFETY: as the caller called it.
    unsafe { add_node_for(OLD, node, graph, dependencies, count, params) }
}

#[inline(never)]
unsafe fn add_node_for(
    is_old: bool,
    node: *mut Node,
    graph: *mut c_void,
    dependencies: *const Node,
    count: usize,
    params: *mut NodeParams,
) -> Status {
    let forward = |params: *mut NodeParams| {
        // SAFETY: as the caller called it, or with a struct of the same layout.
        unsafe {
            call!(hipGraphAddMemAllocNode(
                node => *mut Node, graph => *mut c_void, dependencies => *const Node,
                count => usize, params => *mut NodeParams
            ))
        }
    };
    // SAFETY: null or the caller's struct.
    let Some(mut own) = unsafe { params.as_ref() }.copied() else {
        return forward(params);
    };
    let Some(properties) = convert(is_old, own.properties) else {
        return refuse(Real::hipGraphAddMemAllocNode, NOT_SUPPORTED, NO_LIMIT);
    };
    own.properties = properties;
    let status = forward(&mut own);
    if status == SUCCESS {
        // SAFETY: not null; the one field that the function writes.
        unsafe { (*params).pointer = own.pointer };
    }
    status
}

/// `hipGraphMemAllocNodeGetParams` for headers since 6.2 on an older runtime: its reserved
/// bytes are no limit.
pub(super) unsafe extern "C" fn node_params(node: Node, params: *mut NodeParams) -> Status {
    let mut own = MaybeUninit::<NodeParams>::zeroed();
    let place = match params.is_null() {
        true => params,
        false => own.as_mut_ptr(),
    };
    // SAFETY: room for the struct, or null.
    let status =
        unsafe { call!(hipGraphMemAllocNodeGetParams(node => Node, place => *mut NodeParams)) };
    if status == SUCCESS && !params.is_null() {
        // SAFETY: zeroed at first, and all bit patterns are valid.
        let mut own = unsafe { own.assume_init() };
        own.properties.max_size = 0;
        // SAFETY: not null, hence writable.
        unsafe { params.write(own) };
    }
    status
}
