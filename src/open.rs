//! Opening one candidate, agreed between threads without a lock.
//!
//! Two threads that make their first call at once must not open two different
//! runtimes, and neither may wait for the other: a thread that waits here while it
//! is inside somebody's `dlopen` stops the dynamic linker for all. So a candidate
//! is announced by compare-and-swap before it is opened, and whoever finds another
//! announced opens that one; `dlopen` counts references and gives both the same.

use core::ffi::{CStr, c_char};
use core::ptr;
use core::sync::atomic::{AtomicPtr, Ordering};

use crate::dl;
use crate::intern::identity;
use crate::loaded::{LIBRARY_COUNT, Library, Loaded, Refused, accept};
use crate::text::Text;
use crate::thread;

/// The announced candidate of each library, an interned name; null while there is
/// none. One that failed is withdrawn, one that was accepted stays.
static ANNOUNCED: [AtomicPtr<c_char>; LIBRARY_COUNT] =
    [const { AtomicPtr::new(ptr::null_mut()) }; LIBRARY_COUNT];

/// Why a candidate gave nothing.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Opened {
    /// There is nothing of that name.
    Absent,
    /// There is something, and it cannot be used.
    Refused(Refused),
}

/// Opens `candidate`, or what another thread has announced before, and checks its
/// identity. On failure `why` says what is wrong with `candidate` itself.
pub(crate) fn open_agreed(
    library: Library,
    candidate: &'static CStr,
    mapped_only: bool,
    explicit: bool,
    why: &mut Text,
) -> Result<Loaded, Opened> {
    let Some(announced) = ANNOUNCED.get(library as usize) else {
        return Err(Opened::Absent);
    };
    let mine = identity(candidate);
    // Release and Acquire: an announced name was written by another thread.
    let swap = |from, to| announced.compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire);
    let mut failed_theirs: *mut c_char = ptr::null_mut();
    let mut current = ptr::null_mut();
    loop {
        match swap(current, mine) {
            Ok(_) => break,
            Err(theirs) if theirs == mine => break,
            // Withdrawn meanwhile, or announced again after it failed here too.
            Err(theirs) if theirs.is_null() || theirs == failed_theirs => current = theirs,
            Err(theirs) => {
                // SAFETY: only interned strings are announced.
                let name: &'static CStr = unsafe { CStr::from_ptr(theirs) };
                let mut unread = [0; 256];
                if let Ok(loaded) =
                    open(library, name, false, explicit, &mut Text::new(&mut unread))
                {
                    return Ok(loaded);
                }
                let _ = swap(theirs, ptr::null_mut());
                failed_theirs = theirs;
                current = ptr::null_mut();
            }
        }
    }
    let result = open(library, candidate, mapped_only, explicit, why);
    if result.is_err() {
        let _ = swap(mine, ptr::null_mut());
    }
    result
}

/// Opens and checks one file.
pub(crate) fn open(
    library: Library,
    file: &CStr,
    mapped_only: bool,
    explicit: bool,
    why: &mut Text,
) -> Result<Loaded, Opened> {
    let Some(handle) = thread::while_opening(|| dl::open(file, mapped_only, why)) else {
        why.str("no memory or no thread-specific key to open it");
        return Err(Opened::Refused(Refused::NotIt));
    };
    let Some(handle) = handle else {
        // The message of ld.so for a name that it does not find begins with that
        // name; if a dependency is what is missing, with the dependency's.
        let found_nothing = why
            .bytes()
            .strip_prefix(file.to_bytes())
            .is_some_and(|rest| {
                rest == b": cannot open shared object file: No such file or directory"
            });
        return Err(if found_nothing {
            Opened::Absent
        } else {
            Opened::Refused(Refused::NotIt)
        });
    };
    accept(handle, library, explicit, why).map_err(Opened::Refused)
}
