//! Whether memory, file descriptors or thread-specific keys ran out. What failed for
//! that reason is not remembered: the next call tries again.

use core::ffi::c_int;
use core::sync::atomic::{AtomicU64, Ordering};

static OF_MEMORY: AtomicU64 = AtomicU64::new(0);
static OF_HANDLES: AtomicU64 = AtomicU64::new(0);

/// How often each has run out so far, in any thread.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shortages {
    pub(crate) of_memory: u64,
    /// Descriptors and keys.
    pub(crate) of_handles: u64,
}

pub(crate) fn so_far() -> Shortages {
    Shortages {
        of_memory: OF_MEMORY.load(Ordering::Relaxed),
        of_handles: OF_HANDLES.load(Ordering::Relaxed),
    }
}

/// Notes that an allocation has failed.
pub(crate) fn of_memory() {
    OF_MEMORY.fetch_add(1, Ordering::Relaxed);
}

/// Notes a failed system call, or `pthread_key_create`, if it failed for want of
/// something.
pub(crate) fn by_errno(errno: c_int) {
    match errno {
        libc::ENOMEM => of_memory(),
        libc::EMFILE | libc::ENFILE | libc::EAGAIN => {
            OF_HANDLES.fetch_add(1, Ordering::Relaxed);
        }
        _ => {}
    }
}
