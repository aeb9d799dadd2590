//! The slot table, the one jump in front of it and the cold paths behind it.
//!
//! A slot is the address that a call of one HIP function jumps to. It is always
//! callable: it first holds the function's cold path, which finds the address and
//! continues there, and after binding the function of the runtime itself. So a
//! call never tests anything.
//!
//! All `unsafe` of the hot path is in this file.
//!
//! # Atomic orderings
//!
//! A slot is stored with `Release` and loaded with `Acquire`: whoever sees a
//! runtime's address in a slot also sees the memory that the dynamic linker and
//! the runtime's constructors wrote before `store` was called. The wrapper's
//! `jmp *slot(%rip)` on x86-64 is such a load, because there every load is an
//! acquire; elsewhere the wrapper is Rust code that says `Acquire`.

use core::ffi::c_void;
use core::sync::atomic::{AtomicPtr, Ordering};

use crate::functions::COUNT;

/// The addresses of all functions, in the order of `abi/slots.txt`.
///
/// # Safety
///
/// Every entry is at all times the address of a function that may be called with
/// the arguments of the manifest's declaration. Only `store` writes, and it is
/// given addresses that the dynamic linker returned for that very link name, from
/// objects that are never closed, or those of translators for it.
///
/// The table has pages and an ELF section of its own, so that it can be made
/// read-only once it is bound.
#[repr(C, align(4096))]
pub struct Table([AtomicPtr<c_void>; COUNT]);

/// The bytes of the table that hold addresses.
#[doc(hidden)]
pub const BYTES: usize = COUNT * size_of::<AtomicPtr<c_void>>();

macro_rules! table {
    ([] $($name:ident $index:literal ($($arg:ident: $type:ty),*) -> $ret:ty;)*) => {
        /// See [`Table`].
        #[doc(hidden)]
        #[unsafe(link_section = ".hiplazy.slots")]
        pub static TABLE: Table = Table([
            $(AtomicPtr::new(cold::cold_path!($name $index)),)*
        ]);
    };
}
for_each_entry!([table] []);

// Position-independent `jmp *TABLE+n(%rip)` needs a table that cannot be
// interposed, in whatever object this code ends up.
core::arch::global_asm!(".hidden {table}", table = sym TABLE);

/// The present target of function `index`: its cold path or the bound address.
#[inline(always)]
pub fn load<const INDEX: usize>() -> *const c_void {
    const { assert!(INDEX < COUNT) };
    TABLE.0[INDEX].load(Ordering::Acquire)
}

/// What the slot of entry `index` holds; null beyond the table.
pub(crate) fn content(index: usize) -> *mut c_void {
    let slot = TABLE.0.get(index);
    slot.map_or(core::ptr::null_mut(), |slot| slot.load(Ordering::Acquire))
}

/// Binds entry `index` to `address`: the runtime's own function of that name, or the
/// translator that stands before it.
///
/// # Safety
///
/// `address` is a function with the declaration that callers of entry `index` have, in
/// an object that is fully initialised and never unloaded.
pub(crate) unsafe fn store(index: usize, address: *mut c_void) {
    if let Some(slot) = TABLE.0.get(index) {
        slot.store(address, Ordering::Release);
    }
}

/// What a cold path jumps to: never null, always callable with the arguments of
/// function `index`. See `bind::target`.
extern "C" fn target(index: u32) -> *const c_void {
    crate::bind::target(index as usize)
}

/// On x86-64 the cold paths know nothing of arguments: each loads its place in its group,
/// goes to the group's end, where that becomes its number, and joins
/// [`common`](cold::common), which keeps every register that can carry an argument. Five
/// bytes a function and sixteen a group, and right for structs, floats and stack arguments
/// alike, since the stack pointer at the final jump is the caller's.
#[cfg(all(target_arch = "x86_64", not(hiplazy_typed)))]
mod cold {
    use super::COUNT;

    /// Cold paths in a group: as many as reach its end by a jump of two bytes.
    const GROUP: usize = 24;
    /// Bytes of a cold path.
    const PATH: usize = 5;
    /// Bytes of a group's end.
    const END: usize = 16;

    /// Bytes from the first cold path to that of function `index`.
    pub(super) const fn offset(index: usize) -> usize {
        index * PATH + index / GROUP * END
    }

    /// The address of a cold path, for the table's initial value.
    macro_rules! cold_path {
        ($name:ident $index:literal) => {
            (cold::paths as *mut c_void).wrapping_byte_add(cold::offset($index))
        };
    }
    pub(super) use cold_path;

    macro_rules! cold {
        ([] $($name:ident $index:literal ($($arg:ident: $type:ty),*) -> $ret:ty;)*) => {
            /// All of them, one behind the other: 560 symbols would only be noise.
            #[unsafe(naked)]
            pub(super) unsafe extern "C" fn paths() {
                core::arch::naked_asm!(
                    // All by their bytes, whose number no assembler may change.
                    $(
                        // mov r11b, index % group
                        concat!(".byte 0x41, 0xb3, ", stringify!($index), " % {group}"),
                        // jmp 2f
                        ".byte 0xeb, 2f - . - 1",
                        concat!(".if ", stringify!($index), " % {group} == {group} - 1"),
                        "2:",
                        // movzx r11d, r11b
                        ".byte 0x45, 0x0f, 0xb6, 0xdb",
                        // add r11d, index / group * group
                        ".byte 0x41, 0x81, 0xc3",
                        concat!(".long ", stringify!($index), " / {group} * {group}"),
                        // jmp {common}
                        ".byte 0xe9",
                        ".long {common} - . - 4",
                        ".endif",
                    )*
                    // The end of the last group, unless that is full.
                    "2:",
                    ".byte 0x45, 0x0f, 0xb6, 0xdb",
                    ".byte 0x41, 0x81, 0xc3",
                    ".long {last}",
                    ".byte 0xe9",
                    ".long {common} - . - 4",
                    common = sym common,
                    group = const GROUP,
                    last = const COUNT / GROUP * GROUP,
                )
            }
        };
    }
    for_each_entry!([cold] []);

    // Assembly makes both global; they are nobody else's.
    core::arch::global_asm!(
        ".hidden {paths}",
        ".hidden {common}",
        paths = sym paths,
        common = sym common,
    );

    /// Asks for the target of function `r11d` and jumps there.
    ///
    /// Integer arguments are in rdi, rsi, rdx, rcx, r8, r9, floats in xmm0 to
    /// xmm7, the number of vector registers of a variadic call in al, a static
    /// chain in r10 (System V psABI, 3.2.3). HIP passes no wider vectors.
    #[unsafe(naked)]
    unsafe extern "C" fn common() {
        core::arch::naked_asm!(
            ".cfi_startproc",
            "push rbp",
            ".cfi_def_cfa_offset 16",
            ".cfi_offset rbp, -16",
            "mov rbp, rsp",
            ".cfi_def_cfa_register rbp",
            "push rdi",
            "push rsi",
            "push rdx",
            "push rcx",
            "push r8",
            "push r9",
            "push rax",
            "push r10",
            "sub rsp, 128",
            "movaps [rsp], xmm0",
            "movaps [rsp + 16], xmm1",
            "movaps [rsp + 32], xmm2",
            "movaps [rsp + 48], xmm3",
            "movaps [rsp + 64], xmm4",
            "movaps [rsp + 80], xmm5",
            "movaps [rsp + 96], xmm6",
            "movaps [rsp + 112], xmm7",
            "mov edi, r11d",
            "call {target}",
            "mov r11, rax",
            "movaps xmm0, [rsp]",
            "movaps xmm1, [rsp + 16]",
            "movaps xmm2, [rsp + 32]",
            "movaps xmm3, [rsp + 48]",
            "movaps xmm4, [rsp + 64]",
            "movaps xmm5, [rsp + 80]",
            "movaps xmm6, [rsp + 96]",
            "movaps xmm7, [rsp + 112]",
            "add rsp, 128",
            "pop r10",
            "pop rax",
            "pop r9",
            "pop r8",
            "pop rcx",
            "pop rdx",
            "pop rsi",
            "pop rdi",
            "pop rbp",
            ".cfi_def_cfa rsp, 8",
            "jmp r11",
            ".cfi_endproc",
            target = sym super::target,
        )
    }
}

/// Elsewhere a cold path is a typed function that calls the target with its own
/// arguments; LLVM makes a tail call of it. `--cfg hiplazy_typed` builds this form
/// on x86-64 too, so that it can be tested there.
#[cfg(not(all(target_arch = "x86_64", not(hiplazy_typed))))]
mod cold {
    #[allow(unused_imports)]
    use crate::sys::*;
    #[allow(unused_imports)]
    use core::ffi::*;

    /// The address of a cold path, for the table's initial value.
    macro_rules! cold_path {
        ($name:ident $index:literal) => {
            cold::$name as *mut c_void
        };
    }
    pub(super) use cold_path;

    macro_rules! cold {
        ([] $($name:ident $index:literal ($($arg:ident: $type:ty),*) -> $ret:ty;)*) => {$(
            #[allow(non_snake_case, clippy::too_many_arguments)]
            pub(super) unsafe extern "C" fn $name($($arg: $type),*) -> $ret {
                let target = super::target($index);
                // SAFETY: `target` is callable with the arguments of this function.
                // An answer without a runtime ignores them, which every C ABI here
                // allows: the caller passes and removes arguments.
                unsafe {
                    core::mem::transmute::<
                        *const c_void,
                        unsafe extern "C" fn($($type),*) -> $ret,
                    >(target)($($arg),*)
                }
            }
        )*};
    }
    for_each_entry!([cold] []);
}
