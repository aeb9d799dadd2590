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
    padding: u32,
    handle: [*mut c_void; 2],
    size: u64,
    flags: c_uint,
    reserved: Reserved,
    tail: u32,
}
layout!(MemoryHandle6: 104 bytes, no padding; r#type at 0, padding at 4, handle at 8, size at 24,
    flags at 32, reserved at 36, tail at 100);

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
    tail: u32,
}
layout!(Mapping6: 88 bytes, no padding; offset at 0, size at 8, flags at 16, reserved at 20,
    tail at 84);

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
    padding: u32,
    handle: [*mut c_void; 2],
    flags: c_uint,
    reserved: Reserved,
    tail: u32,
}
layout!(SemaphoreHandle6: 96 bytes, no padding; r#type at 0, padding at 4, handle at 8, flags at 24,
    reserved at 28, tail at 92);

/// `hipImportExternalMemory`.
pub(super) unsafe extern "C" fn import_memory_h5_r6(
    memory: *mut *mut c_void,
    descriptor: *const MemoryHandle5,
) -> Status {
    // SAFETY: null or the caller's struct.
    let own = unsafe { descriptor.as_ref() }.map(|descriptor| MemoryHandle6 {
        r#type: descriptor.r#type,
        padding: 0,
        handle: descriptor.handle,
        size: descriptor.size,
        flags: descriptor.flags,
        reserved: [0; 16],
        tail: 0,
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
        tail: 0,
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
        padding: 0,
        handle: descriptor.handle,
        flags: descriptor.flags,
        reserved: [0; 16],
        tail: 0,
    });
    let place = own.as_ref().map_or(core::ptr::null(), core::ptr::from_ref);
    // SAFETY: the runtime's struct, or null as the caller gave it.
    unsafe {
        call!(hipImportExternalSemaphore(
            semaphore => *mut *mut c_void, place => *const SemaphoreHandle6
        ))
    }
}

/// `hipExternalSemaphoreSignalParams` and `hipExternalSemaphoreWaitParams` of HIP 5. Both
/// begin with the value of the fence; the key of a mutex, for a wait its timeout, words kept
/// free, flags and reserved words are behind it.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Step5 {
    fence: u64,
    rest: [u64; 16],
}

/// The same of HIP 6 and newer.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Step6 {
    fence: u64,
    nv_sci_sync: u64,
    rest: [u64; 16],
}
layout!(Step5: 136 bytes, no padding; fence at 0, rest at 8);
layout!(Step6: 144 bytes, no padding; fence at 0, nv_sci_sync at 8, rest at 16);

fn up(step: &Step5) -> Option<Step6> {
    Some(Step6 {
        fence: step.fence,
        nv_sci_sync: 0,
        rest: step.rest,
    })
}

/// `None` if it waits for or signals what HIP 5 does not know.
fn down(step: &Step6) -> Option<Step5> {
    (step.nv_sci_sync == 0).then_some(Step5 {
        fence: step.fence,
        rest: step.rest,
    })
}

/// The converted array of `count` steps, in `buffer`; the given one if there is nothing to
/// convert, of which the runtime says what it makes.
#[inline(never)]
fn convert<S, T>(
    function: Real,
    steps: *const S,
    count: c_uint,
    step: impl Fn(&S) -> Option<T>,
    buffer: &mut Option<Buffer>,
) -> Result<*const T, Status> {
    if steps.is_null() || count == 0 {
        return Ok(steps.cast());
    }
    // SAFETY: not null, and of `count` elements, as the caller says.
    let steps = unsafe { core::slice::from_raw_parts(steps, count as usize) };
    let size = steps.len().checked_mul(size_of::<T>());
    *buffer = size.and_then(Buffer::new);
    let Some(buffer) = buffer else {
        return Err(refuse(
            function,
            OUT_OF_MEMORY,
            c"no memory for the converted parameters",
        ));
    };
    let own: *mut T = buffer.as_mut_ptr().cast();
    for (index, given) in steps.iter().enumerate() {
        let Some(converted) = step(given) else {
            return Err(refuse(
                function,
                NOT_SUPPORTED,
                c"nvSciSync is set, which a runtime of HIP 5 does not know",
            ));
        };
        // SAFETY: the buffer has room for `count` elements, and malloc aligned it.
        unsafe { own.add(index).write(converted) };
    }
    Ok(own)
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
            let mut buffer = None;
            match convert(Real::$function, steps, count, $convert, &mut buffer) {
                // SAFETY: the runtime's structs, or what the caller gave if there are none.
                Ok(steps) => unsafe {
                    call!($function(
                        semaphores => Semaphores, steps => *const $to, count => c_uint,
                        stream => Stream
                    ))
                },
                Err(status) => status,
            }
        }
    };
}
steps!(
    /// `hipSignalExternalSemaphoresAsync`.
    signal_h5_r6: hipSignalExternalSemaphoresAsync, Step5 => Step6, up
);
steps!(
    /// `hipSignalExternalSemaphoresAsync`.
    signal_h6_r5: hipSignalExternalSemaphoresAsync, Step6 => Step5, down
);
steps!(
    /// `hipWaitExternalSemaphoresAsync`.
    wait_h5_r6: hipWaitExternalSemaphoresAsync, Step5 => Step6, up
);
steps!(
    /// `hipWaitExternalSemaphoresAsync`.
    wait_h6_r5: hipWaitExternalSemaphoresAsync, Step6 => Step5, down
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_there_is_no_step_the_runtime_gets_the_callers_own_pointer() {
        let step = Step6 {
            fence: 7,
            // Of HIP 6 alone, and not looked at.
            nv_sci_sync: 1,
            rest: [0; 16],
        };
        for steps in [&raw const step, core::ptr::null()] {
            for count in [0, 1] {
                if count == 1 && !steps.is_null() {
                    continue;
                }
                let mut buffer = None;
                let function = Real::hipSignalExternalSemaphoresAsync;
                let given = convert(function, steps, count, down, &mut buffer);
                assert_eq!(given, Ok(steps.cast()), "{count}");
                assert!(buffer.is_none());
            }
        }
    }

    #[test]
    fn each_step_is_converted() {
        let step = |fence, nv_sci_sync| Step6 {
            fence,
            nv_sci_sync,
            rest: core::array::from_fn(|word| fence * 100 + word as u64),
        };
        let mut buffer = None;
        let function = Real::hipWaitExternalSemaphoresAsync;
        let steps = [step(1, 0), step(2, 0)];
        let given = convert(function, steps.as_ptr(), 2, down, &mut buffer).unwrap();
        // SAFETY: two steps, in the buffer.
        let given = unsafe { core::slice::from_raw_parts(given, 2) };
        for (given, step) in given.iter().zip(&steps) {
            assert_eq!((given.fence, given.rest), (step.fence, step.rest));
        }
        let steps = [step(1, 0), step(2, 1)];
        let refused = convert(function, steps.as_ptr(), 2, down, &mut buffer);
        assert_eq!(refused, Err(NOT_SUPPORTED));
    }
}
