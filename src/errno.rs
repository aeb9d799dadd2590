//! This thread's `errno`.

use core::ffi::c_int;

pub(crate) fn get() -> c_int {
    // SAFETY: glibc's errno of this thread.
    unsafe { *libc::__errno_location() }
}

pub(crate) fn set(value: c_int) {
    // SAFETY: glibc's errno of this thread.
    unsafe { *libc::__errno_location() = value };
}
