//! Which names are told about.

use core::ffi::{CStr, c_char};

use crate::settings::settings;

/// A name without its zero.
///
/// # Safety
///
/// `name` ends with a zero, and outlives the call.
pub(crate) unsafe fn bytes<'a>(name: *const c_char) -> &'a [u8] {
    // SAFETY: the caller's promise.
    unsafe { CStr::from_ptr(name) }.to_bytes()
}

/// Whether `hiplazy run` may want to know about a name: what it leaves out decides
/// itself.
///
/// # Safety
///
/// `name` ends with a zero.
pub(crate) unsafe fn cover(name: *const c_char) -> bool {
    // SAFETY: the caller's promise.
    let name = unsafe { bytes(name) };
    let settings = settings();
    if settings.mangled != 0 && name.starts_with(b"_Z") && has_hip(name) {
        return true;
    }
    let mut prefixes = settings.prefixes.split(|byte| *byte == 0);
    prefixes
        .by_ref()
        .take_while(|prefix| !prefix.is_empty())
        .any(|prefix| name.starts_with(prefix))
}

fn has_hip(name: &[u8]) -> bool {
    name.windows(3).any(|three| three == b"hip")
}
