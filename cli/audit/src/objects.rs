//! The objects of the process, and the words in them that no event tells of: GOT entries
//! and pointers in data, which ld.so fills when it relocates an object.

use core::ffi::{c_char, c_long};
use core::ptr;
use core::sync::atomic::{AtomicPtr, Ordering};

use crate::Symbol;
use crate::kernel::{self, PATH};
use crate::message::tell;
use crate::names;
use crate::wire::Kind;

/// The part of ld.so's `struct link_map` that everybody may see.
#[repr(C)]
pub struct LinkMap {
    bias: usize,
    name: *const c_char,
    dynamic: *const Dynamic,
    next: *const LinkMap,
    previous: *const LinkMap,
}

/// `Elf64_Dyn`.
#[repr(C)]
struct Dynamic {
    tag: usize,
    value: usize,
}

/// `Elf64_Rela`.
#[repr(C)]
struct Relocation {
    address: usize,
    kind: u32,
    symbol: u32,
    addend: usize,
}

/// Tags of the dynamic segment.
const STRINGS: usize = 5;
const SYMBOLS: usize = 6;
const RELOCATIONS: usize = 7;
const RELOCATIONS_SIZE: usize = 8;

/// Relocations that put the address of a symbol into a word: `GLOB_DAT` and the absolute
/// one. (PLT entries have events of their own.)
#[cfg(target_arch = "x86_64")]
const WORDS: [u32; 2] = [6, 1];
#[cfg(target_arch = "aarch64")]
const WORDS: [u32; 2] = [1025, 257];

/// An object whose words have not been looked at.
struct Pending {
    map: *const LinkMap,
    next: *mut Pending,
}

/// Those objects, and records for more. ld.so's lock is held by whoever changes them.
static PENDING: AtomicPtr<Pending> = AtomicPtr::new(ptr::null_mut());
static FREE: AtomicPtr<Pending> = AtomicPtr::new(ptr::null_mut());

/// # Safety
///
/// `map` is an object that has just been mapped, and ld.so's lock is held.
pub(crate) unsafe fn opened(map: *const LinkMap, namespace: c_long) {
    let mut own = [0_u8; PATH];
    // SAFETY: the caller's promise; the name of an object ends with a zero.
    let (bias, name) = unsafe { ((*map).bias, names::bytes((*map).name)) };
    // The program itself has no name, and the kernel's vdso no file.
    let name = match name {
        [] => kernel::program(&mut own),
        name if !name.contains(&b'/') => return,
        name => name,
    };
    let (device, inode) = kernel::device_and_inode(name);
    let mut folder = [0_u8; PATH];
    let (folder, between) = match name {
        [b'/', ..] => (&[][..], &b""[..]),
        _ => (kernel::current_folder(&mut folder), &b"/"[..]),
    };
    let values = [map as u64, namespace as u64, bias as u64, device, inode];
    // A name without its zero is a part of each buffer.
    tell(Kind::Opened, values, &[folder, between, without_zero(name)]);
    // SAFETY: the lock is held.
    unsafe { remember(map) };
}

fn without_zero(name: &[u8]) -> &[u8] {
    name.split(|byte| *byte == 0).next().unwrap_or(name)
}

/// # Safety
///
/// `map` is an object that is still there.
pub(crate) unsafe fn closed(map: *const LinkMap) {
    // SAFETY: the lock is held. At the end of the process it need not be, and then the
    // list is empty: `la_activity` has come before.
    unsafe { forget(map) };
    tell(Kind::Closed, [map as u64, 0, 0, 0, 0], &[]);
}

/// Tells what is in the words of objects that have been relocated since the last look.
///
/// # Safety
///
/// ld.so's lock is held, and all objects have been relocated.
pub(crate) unsafe fn look_at_words() {
    // SAFETY: who is in the list is there: `closed` takes it out. Records are never freed.
    unsafe {
        while let Some(first) = PENDING.load(Ordering::Relaxed).as_mut() {
            let map = first.map;
            forget(map);
            tell_words(map);
        }
    }
}

unsafe fn remember(map: *const LinkMap) {
    let mut free = FREE.load(Ordering::Relaxed);
    if free.is_null() {
        let Some((place, bytes)) = kernel::pages() else {
            return;
        };
        let records = place.cast::<Pending>();
        for at in 0..bytes / size_of::<Pending>() {
            // SAFETY: within the new pages, which are aligned and nobody else's.
            unsafe {
                let record = records.add(at);
                record.write(Pending {
                    map: ptr::null(),
                    next: free,
                });
                free = record;
            }
        }
    }
    // SAFETY: a free record, and the lock is held.
    unsafe {
        FREE.store((*free).next, Ordering::Relaxed);
        (*free).map = map;
        (*free).next = PENDING.load(Ordering::Relaxed);
    }
    PENDING.store(free, Ordering::Relaxed);
}

/// Takes an object out of the list; whether it was there.
unsafe fn forget(map: *const LinkMap) -> bool {
    let mut before: *mut Pending = ptr::null_mut();
    let mut at = PENDING.load(Ordering::Relaxed);
    // SAFETY: records of the list are never freed, and the lock is held.
    unsafe {
        while !at.is_null() && (*at).map != map {
            before = at;
            at = (*at).next;
        }
        if at.is_null() {
            return false;
        }
        if before.is_null() {
            PENDING.store((*at).next, Ordering::Relaxed);
        } else {
            (*before).next = (*at).next;
        }
        (*at).next = FREE.load(Ordering::Relaxed);
    }
    FREE.store(at, Ordering::Relaxed);
    true
}

/// # Safety
///
/// `map` is an object that is there, mapped by ld.so from a file that it has accepted.
unsafe fn tell_words(map: *const LinkMap) {
    let (mut strings, mut symbols, mut relocations, mut size) = (0, 0, 0, 0);
    // SAFETY: ld.so has walked this segment already; it ends with a zero.
    let bias = unsafe {
        let mut entry = (*map).dynamic;
        while (*entry).tag != 0 {
            let value = (*entry).value;
            match (*entry).tag {
                STRINGS => strings = value,
                SYMBOLS => symbols = value,
                RELOCATIONS => relocations = value,
                RELOCATIONS_SIZE => size = value,
                _ => {}
            }
            entry = entry.add(1);
        }
        (*map).bias
    };
    if strings == 0 || symbols == 0 || relocations == 0 {
        return;
    }
    // ld.so has made addresses of them, unless the segment is read-only.
    let place = |value: usize| match value < bias {
        true => value.wrapping_add(bias),
        false => value,
    };
    let (strings, symbols) = (
        place(strings) as *const c_char,
        place(symbols) as *const Symbol,
    );
    let relocations = place(relocations) as *const Relocation;
    for at in 0..size / size_of::<Relocation>() {
        // SAFETY: ld.so has followed all of these to relocate the object.
        unsafe {
            let relocation = &*relocations.add(at);
            if relocation.symbol == 0 || !WORDS.contains(&relocation.kind) {
                continue;
            }
            let name = strings.add((*symbols.add(relocation.symbol as usize)).name as usize);
            if names::cover(name) {
                let word = bias.wrapping_add(relocation.address) as *const usize;
                let word = word.read_volatile().wrapping_sub(relocation.addend);
                // Nobody has a weak one; or the object could not be loaded.
                if word == 0 {
                    continue;
                }
                let values = [map as u64, relocation.address as u64, word as u64, 0, 0];
                tell(Kind::Word, values, &[names::bytes(name)]);
            }
        }
    }
}
