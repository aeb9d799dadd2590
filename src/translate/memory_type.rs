//! `hipMemoryType`, renumbered in HIP 6.0.

/// What a constant of HIP 5 is in HIP 6 and newer.
pub(super) fn from_5(value: u32) -> Option<u32> {
    match value {
        0 => Some(1),  // Host
        1 => Some(2),  // Device
        2 => Some(10), // Array
        3 => Some(11), // Unified
        4 => Some(3),  // Managed, since 5.3
        _ => None,
    }
}

/// What a constant of HIP 6 and newer is in HIP 5, which knows no Unregistered (0).
pub(super) fn from_6(value: u32) -> Option<u32> {
    match value {
        1 => Some(0),
        2 => Some(1),
        10 => Some(2),
        11 => Some(3),
        3 => Some(4),
        _ => None,
    }
}

/// One of the two: with `up` HIP 5's value to HIP 6's.
pub(super) fn convert(up: bool, value: u32) -> Option<u32> {
    if up { from_5(value) } else { from_6(value) }
}
