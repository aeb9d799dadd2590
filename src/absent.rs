//! What a function answers when there is nothing to bind it to.
//!
//! An answer is a function too: the cold path jumps to it with the caller's
//! arguments still in place. It looks at those it needs and leaves the others.

use core::ffi::{CStr, c_char, c_int, c_uint, c_void};
use core::ptr;

use crate::failure::{Cause, Failure};
use crate::functions::{self, Class};
use crate::{error_texts, thread, translate};

const OUT_OF_MEMORY: c_int = 2;
const NO_DEVICE: c_int = 100;
const SYMBOL_NOT_FOUND: c_int = 302;
pub(crate) const INIT_FAILED: c_int = 303;
const HIPRTC_INTERNAL_ERROR: c_int = 11;
const HSA_ERROR: c_int = 0x1000;

/// The `hipError_t` of a failure.
pub(crate) fn code(cause: Cause) -> c_int {
    match cause {
        Cause::Absent(..) | Cause::Opening(_) => INIT_FAILED,
        Cause::Missing(_) => SYMBOL_NOT_FOUND,
        Cause::OutOfMemory => OUT_OF_MEMORY,
        Cause::Incompatible(..) | Cause::Undecided => translate::NOT_SUPPORTED,
        Cause::Untranslatable { code, .. } => code,
    }
}

/// The function that answers for function `index`; records the failure, unless
/// the function is one that can do its work without a runtime.
pub(crate) fn answer(index: usize, cause: Cause) -> *const c_void {
    let name = functions::name(index).unwrap_or(c"").to_bytes();
    let absent = !matches!(cause, Cause::Missing(_) | Cause::Incompatible(..));
    match name {
        b"hipGetErrorName" => return error_name as *const c_void,
        b"hipGetErrorString" => return error_string as *const c_void,
        b"hiprtcGetErrorString" => return hiprtc_error_string as *const c_void,
        b"hipGetLastError" | b"hipExtGetLastError" if absent => return last_error as *const c_void,
        b"hipPeekAtLastError" if absent => return peek_last_error as *const c_void,
        _ => {}
    }
    let class = functions::class(index);
    let no_device =
        matches!(cause, Cause::Absent(..)) && matches!(name, b"hipInit" | b"hipGetDeviceCount");
    let code = if no_device { NO_DEVICE } else { code(cause) };
    thread::record(
        Failure {
            function: Some(index),
            cause,
        },
        (class == Class::Error).then_some(code),
    );
    match class {
        Class::Error => {
            let zeroed: [&[u8]; 3] = [
                b"hipGetDeviceCount",
                b"hipRuntimeGetVersion",
                b"hipDriverGetVersion",
            ];
            match (code, absent && zeroed.contains(&name)) {
                (NO_DEVICE, true) => zero::<NO_DEVICE> as *const c_void,
                (NO_DEVICE, false) => constant::<NO_DEVICE> as *const c_void,
                (OUT_OF_MEMORY, true) => zero::<OUT_OF_MEMORY> as *const c_void,
                (OUT_OF_MEMORY, false) => constant::<OUT_OF_MEMORY> as *const c_void,
                (SYMBOL_NOT_FOUND, _) => constant::<SYMBOL_NOT_FOUND> as *const c_void,
                (translate::NOT_SUPPORTED, _) => {
                    constant::<{ translate::NOT_SUPPORTED }> as *const c_void
                }
                (_, true) => zero::<INIT_FAILED> as *const c_void,
                (_, false) => constant::<INIT_FAILED> as *const c_void,
            }
        }
        Class::Rtc => constant::<HIPRTC_INTERNAL_ERROR> as *const c_void,
        Class::Hsa => constant::<HSA_ERROR> as *const c_void,
        Class::String => empty_string as *const c_void,
        // The one such function, hipGetStreamDeviceId, has no error code; -1 is
        // what the runtime answers for a stream that it does not know.
        Class::Int => constant::<-1> as *const c_void,
        Class::Pointer | Class::Bool | Class::Void => null as *const c_void,
        Class::Struct => zero_channel as *const c_void,
    }
}

extern "C" fn constant<const VALUE: c_int>() -> c_int {
    VALUE
}

extern "C" fn null() -> *mut c_void {
    ptr::null_mut()
}

extern "C" fn empty_string() -> *const c_char {
    c"".as_ptr()
}

/// `hipChannelFormatDesc`, the only struct that is returned by value.
#[repr(C)]
struct Channel {
    bits: [c_int; 4],
    kind: c_uint,
}

extern "C" fn zero_channel() -> Channel {
    Channel {
        bits: [0; 4],
        kind: 0,
    }
}

/// For the functions whose only argument is a number to be written, which is then 0.
unsafe extern "C" fn zero<const VALUE: c_int>(number: *mut c_int) -> c_int {
    if !number.is_null() {
        // SAFETY: by the declarations of these functions it is null or writable.
        unsafe { number.write(0) };
    }
    VALUE
}

extern "C" fn last_error() -> c_int {
    thread::last_code(true)
}

extern "C" fn peek_last_error() -> c_int {
    thread::last_code(false)
}

extern "C" fn error_name(code: c_int) -> *const c_char {
    pointer(error_texts::hip(code).0)
}

extern "C" fn error_string(code: c_int) -> *const c_char {
    pointer(error_texts::hip(code).1)
}

extern "C" fn hiprtc_error_string(code: c_int) -> *const c_char {
    pointer(error_texts::hiprtc(code).1)
}

fn pointer(text: &'static CStr) -> *const c_char {
    text.as_ptr()
}
