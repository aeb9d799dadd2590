//! What kind of memory a pointer points to, in the caller's numbers.

use core::ffi::{c_int, c_uint, c_void};
use core::mem::MaybeUninit;

use super::{
    INVALID_VALUE, OUT_OF_MEMORY, Real, SUCCESS, Status, call, layout, memory_type, refuse,
};
use crate::buffer::Buffer;

/// `hipPointerAttribute_t` of every version; the first field was called `memoryType`
/// before 6.0.
#[repr(C)]
pub(super) struct Attributes {
    r#type: u32,
    device: c_int,
    device_pointer: *mut c_void,
    host_pointer: *mut c_void,
    is_managed: c_int,
    allocation_flags: c_uint,
}
layout!(Attributes: 32 bytes, no padding; r#type at 0, device at 4, device_pointer at 8,
    host_pointer at 16, is_managed at 24, allocation_flags at 28);

/// `HIP_POINTER_ATTRIBUTE_MEMORY_TYPE`, the attribute whose values were renumbered.
const MEMORY_TYPE: u32 = 2;

/// No memory type: what the runtime has not written.
const UNWRITTEN: u32 = 0x8a5a_5a5a;

/// HIP 5 answers "invalid value" for memory that HIP 6 calls unregistered; what has no
/// other number is answered in the same way.
fn unknown(function: Real) -> Status {
    refuse(
        function,
        INVALID_VALUE,
        c"the runtime's memory type has no counterpart in the caller's headers (hipMemoryTypeUnregistered is an error in HIP 5)",
    )
}

/// `hipPointerGetAttributes`; `R5` for a runtime of HIP 5, whose answer goes up.
///
/// Programs call it often, so that each direction has code of its own.
pub(super) unsafe extern "C" fn get<const R5: bool>(
    attributes: *mut Attributes,
    pointer: *const c_void,
) -> Status {
    let mut own = MaybeUninit::<Attributes>::zeroed();
    let place = if attributes.is_null() {
        core::ptr::null_mut()
    } else {
        own.as_mut_ptr()
    };
    // SAFETY: the prototype of every version; `own` has the size that every version
    // writes.
    let status = unsafe {
        call!(hipPointerGetAttributes(place => *mut Attributes, pointer => *const c_void))
    };
    if status != SUCCESS || attributes.is_null() {
        return status;
    }
    // SAFETY: zeroed at first, and all bit patterns are valid.
    let mut own = unsafe { own.assume_init() };
    let Some(kind) = memory_type::convert(R5, own.r#type) else {
        return unknown(Real::hipPointerGetAttributes);
    };
    own.r#type = kind;
    // SAFETY: the caller's pointer is not null, hence writable for its struct.
    unsafe { attributes.write(own) };
    SUCCESS
}

/// `hipPointerGetAttribute`.
pub(super) unsafe extern "C" fn get_one<const R5: bool>(
    data: *mut c_void,
    attribute: u32,
    pointer: *mut c_void,
) -> Status {
    // SAFETY: as the caller called it.
    unsafe { get_one_from(R5, data, attribute, pointer) }
}

#[inline(never)]
unsafe fn get_one_from(
    is_5: bool,
    data: *mut c_void,
    attribute: u32,
    pointer: *mut c_void,
) -> Status {
    if attribute != MEMORY_TYPE || data.is_null() {
        // SAFETY: as the caller called it.
        return unsafe {
            call!(hipPointerGetAttribute(data => *mut c_void, attribute => u32, pointer => *mut c_void))
        };
    }
    let mut kind = UNWRITTEN;
    let place = (&raw mut kind).cast();
    // SAFETY: this attribute is one number of 32 bits in every version.
    let status = unsafe {
        call!(hipPointerGetAttribute(place => *mut c_void, attribute => u32, pointer => *mut c_void))
    };
    if status != SUCCESS || kind == UNWRITTEN {
        return status;
    }
    let Some(kind) = memory_type::convert(is_5, kind) else {
        return unknown(Real::hipPointerGetAttribute);
    };
    // SAFETY: not null, and a place for this attribute, as the caller says.
    unsafe { data.cast::<u32>().write(kind) };
    SUCCESS
}

/// `hipDrvPointerGetAttributes`: several attributes, each with its own place.
pub(super) unsafe extern "C" fn get_many<const R5: bool>(
    count: c_uint,
    attributes: *const u32,
    data: *mut *mut c_void,
    pointer: *mut c_void,
) -> Status {
    // SAFETY: as the caller called it.
    unsafe { get_many_from(R5, count, attributes, data, pointer) }
}

#[inline(never)]
unsafe fn get_many_from(
    is_5: bool,
    count: c_uint,
    attributes: *const u32,
    data: *mut *mut c_void,
    pointer: *mut c_void,
) -> Status {
    let (count_of, attributes_of, data_of) = (count as usize, attributes, data);
    let forward = |data: *mut *mut c_void| {
        // SAFETY: as the caller called it, `data` being his or of the same length.
        unsafe {
            call!(hipDrvPointerGetAttributes(
                count => c_uint, attributes => *const u32, data => *mut *mut c_void,
                pointer => *mut c_void
            ))
        }
    };
    if count == 0 || attributes.is_null() || data.is_null() {
        return forward(data);
    }
    // SAFETY: neither is null, and both have `count` elements, as the caller says.
    let (asked, places) = unsafe {
        (
            core::slice::from_raw_parts(attributes_of, count_of),
            core::slice::from_raw_parts(data_of, count_of),
        )
    };
    if !asked.contains(&MEMORY_TYPE) {
        return forward(data);
    }
    let size = count_of.checked_mul(size_of::<*mut c_void>());
    let Some(mut buffer) = size.and_then(Buffer::new) else {
        return refuse(
            Real::hipDrvPointerGetAttributes,
            OUT_OF_MEMORY,
            c"no memory for a list of as many places as there are attributes",
        );
    };
    // The runtime's number for the memory type; the same however often it is asked. It is
    // asked alone at first: the other attributes go right into the caller's places, which
    // stay as they are if it has no counterpart.
    let mut kind = UNWRITTEN;
    let (one, attribute) = (1, MEMORY_TYPE);
    let mut kind_place: *mut c_void = (&raw mut kind).cast();
    // SAFETY: one attribute and its place, which is one number of 32 bits.
    let status = unsafe {
        call!(hipDrvPointerGetAttributes(
            one => c_uint, &raw const attribute => *const u32,
            &raw mut kind_place => *mut *mut c_void, pointer => *mut c_void
        ))
    };
    if status != SUCCESS {
        return status;
    }
    let converted = memory_type::convert(is_5, kind);
    if converted.is_none() && kind != UNWRITTEN {
        return unknown(Real::hipDrvPointerGetAttributes);
    }
    let own: *mut *mut c_void = buffer.as_mut_ptr().cast();
    for (index, (attribute, place)) in asked.iter().zip(places).enumerate() {
        let place = match *attribute {
            MEMORY_TYPE if !place.is_null() => kind_place,
            _ => *place,
        };
        // SAFETY: `own` has `count` pointers, and malloc aligned it for them.
        unsafe { own.add(index).write(place) };
    }
    let status = forward(own);
    if status != SUCCESS {
        return status;
    }
    for (attribute, place) in asked.iter().zip(places) {
        if let Some(converted) = converted
            && *attribute == MEMORY_TYPE
            && !place.is_null()
        {
            // SAFETY: a place for this attribute, as the caller says.
            unsafe { place.cast::<u32>().write(converted) };
        }
    }
    SUCCESS
}
