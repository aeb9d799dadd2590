//! An auditing module for ld.so (rtld-audit(7)): tells `hiplazy run` which objects a
//! process loads, and what is bound to what.
//!
//! It runs in other people's programs, in a namespace without a C library, in any thread
//! and in signal handlers: no allocation, no lock, no thread-local variable, no descriptor
//! that stays open, and `errno` is never touched. Calls do not pass through it: there is
//! no `la_pltenter` and no `la_pltexit`.

#![no_std]

mod kernel;
#[cfg(feature = "module")]
mod memory;
mod message;
mod names;
mod objects;
mod settings;
// One file for both ends, of which each needs a part.
#[allow(dead_code)]
mod wire;

use core::ffi::{c_char, c_long, c_uint};
use core::sync::atomic::{AtomicBool, Ordering};

use message::tell;
use objects::LinkMap;
use wire::Kind;

/// The first version of the interface that also tells what is bound when an object is
/// loaded (glibc 2.35), and the last that is known here.
const VERSION: c_uint = 2;
/// Tell of references that the object has, and of those to it.
const BIND_TO_AND_FROM: c_uint = 3;
/// `LA_ACT_CONSISTENT`.
const CONSISTENT: c_uint = 0;

/// The objects that the program begins with have been relocated.
static BEGUN: AtomicBool = AtomicBool::new(false);

/// `Elf64_Sym`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Symbol {
    name: u32,
    info: u8,
    other: u8,
    section: u16,
    value: usize,
    size: u64,
}

/// The first call. Zero has ld.so go on without this module.
#[unsafe(no_mangle)]
pub extern "C" fn la_version(version: c_uint) -> c_uint {
    let kind = if version < VERSION {
        Kind::TooOld
    } else {
        Kind::Started
    };
    tell(kind, [version as u64, 0, 0, 0, 0], &[]);
    if version < VERSION { 0 } else { VERSION }
}

/// An object was mapped, and is not relocated yet.
///
/// # Safety
///
/// ld.so's: a link map, and a cookie of its own.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn la_objopen(
    map: *const LinkMap,
    namespace: c_long,
    cookie: *mut usize,
) -> c_uint {
    // SAFETY: ld.so passes both, and holds its lock.
    unsafe {
        *cookie = map as usize;
        objects::opened(map, namespace);
    }
    BIND_TO_AND_FROM
}

/// All that the program begins with is loaded and relocated.
#[unsafe(no_mangle)]
pub extern "C" fn la_preinit(_cookie: *mut usize) {
    // SAFETY: there is one thread.
    unsafe { objects::look_at_words() };
    BEGUN.store(true, Ordering::Relaxed);
}

/// Objects come or go, and all that came before has been relocated by now; or they have
/// come or gone.
#[unsafe(no_mangle)]
pub extern "C" fn la_activity(_cookie: *mut usize, what: c_uint) {
    if what == CONSISTENT {
        tell(Kind::Complete, [0; wire::VALUES], &[]);
    } else if BEGUN.load(Ordering::Relaxed) {
        // SAFETY: ld.so holds its lock.
        unsafe { objects::look_at_words() };
    }
}

/// An object is about to be unmapped, or the process ends.
///
/// # Safety
///
/// ld.so's: the cookie of an object that is there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn la_objclose(cookie: *mut usize) -> c_uint {
    // SAFETY: the cookie is what `la_objopen` made it.
    unsafe { objects::closed(*cookie as *const LinkMap) };
    0
}

/// A function was looked up: by a PLT entry, or by `dlsym`.
///
/// # Safety
///
/// ld.so's: a symbol, the cookies of two objects, and a name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn la_symbind64(
    symbol: *const Symbol,
    _index: c_uint,
    from: *const usize,
    to: *const usize,
    flags: *const c_uint,
    name: *const c_char,
) -> usize {
    // SAFETY: ld.so passes all of them.
    let value = unsafe { (*symbol).value };
    // SAFETY: as above; a name ends with a zero.
    unsafe {
        if names::cover(name) {
            let values = [*from as u64, *to as u64, value as u64, u64::from(*flags), 0];
            tell(Kind::Bound, values, &[names::bytes(name)]);
        }
    }
    value
}

#[cfg(feature = "module")]
#[panic_handler]
fn panicked(_: &core::panic::PanicInfo<'_>) -> ! {
    // Nothing here panics: there is no index and no arithmetic that could.
    loop {}
}
