//! What each thread keeps: its last failure, and whether it is inside one of our
//! own `dlopen` calls.
//!
//! `#[thread_local]` is not stable Rust and `std::thread_local!` needs std, so
//! this is a `pthread_key_create` key. A block is one allocation and its
//! destructor is `free` itself: nothing of ours runs at thread exit, not even
//! when the library that holds this code is gone by then.

use core::ffi::{c_char, c_int, c_void};
use core::num::NonZeroUsize;
use core::ptr;
use core::sync::atomic::{AtomicBool, Ordering};

use once_cell::race::OnceNonZeroUsize;

use crate::dl::{self, Object};
use crate::failure::{Cause, Failure};
use crate::shortage;
use crate::text::Text;

/// Longest text of [`last_error`](crate::last_error), in bytes, with its NUL.
const TEXT_SIZE: usize = 12 * 1024;

/// One thread's block. All zero is its initial state.
struct Block {
    /// Depth of our own `dlopen` calls on this thread.
    opening: u32,
    /// Whether this thread is asking the runtime for its version.
    asking: bool,
    /// What `hipGetLastError` answers while there is no runtime.
    code: c_int,
    failure: Option<Failure>,
    text: [u8; TEXT_SIZE],
}

/// The key plus one, since 0 is a valid key.
static KEY: OnceNonZeroUsize = OnceNonZeroUsize::new();

fn key() -> Option<libc::pthread_key_t> {
    let create = || {
        let mut key: libc::pthread_key_t = 0;
        // SAFETY: `key` is a place to write to, and `free` is what releases a block
        // that `calloc` made.
        let status = unsafe { libc::pthread_key_create(&mut key, Some(libc::free)) };
        if status != 0 {
            // EAGAIN: no key is left.
            shortage::by_errno(status);
            return Err(());
        }
        // The key outlives the library that made it. So the library stays as well, or
        // each time it is loaded again would take another of the process's 1024.
        if let Some(object) = Object::containing((&raw const KEY).cast()) {
            dl::pin(object);
        }
        NonZeroUsize::new(key as usize + 1).ok_or(())
    };
    // Two threads may both create a key here; the loser's stays unused.
    let key = KEY.get_or_try_init(create).ok()?;
    Some((key.get() - 1) as libc::pthread_key_t)
}

/// This thread's block if it has one already.
fn existing() -> Option<*mut Block> {
    let key = (KEY.get()?.get() - 1) as libc::pthread_key_t;
    // SAFETY: the key exists and is never deleted.
    let block = unsafe { libc::pthread_getspecific(key) }.cast::<Block>();
    (!block.is_null()).then_some(block)
}

/// This thread's block, made if need be; `None` without memory.
fn block() -> Option<*mut Block> {
    let key = key()?;
    if let Some(block) = existing() {
        return Some(block);
    }
    // SAFETY: plain allocation; zero bytes are a valid `Block` (`Option<Failure>`
    // is written below before anyone reads it).
    let block = unsafe { libc::calloc(1, size_of::<Block>()) }.cast::<Block>();
    if block.is_null() {
        shortage::of_memory();
        return None;
    }
    // SAFETY: fresh memory of a block's size and of malloc's alignment.
    unsafe { ptr::addr_of_mut!((*block).failure).write(None) };
    // SAFETY: the key exists; the block was made by `calloc`, as its destructor
    // `free` wants it.
    if unsafe { libc::pthread_setspecific(key, block.cast::<c_void>()) } != 0 {
        shortage::of_memory();
        // SAFETY: nobody else has seen the block.
        unsafe { libc::free(block.cast()) };
        return None;
    }
    Some(block)
}

/// Records `failure` as this thread's last, and `code` as its last HIP error if
/// the function answers in HIP errors.
pub(crate) fn record(failure: Failure, code: Option<c_int>) {
    let Some(block) = block() else {
        UNKEPT.store(true, Ordering::Relaxed);
        return;
    };
    // SAFETY: the block is this thread's alone and no reference into it is live.
    unsafe {
        (*block).failure = Some(failure);
        if let Some(code) = code {
            (*block).code = code;
        }
    }
}

/// Whether some thread had no block to keep a failure in.
static UNKEPT: AtomicBool = AtomicBool::new(false);

/// This thread's last HIP error while there is no runtime; `clear` resets it.
pub(crate) fn last_code(clear: bool) -> c_int {
    let Some(block) = existing() else { return 0 };
    // SAFETY: the block is this thread's alone and no reference into it is live.
    unsafe {
        let code = (*block).code;
        if clear {
            (*block).code = 0;
        }
        code
    }
}

/// The text of this thread's last failure, NUL-terminated; valid until this
/// thread's next call of this function.
pub(crate) fn last_error() -> *const c_char {
    let Some(block) = existing() else {
        let text = match UNKEPT.load(Ordering::Relaxed) {
            true => {
                c"a failure could not be kept: no memory or no thread-specific data key is left"
            }
            false => c"",
        };
        return text.as_ptr();
    };
    // SAFETY: the block is this thread's alone and no reference into it is live.
    let Some(failure) = (unsafe { (*block).failure }) else {
        return c"".as_ptr();
    };
    // A runtime that is asked for its version may run a profiler's code, which may
    // come back here. After this it is known, or this is such code.
    if let Cause::Missing(loaded) | Cause::Incompatible(loaded, _) = failure.cause {
        loaded.version();
    }
    // SAFETY: as above; writing the text calls nothing that comes back here.
    let buffer = unsafe { &mut *ptr::addr_of_mut!((*block).text) };
    let mut text = Text::new(buffer);
    failure.describe(&mut text);
    text.as_c_str()
}

/// Whether this thread is inside one of our own `dlopen` calls.
pub(crate) fn opening() -> bool {
    // SAFETY: the block is this thread's alone and no reference into it is live.
    existing().is_some_and(|block| unsafe { (*block).opening } > 0)
}

/// Runs `open` with this thread marked as inside our own `dlopen`.
///
/// `None`, without running it, if there is no memory for the mark.
pub(crate) fn while_opening<R>(open: impl FnOnce() -> R) -> Option<R> {
    let block = block()?;
    // SAFETY: the block is this thread's alone and no reference into it is live,
    // here and after `open`, which may call back into this file.
    unsafe { (*block).opening += 1 };
    let result = open();
    // SAFETY: as above.
    unsafe { (*block).opening -= 1 };
    Some(result)
}

/// Runs `ask` with this thread marked as asking the runtime for its version.
///
/// `None`, without running it, if the thread is asking already, or if there is no memory
/// for the mark.
pub(crate) fn while_asking<R>(ask: impl FnOnce() -> R) -> Option<R> {
    let block = block()?;
    // SAFETY: the block is this thread's alone and no reference into it is live, here and
    // after `ask`, which may call back into this file.
    if unsafe { (*block).asking } {
        return None;
    }
    // SAFETY: as above.
    unsafe { (*block).asking = true };
    let result = ask();
    // SAFETY: as above.
    unsafe { (*block).asking = false };
    Some(result)
}
