//! Whether memory ran out. What failed for that reason is not remembered: the next
//! call tries again.

use core::sync::atomic::{AtomicU64, Ordering};

static FAILURES: AtomicU64 = AtomicU64::new(0);

/// How many allocations have failed so far, in any thread.
pub(crate) fn failures() -> u64 {
    FAILURES.load(Ordering::Relaxed)
}

/// Notes that one has failed.
pub(crate) fn failed() {
    FAILURES.fetch_add(1, Ordering::Relaxed);
}
