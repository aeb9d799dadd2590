//! What Rust asks of a library without the standard library.
//!
//! `cargo build --release` builds such libraries. `--release --workspace` cannot:
//! cargo would then give them the features of tools that use std.

use core::alloc::{GlobalAlloc, Layout};
use core::panic::PanicInfo;

/// The C library's allocator. hiplazy allocates through `libc` itself, where a
/// failure is a value; this one is here because a dependency is built to have one,
/// and release builds contain no call of it.
struct Malloc;

// SAFETY: posix_memalign and free are an allocator; alignments below that of a
// pointer are raised to it, as posix_memalign asks.
unsafe impl GlobalAlloc for Malloc {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let align = layout.align().max(size_of::<*mut u8>());
        let mut place = core::ptr::null_mut();
        // SAFETY: a writable pointer and a valid alignment.
        match unsafe { libc::posix_memalign(&mut place, align, layout.size()) } {
            0 => place.cast(),
            _ => core::ptr::null_mut(),
        }
    }

    unsafe fn dealloc(&self, place: *mut u8, _layout: Layout) {
        // SAFETY: `place` is from `alloc`.
        unsafe { libc::free(place.cast()) }
    }
}

#[global_allocator]
static ALLOCATOR: Malloc = Malloc;

/// Never reached: the artefact tests check that no release build has a call of it.
#[panic_handler]
fn panic(_: &PanicInfo) -> ! {
    // SAFETY: no conditions.
    unsafe { libc::abort() }
}
