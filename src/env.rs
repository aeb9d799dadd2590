//! The environment variables, and when they are not listened to.
//!
//! All are ignored in a process that runs with more rights than its caller
//! (`AT_SECURE`: set-user-ID, file capabilities), as ld.so does with its own. The
//! cargo feature `env` compiles the `HIPLAZY_*` ones out when it is off.

use core::ffi::CStr;
use core::sync::atomic::{AtomicBool, Ordering};

use crate::intern::intern;
use crate::log::{self, Level};

pub(crate) const RUNTIME: &CStr = c"HIPLAZY_RUNTIME";
pub(crate) const DISABLE: &CStr = c"HIPLAZY_DISABLE";
pub(crate) const LOG: &CStr = c"HIPLAZY_LOG";
pub(crate) const SCOPE: &CStr = c"HIPLAZY_SCOPE";
pub(crate) const ABI: &CStr = c"HIPLAZY_ABI";

/// The value of one of our own variables; `None` if unset, empty or ignored.
pub(crate) fn own(name: &'static CStr) -> Option<&'static CStr> {
    if cfg!(feature = "env") {
        system(name)
    } else {
        None
    }
}

/// The value of a variable that ROCm or ld.so defines, with the same rule.
pub(crate) fn system(name: &'static CStr) -> Option<&'static CStr> {
    // SAFETY: a C string; the result is copied at once. As with every getenv, a
    // program that changes its environment in another thread races with this.
    let value = unsafe { libc::getenv(name.as_ptr()) };
    if value.is_null() {
        return None;
    }
    // SAFETY: getenv returned a C string.
    let value = unsafe { CStr::from_ptr(value) };
    if value.is_empty() {
        return None;
    }
    if secure() {
        static SAID: AtomicBool = AtomicBool::new(false);
        if !SAID.swap(true, Ordering::Relaxed) {
            // The log level is one of the ignored variables, so this one line is
            // written whatever it says.
            log::write(Level::Error, |text| {
                text.c_str(name).str(
                    " and the other variables are ignored: the process has more rights than its caller (AT_SECURE)",
                );
            });
        }
        return None;
    }
    // Without memory for a copy the environment's own string has to do: a variable
    // that is not obeyed would be worse.
    intern(value.to_bytes()).or(Some(value))
}

/// Whether a switch such as `HIPLAZY_DISABLE` is on: any value but `0`.
pub(crate) fn is_on(name: &'static CStr) -> bool {
    own(name).is_some_and(|value| value != c"0")
}

fn secure() -> bool {
    // SAFETY: no conditions.
    unsafe { libc::getauxval(libc::AT_SECURE) != 0 }
}
