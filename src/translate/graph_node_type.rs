//! `hipGraphNodeType`, renumbered in HIP 5.3 and again in 5.5.

use core::ffi::c_void;

use super::{NOT_SUPPORTED, Real, SUCCESS, Status, call, refuse};

/// Which column of [`NUMBERS`] holds since HIP 5.0, 5.3 and 5.5.
const fn column(since: u32) -> usize {
    match since {
        50 => 0,
        53 => 1,
        _ => 2,
    }
}

const NONE: u8 = u8::MAX;

/// One kind of node in a line, with its number in each of the three.
static NUMBERS: [[u8; 3]; 16] = [
    [1, 0, 0],        // Kernel
    [2, 1, 1],        // Memcpy
    [3, 2, 2],        // Memset
    [4, 3, 3],        // Host
    [5, 4, 4],        // Graph
    [6, 5, 5],        // Empty
    [7, 6, 6],        // WaitEvent
    [8, 7, 7],        // EventRecord
    [9, NONE, NONE],  // Memcpy1D
    [NONE, 8, 8],     // ExtSemaphoreSignal
    [NONE, 9, 9],     // ExtSemaphoreWait
    [NONE, NONE, 10], // MemAlloc
    [NONE, NONE, 11], // MemFree
    [10, 10, 12],     // MemcpyFromSymbol
    [11, 11, 13],     // MemcpyToSymbol
    [NONE, NONE, 14], // BatchMemOp, since 6.3
];

fn convert(value: u32, from: usize, to: usize) -> Option<u32> {
    let of = |row: &[u8; 3], column: usize| {
        let number = row.get(column).filter(|number| **number != NONE);
        number.copied().map(u32::from)
    };
    let row = NUMBERS.iter().find(|row| of(row, from) == Some(value))?;
    of(row, to)
}

/// `hipGraphNodeGetType`, for a header and a runtime with the numbers since these versions:
/// `get::<53, 55>` for headers of HIP 5.3 on a runtime of HIP 5.5.
pub(super) unsafe extern "C" fn get<const HEADER: u32, const RUNTIME: u32>(
    node: *mut c_void,
    kind: *mut u32,
) -> Status {
    // SAFETY: as the caller called it.
    unsafe { get_converted(column(RUNTIME), column(HEADER), node, kind) }
}

#[inline(never)]
unsafe fn get_converted(from: usize, to: usize, node: *mut c_void, kind: *mut u32) -> Status {
    let mut own = 0u32;
    let place = match kind.is_null() {
        true => kind,
        false => &raw mut own,
    };
    // SAFETY: the prototype of every version.
    let status = unsafe { call!(hipGraphNodeGetType(node => *mut c_void, place => *mut u32)) };
    if status != SUCCESS || kind.is_null() {
        return status;
    }
    match convert(own, from, to) {
        Some(converted) => {
            // SAFETY: not null, hence writable.
            unsafe { kind.write(converted) };
            SUCCESS
        }
        None => refuse(
            Real::hipGraphNodeGetType,
            NOT_SUPPORTED,
            c"the node is of a kind that the caller's headers have no constant for",
        ),
    }
}
