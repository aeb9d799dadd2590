//! Which HIP headers the caller was compiled with.
//!
//! Three may know, and the first of them is believed: the program itself
//! ([`set_header_version`]); a record in the object that this library is linked into
//! (`header_version.c` of the install tree, which the CMake targets add to whoever
//! links them); with the feature `bindgen` the headers that this build was generated
//! from.

use core::ffi::c_int;
use core::sync::atomic::{AtomicI32, Ordering};

/// What the program said, 0 if it has not.
static SAID: AtomicI32 = AtomicI32::new(0);

/// The headers that this build was generated from, 0 if it was from the manifest.
const GENERATED: c_int = include!(concat!(env!("OUT_DIR"), "/header_version.rs"));

/// The `HIP_VERSION` that the caller was compiled with; 0 if unknown.
pub fn header_version() -> i32 {
    let known = [SAID.load(Ordering::Relaxed), recorded()];
    known
        .into_iter()
        .find(|version| *version != 0)
        .unwrap_or(GENERATED)
}

/// Says which HIP headers the caller was compiled with, as `HIP_VERSION` has it:
/// `major * 10000000 + minor * 100000 + patch`. A runtime of that major is then
/// preferred among those that are installed.
pub fn set_header_version(version: i32) {
    SAID.store(version, Ordering::Relaxed);
}

/// The ABI major of the caller's headers, 0 if unknown.
pub(crate) fn major() -> u32 {
    u32::try_from(header_version() / 10_000_000).unwrap_or(0)
}

/// The version in the record that was linked into this object, 0 without one.
///
/// The record has the version and its complement. Where nobody defines the symbol,
/// gold resolves it to the object's first byte instead of null; an ELF header is no
/// number and its complement.
fn recorded() -> c_int {
    // SAFETY: null, two `int` constants, or an ELF header, and all three stay.
    match unsafe { record().as_ref() } {
        Some(&[version, complement]) if complement == !version => version,
        _ => 0,
    }
}

/// The address of `hiplazy_consumer_hip_version`, null where nobody defines it.
///
/// Weak, so that it may be missing, and hidden, so that only the object that this
/// library is part of can define it: never another library of the process, and
/// nobody for the shared library. Rust has no weak references, hence assembly.
fn record() -> *const [c_int; 2] {
    let address: *const [c_int; 2];
    // SAFETY: reads an entry of this object's offset table and changes nothing else.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        core::arch::asm!(
            ".weak hiplazy_consumer_hip_version",
            ".hidden hiplazy_consumer_hip_version",
            "mov {address}, qword ptr [rip + hiplazy_consumer_hip_version@GOTPCREL]",
            address = out(reg) address,
            options(pure, nomem, nostack, preserves_flags),
        );
    }
    // SAFETY: as above.
    #[cfg(target_arch = "aarch64")]
    unsafe {
        core::arch::asm!(
            ".weak hiplazy_consumer_hip_version",
            ".hidden hiplazy_consumer_hip_version",
            "adrp {address}, :got:hiplazy_consumer_hip_version",
            "ldr {address}, [{address}, :got_lo12:hiplazy_consumer_hip_version]",
            address = out(reg) address,
            options(pure, nomem, nostack, preserves_flags),
        );
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    {
        address = core::ptr::null();
    }
    address
}
