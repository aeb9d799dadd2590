//! What `hiplazy run` has written into the file of this module.

use core::cell::UnsafeCell;

use crate::wire::{MAGIC, PREFIXES, Settings};

/// A value that is in the file, not in the code.
struct InFile(UnsafeCell<Settings>);

// SAFETY: nobody writes to it once it is loaded.
unsafe impl Sync for InFile {}

#[used]
static SETTINGS: InFile = InFile(UnsafeCell::new(Settings {
    magic: MAGIC,
    token: [0; 16],
    address: [0; 32],
    mangled: 0,
    prefixes: [0; PREFIXES],
}));

/// The settings.
pub(crate) fn settings() -> &'static Settings {
    // The compiler must not see what they were when it made the file.
    let settings = core::hint::black_box(SETTINGS.0.get());
    // SAFETY: a static, to which nobody writes.
    unsafe { &*settings }
}
