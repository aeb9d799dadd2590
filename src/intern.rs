//! Strings that live as long as the process, each kept once.
//!
//! Paths and reports are handed to C callers and to other threads, which may read
//! them at any time, so they are never freed; keeping one copy of each bounds what
//! repeated searches can use. Equal strings have equal addresses.

use core::ffi::{CStr, c_char};
use core::mem::size_of;
use core::ptr;
use core::sync::atomic::{AtomicPtr, Ordering};

use crate::shortage;

/// Followed in the same allocation by the string and its NUL.
struct Node {
    next: *const Node,
    len: usize,
}

impl Node {
    fn string(&self) -> &'static CStr {
        // SAFETY: `add` wrote `len` bytes without NUL and a NUL behind the node,
        // and no node is ever freed or changed.
        unsafe {
            let start = ptr::from_ref(self).add(1).cast::<u8>();
            CStr::from_bytes_with_nul_unchecked(core::slice::from_raw_parts(start, self.len + 1))
        }
    }
}

/// The newest node. Nodes are only ever added, by compare-and-swap (Release, so
/// that a reader's Acquire sees their bytes).
static NEWEST: AtomicPtr<Node> = AtomicPtr::new(ptr::null_mut());

/// The kept copy of `text`, up to its first NUL; `None` without memory.
pub(crate) fn intern(text: &[u8]) -> Option<&'static CStr> {
    let text = text.split(|byte| *byte == 0).next().unwrap_or(b"");
    let mut newest = NEWEST.load(Ordering::Acquire);
    if let Some(found) = find(newest, ptr::null(), text) {
        return Some(found);
    }
    let node = add(text)?;
    loop {
        // SAFETY: the node is not shared before the exchange below succeeds.
        unsafe { (*node).next = newest };
        match NEWEST.compare_exchange(newest, node, Ordering::AcqRel, Ordering::Acquire) {
            // SAFETY: the node is written and will never be freed.
            Ok(_) => return Some(unsafe { &*node }.string()),
            Err(newer) => {
                if let Some(found) = find(newer, newest, text) {
                    // SAFETY: nobody else has seen the node.
                    unsafe { libc::free(node.cast()) };
                    return Some(found);
                }
                newest = newer;
            }
        }
    }
}

/// Looks for `text` from `node` on, up to but without `end`.
fn find(mut node: *const Node, end: *const Node, text: &[u8]) -> Option<&'static CStr> {
    while !node.is_null() && node != end {
        // SAFETY: nodes in the list are written, and never freed.
        let current = unsafe { &*node };
        if current.string().to_bytes() == text {
            return Some(current.string());
        }
        node = current.next;
    }
    None
}

fn add(text: &[u8]) -> Option<*mut Node> {
    // SAFETY: plain allocation, large enough for the node, the text and a NUL.
    let node = unsafe { libc::malloc(size_of::<Node>() + text.len() + 1) }.cast::<Node>();
    if node.is_null() {
        shortage::of_memory();
        return None;
    }
    // SAFETY: within the allocation, which malloc aligned for a node.
    unsafe {
        node.write(Node {
            next: ptr::null(),
            len: text.len(),
        });
        let start = node.add(1).cast::<u8>();
        ptr::copy_nonoverlapping(text.as_ptr(), start, text.len());
        start.add(text.len()).write(0);
    }
    Some(node)
}

/// The address of an interned string, as its identity.
pub(crate) fn identity(text: &'static CStr) -> *mut c_char {
    text.as_ptr().cast_mut()
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::vec::Vec;

    #[test]
    fn equal_strings_are_one_string_from_any_thread() {
        let addresses: Vec<usize> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..16)
                .map(|_| scope.spawn(|| intern(b"/opt/rocm/lib").unwrap().as_ptr() as usize))
                .collect();
            threads
                .into_iter()
                .map(|thread| thread.join().unwrap())
                .collect()
        });
        assert!(addresses.iter().all(|address| *address == addresses[0]));
        assert_eq!(intern(b"/opt/rocm/lib\0rest").unwrap(), c"/opt/rocm/lib");
        assert_eq!(intern(b"").unwrap(), c"");
    }
}
