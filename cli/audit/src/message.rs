//! One datagram per event. The socket is there only as long as it takes to send it:
//! programs close descriptors that they do not know, and use their numbers.

use core::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicU64, Ordering};

use crate::kernel::{self, Sent};
use crate::settings::settings;
use crate::wire::{Header, Kind, VALUES};

/// Nobody listens any more.
static ALONE: AtomicBool = AtomicBool::new(false);
/// Who listens was not there for a long time: nobody waits for it until it is back.
static LATE: AtomicBool = AtomicBool::new(false);

/// This process, by a number of its own, and by that of its process namespace.
static PROCESS: AtomicU64 = AtomicU64::new(0);
static NUMBER: AtomicI32 = AtomicI32::new(0);
static PARENT: AtomicU64 = AtomicU64::new(0);
static FORKED_AT: AtomicU32 = AtomicU32::new(0);
static SEQUENCE: AtomicU32 = AtomicU32::new(0);

/// Tells `hiplazy run` of an event. A message that cannot be sent leaves a gap in their
/// numbers.
pub(crate) fn tell(kind: Kind, values: [u64; VALUES], text: &[&[u8]]) {
    if ALONE.load(Ordering::Relaxed) {
        return;
    }
    know_oneself();
    let header = Header {
        token: settings().token,
        process: PROCESS.load(Ordering::Relaxed),
        parent: PARENT.load(Ordering::Relaxed),
        forked_at: FORKED_AT.load(Ordering::Relaxed),
        sequence: SEQUENCE.fetch_add(1, Ordering::Relaxed),
        kind: kind as u64,
        values,
    };
    let late = LATE.load(Ordering::Relaxed);
    match kernel::send(&settings().address, &header, text, !late) {
        Sent::Yes => LATE.store(false, Ordering::Relaxed),
        Sent::Late => LATE.store(true, Ordering::Relaxed),
        Sent::NobodyThere => ALONE.store(true, Ordering::Relaxed),
        Sent::No => {}
    }
}

/// After `fork` this is another process, which goes on from what it was.
fn know_oneself() {
    let number = kernel::process();
    let before = NUMBER.swap(number, Ordering::Relaxed);
    if before == number {
        return;
    }
    if before != 0 {
        PARENT.store(PROCESS.load(Ordering::Relaxed), Ordering::Relaxed);
        FORKED_AT.store(SEQUENCE.load(Ordering::Relaxed), Ordering::Relaxed);
    }
    PROCESS.store(kernel::random(number), Ordering::Relaxed);
}
