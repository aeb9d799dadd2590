//! A Rust static library that has nothing to do with hiplazy and brings Rust's standard
//! library along.

use std::ffi::{CStr, c_char, c_int};

/// The length of a C string, by way of what std has and core has not.
///
/// # Safety
///
/// `text` is a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn other_library(text: *const c_char) -> c_int {
    // SAFETY: as the caller promises.
    let text = unsafe { CStr::from_ptr(text) }
        .to_string_lossy()
        .into_owned();
    let thread = std::thread::spawn(move || format!("{text:?}").len() - 2);
    thread.join().map_or(-1, |length| length as c_int)
}
