//! The runtime's own functions, as translators call them.

use core::ffi::{CStr, c_void};
use core::sync::atomic::{AtomicPtr, Ordering};

use crate::functions;

include!(concat!(env!("OUT_DIR"), "/real.rs"));

// A number beyond all others says that a function has none.
const _: () = assert!(REAL_COUNT < u8::MAX as usize);

static ADDRESSES: [AtomicPtr<c_void>; REAL_COUNT] =
    [const { AtomicPtr::new(core::ptr::null_mut()) }; REAL_COUNT];

impl Real {
    /// Its link name.
    pub(crate) fn name(self) -> &'static CStr {
        functions::changed_name(self as u8).unwrap_or(c"")
    }

    /// Its address; null before it is kept or if the runtime lacks it.
    pub(crate) fn address(self) -> *const c_void {
        kept(self as u8).map_or(core::ptr::null(), <*mut c_void>::cast_const)
    }
}

/// The numbers of all.
pub(crate) fn numbers() -> impl Iterator<Item = u8> {
    (0u8..).take(REAL_COUNT)
}

/// The address of function `number`; `None` before it is kept or if the runtime lacks it.
pub(crate) fn kept(number: u8) -> Option<*mut c_void> {
    let address = ADDRESSES.get(usize::from(number))?.load(Ordering::Acquire);
    (!address.is_null()).then_some(address)
}

/// Keeps the address of function `number`, `None` if the runtime lacks it: once the runtime
/// is published and before a slot holds a translator. Two threads keep the same.
pub(crate) fn keep(number: u8, address: Option<*mut c_void>) {
    if let Some(place) = ADDRESSES.get(usize::from(number)) {
        place.store(address.unwrap_or(core::ptr::null_mut()), Ordering::Release);
    }
}
