//! The flags of a device, which are macros and no enum.

use hiplazy_abi::Version;

use crate::oracle::number;
use crate::tables::tables;

const LMEM: &str = "hipDeviceLmemResizeToMax";
const SCHEDULES: [&str; 4] = [
    "hipDeviceScheduleAuto",
    "hipDeviceScheduleSpin",
    "hipDeviceScheduleYield",
    "hipDeviceScheduleBlockingSync",
];

/// Every combination.
pub(crate) fn flag_sets() -> Vec<Vec<&'static str>> {
    let plain = SCHEDULES.iter().map(|schedule| vec![*schedule]);
    let resized = SCHEDULES.iter().map(|schedule| vec![*schedule, LMEM]);
    plain.chain(resized).collect()
}

/// The number of a combination.
pub(crate) fn flags(set: &[&str], version: Version) -> u64 {
    let values = set
        .iter()
        .map(|name| tables().value(name, version).unwrap());
    values.fold(0, |all, value| all | value)
}

/// The numbers in `to` of all combinations that are this number in `from`.
pub(crate) fn same_flags(value: u64, from: Version, to: Version) -> Vec<Vec<u8>> {
    let sets = flag_sets();
    let same = sets.iter().filter(|set| flags(set, from) == value);
    same.map(|set| number(flags(set, to), 4)).collect()
}
