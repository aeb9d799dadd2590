//! Memory and semaphores of other interfaces. HIP 6.0 made the descriptors 64 bytes
//! longer, and put `nvSciSync` into the parameters of signals and waits.
//!
//! A descriptor of HIP 6 may be handed to HIP 5 as it is: its tail is reserved.

use core::ffi::{c_uint, c_void};

use super::{NOT_SUPPORTED, OUT_OF_MEMORY, Real, Status, call, layout, refuse};
use crate::buffer::Buffer;

/// What HIP 6 appended, to be zero.
type Reserved = [c_uint; 16];

#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct MemoryHandle5 {
    r#type: u32,
    /// A descriptor, or a Windows handle and a name.
    handle: [*mut c_void; 2],
    size: u64,
    flags: c_uint,
}
layout!(MemoryHandle5: 40 bytes; r#type at 0, handle at 8, size at 24, flags at 32);

#[repr(C)]
pub(super) struct MemoryHandle6 {
    r#type: u32,
    handle: [*mut c_void; 2],
    size: u64,
    flags: c_uint,
    reserved: Reserved,
}
layout!(MemoryHandle6: 104 bytes; r#type at 0, handle at 8, size at 24, flags at 32, reserved at 36);

#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Mapping5 {
    offset: u64,
    size: u64,
    flags: c_uint,
}
layout!(Mapping5: 24 bytes; offset at 0, size at 8, flags at 16);

#[repr(C)]
pub(super) struct Mapping6 {
    offset: u64,
    size: u64,
    flags: c_uint,
    reserved: Reserved,
}
layout!(Mapping6: 88 bytes; offset at 0, size at 8, flags at 16, reserved at 20);

#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct SemaphoreHandle5 {
    r#type: u32,
    handle: [*mut c_void; 2],
    flags: c_uint,
}
layout!(SemaphoreHandle5: 32 bytes; r#type at 0, handle at 8, flags at 24);

#[repr(C)]
pub(super) struct SemaphoreHandle6 {
    r#type: u32,
    handle: [*mut c_void; 2],
    flags: c_uint,
    reserved: Reserved,
}
layout!(SemaphoreHandle6: 96 bytes; r#type at 0, handle at 8, flags at 24, reserved at 28);

/// `hipImportExternalMemory`.
pub(super) unsafe extern "C" fn import_memory_h5_r6(
    memory: *mut *mut c_void,
    descriptor: *const MemoryHandle5,
) -> Status {
    // SAFETY: null or the caller's struct.
    let own = unsafe { descriptor.as_ref() }.map(|descriptor| MemoryHandle6 {
        r#type: descriptor.r#type,
        handle: descriptor.handle,
        size: descriptor.size,
        flags: descriptor.flags,
        reserved: [0; 16],
    });
    let place = own.as_ref().map_or(core::ptr::null(), core::ptr::from_ref);
    // SAFETY: the runtime's struct, or null as the caller gave it.
    unsafe {
        call!(hipImportExternalMemory(memory => *mut *mut c_void, place => *const MemoryHandle6))
    }
}

/// `hipExternalMemoryGetMappedBuffer`.
pub(super) unsafe extern "C" fn map_memory_h5_r6(
    pointer: *mut *mut c_void,
    memory: *mut c_void,
    descriptor: *const Mapping5,
) -> Status {
    // SAFETY: null or the caller's struct.
    let own = unsafe { descriptor.as_ref() }.map(|descriptor| Mapping6 {
        offset: descriptor.offset,
        size: descriptor.size,
        flags: descriptor.flags,
        reserved: [0; 16],
    });
    let place = own.as_ref().map_or(core::ptr::null(), core::ptr::from_ref);
    // SAFETY: the runtime's struct, or null as the caller gave it.
    unsafe {
        call!(hipExternalMemoryGetMappedBuffer(
            pointer => *mut *mut c_void, memory => *mut c_void, place => *const Mapping6
        ))
    }
}

/// `hipImportExternalSemaphore`.
pub(super) unsafe extern "C" fn import_semaphore_h5_r6(
    semaphore: *mut *mut c_void,
    descriptor: *const SemaphoreHandle5,
) -> Status {
    // SAFETY: null or the caller's struct.
    let own = unsafe { descriptor.as_ref() }.map(|descriptor| SemaphoreHandle6 {
        r#type: descriptor.r#type,
        handle: descriptor.handle,
        flags: descriptor.flags,
        reserved: [0; 16],
    });
    let place = own.as_ref().map_or(core::ptr::null(), core::ptr::from_ref);
    // SAFETY: the runtime's struct, or null as the caller gave it.
    unsafe {
        call!(hipImportExternalSemaphore(
            semaphore => *mut *mut c_void, place => *const SemaphoreHandle6
        ))
    }
}

/// `hipExternalSemaphoreSignalParams` or `hipExternalSemaphoreWaitParams` of HIP 5:
/// `KEY` is the key, and for a wait its timeout, in 64-bit words; `WORDS` are reserved.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Step5<const KEY: usize, const WORDS: usize> {
    fence: u64,
    keyed_mutex: [u64; KEY],
    reserved_params: [c_uint; WORDS],
    flags: c_uint,
    reserved: Reserved,
}

/// The same of HIP 6 and newer.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Step6<const KEY: usize, const WORDS: usize> {
    fence: u64,
    nv_sci_sync: u64,
    keyed_mutex: [u64; KEY],
    reserved_params: [c_uint; WORDS],
    flags: c_uint,
    reserved: Reserved,
}
type Signal5 = Step5<1, 12>;
type Signal6 = Step6<1, 12>;
/// The timeout has 32 bits; what is behind it is padding, carried along.
type Wait5 = Step5<2, 10>;
type Wait6 = Step6<2, 10>;
layout!(Signal5: 136 bytes; fence at 0, keyed_mutex at 8, reserved_params at 16, flags at 64, reserved at 68);
layout!(Signal6: 144 bytes; fence at 0, nv_sci_sync at 8, keyed_mutex at 16, reserved_params at 24,
    flags at 72, reserved at 76);
layout!(Wait5: 136 bytes; fence at 0, keyed_mutex at 8, reserved_params at 24, flags at 64, reserved at 68);
layout!(Wait6: 144 bytes; fence at 0, nv_sci_sync at 8, keyed_mutex at 16, reserved_params at 32,
    flags at 72, reserved at 76);

fn up<const KEY: usize, const WORDS: usize>(step: &Step5<KEY, WORDS>) -> Option<Step6<KEY, WORDS>> {
    Some(Step6 {
        fence: step.fence,
        nv_sci_sync: 0,
        keyed_mutex: step.keyed_mutex,
        reserved_params: step.reserved_params,
        flags: step.flags,
        reserved: step.reserved,
    })
}

/// `None` if it waits for or signals what HIP 5 does not know.
fn down<const KEY: usize, const WORDS: usize>(
    step: &Step6<KEY, WORDS>,
) -> Option<Step5<KEY, WORDS>> {
    (step.nv_sci_sync == 0).then_some(Step5 {
        fence: step.fence,
        keyed_mutex: step.keyed_mutex,
        reserved_params: step.reserved_params,
        flags: step.flags,
        reserved: step.reserved,
    })
}

/// Hands `call` the converted array of `count` steps.
fn convert<S, T>(
    function: Real,
    steps: *const S,
    count: c_uint,
    step: impl Fn(&S) -> Option<T>,
    call: impl FnOnce(*const T) -> Status,
) -> Status {
    if steps.is_null() || count == 0 {
        // Nothing to convert: the runtime says what it makes of it.
        return call(steps.cast());
    }
    // SAFETY: not null, and of `count` elements, as the caller says.
    let steps = unsafe { core::slice::from_raw_parts(steps, count as usize) };
    let size = steps.len().checked_mul(size_of::<T>());
    let Some(mut buffer) = size.and_then(Buffer::new) else {
        return refuse(
            function,
            OUT_OF_MEMORY,
            c"no memory for the converted parameters",
        );
    };
    let own: *mut T = buffer.as_mut_ptr().cast();
    for (index, given) in steps.iter().enumerate() {
        let Some(converted) = step(given) else {
            return refuse(
                function,
                NOT_SUPPORTED,
                c"nvSciSync is set, which a runtime of HIP 5 does not know",
            );
        };
        // SAFETY: the buffer has room for `count` elements, and malloc aligned it.
        unsafe { own.add(index).write(converted) };
    }
    call(own)
}

type Semaphores = *const *mut c_void;
type Stream = *mut c_void;

macro_rules! steps {
    ($(#[$doc:meta])* $name:ident: $function:ident, $from:ty => $to:ty, $convert:ident) => {
        $(#[$doc])*
        pub(super) unsafe extern "C" fn $name(
            semaphores: Semaphores,
            steps: *const $from,
            count: c_uint,
            stream: Stream,
        ) -> Status {
            convert(Real::$function, steps, count, $convert, |steps| {
                // SAFETY: the runtime's structs, or what the caller gave if there are none.
                unsafe {
                    call!($function(
                        semaphores => Semaphores, steps => *const $to, count => c_uint,
                        stream => Stream
                    ))
                }
            })
        }
    };
}
steps!(
    /// `hipSignalExternalSemaphoresAsync`.
    signal_h5_r6: hipSignalExternalSemaphoresAsync, Signal5 => Signal6, up
);
steps!(
    /// `hipSignalExternalSemaphoresAsync`.
    signal_h6_r5: hipSignalExternalSemaphoresAsync, Signal6 => Signal5, down
);
steps!(
    /// `hipWaitExternalSemaphoresAsync`.
    wait_h5_r6: hipWaitExternalSemaphoresAsync, Wait5 => Wait6, up
);
steps!(
    /// `hipWaitExternalSemaphoresAsync`.
    wait_h6_r5: hipWaitExternalSemaphoresAsync, Wait6 => Wait5, down
);
