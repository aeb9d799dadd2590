//! Memory for paths and lists, on the heap: a first call may come from a thread with a
//! stack of 16 KiB, or from a signal handler's.

use core::ops::{Deref, DerefMut};
use core::ptr::NonNull;

use crate::shortage;

/// Bytes for a path of any length that the kernel takes.
pub(crate) const PATH_SIZE: usize = libc::PATH_MAX as usize;

/// Zeroed bytes.
pub(crate) struct Buffer {
    start: NonNull<u8>,
    len: usize,
}

impl Buffer {
    /// `len` zero bytes; `None` without memory.
    #[inline(never)]
    pub(crate) fn new(len: usize) -> Option<Buffer> {
        // SAFETY: plain allocation.
        let start = NonNull::new(unsafe { libc::calloc(len, 1) }.cast::<u8>());
        if start.is_none() {
            shortage::of_memory();
        }
        Some(Buffer { start: start?, len })
    }
}

impl Deref for Buffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: `len` initialised bytes that only this buffer owns.
        unsafe { core::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `deref`, and borrowed for writing.
        unsafe { core::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: allocated in `new`.
        unsafe { libc::free(self.start.as_ptr().cast()) }
    }
}
