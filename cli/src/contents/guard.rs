//! Keeps this process alive when a file that it has mapped is cut short.
//!
//! Reading a page that its file no longer reaches raises `SIGBUS`, and any file that
//! others may write to can be cut between two instructions of a parser: no check before
//! the access helps. The handler here puts empty pages where the file ended and notes
//! that in the mapping's [`Place`]; whoever reads goes on, finds zeros, and discards the
//! result. Display servers guard the memory that their clients share in the same way.

use std::ops::Range;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering::SeqCst};
use std::sync::{Mutex, OnceLock, PoisonError};

/// One mapping. Places are used again and never freed, because a handler may be looking
/// at them at any time.
struct Place {
    /// Odd while the others change, and never twice the same.
    version: AtomicUsize,
    start: AtomicUsize,
    end: AtomicUsize,
    cut: AtomicBool,
    next: AtomicPtr<Place>,
}

/// All places, for the handler.
static FIRST: AtomicPtr<Place> = AtomicPtr::new(ptr::null_mut());

/// Those without a mapping. The handler does not touch it.
static FREE: Mutex<Vec<&'static Place>> = Mutex::new(Vec::new());

/// What was done about the signal before, and the size of a page.
static INSTALLED: OnceLock<(libc::sigaction, usize)> = OnceLock::new();

/// A mapping under guard; ends before the mapping does.
pub(super) struct Watched(&'static Place);

/// Guards a mapping.
pub(super) fn watch(mapped: Range<*const u8>) -> Watched {
    INSTALLED.get_or_init(install);
    let free = FREE.lock().unwrap_or_else(PoisonError::into_inner).pop();
    let place = free.unwrap_or_else(Place::add);
    place.set(mapped.start as usize..mapped.end as usize);
    Watched(place)
}

impl Watched {
    pub(super) fn cut(&self) -> bool {
        self.0.cut.load(SeqCst)
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.0.set(0..0);
        FREE.lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(self.0);
    }
}

impl Place {
    /// A new one, in the list.
    fn add() -> &'static Place {
        let place: &'static Place = Box::leak(Box::new(Place {
            version: AtomicUsize::new(0),
            start: AtomicUsize::new(0),
            end: AtomicUsize::new(0),
            cut: AtomicBool::new(false),
            next: AtomicPtr::new(ptr::null_mut()),
        }));
        let pointer = ptr::from_ref(place).cast_mut();
        let push = |first| {
            place.next.store(first, SeqCst);
            Some(pointer)
        };
        // The closure always gives a value, so this cannot fail.
        let _ = FIRST.fetch_update(SeqCst, SeqCst, push);
        place
    }

    fn set(&self, range: Range<usize>) {
        self.version.fetch_add(1, SeqCst);
        self.start.store(range.start, SeqCst);
        self.end.store(range.end, SeqCst);
        self.cut.store(false, SeqCst);
        self.version.fetch_add(1, SeqCst);
    }

    /// The end of the mapping that holds an address. A place that is changing holds
    /// another thread's mapping, not the one in which this thread stumbled.
    fn end_of(&self, address: usize) -> Option<usize> {
        let version = self.version.load(SeqCst);
        let range = self.start.load(SeqCst)..self.end.load(SeqCst);
        let settled = version.is_multiple_of(2) && self.version.load(SeqCst) == version;
        (settled && range.contains(&address)).then_some(range.end)
    }
}

fn install() -> (libc::sigaction, usize) {
    // SAFETY: all zeros is a valid value of this C structure.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    let mut before = action;
    let handler: extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void) = handle;
    action.sa_sigaction = handler as usize;
    // On the alternative stack, which Rust's own handler needs as well.
    action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
    // SAFETY: both structures are valid, and the handler calls only what signal handlers
    // may call. If the system refuses, a cut file ends this process, as without guard.
    unsafe { libc::sigaction(libc::SIGBUS, &raw const action, &raw mut before) };
    // SAFETY: has no preconditions.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    (before, usize::try_from(page).unwrap_or(4096))
}

extern "C" fn handle(signal: libc::c_int, info: *mut libc::siginfo_t, _context: *mut libc::c_void) {
    // SAFETY: the kernel gives a valid structure to handlers with SA_SIGINFO.
    let (code, address) = unsafe { ((*info).si_code, (*info).si_addr() as usize) };
    if code == libc::BUS_ADRERR && cover(address) {
        return;
    }
    // None of ours: as it was before. The access is made again and meets that handler;
    // a signal that somebody sent is sent again.
    if let Some((before, _)) = INSTALLED.get() {
        // SAFETY: the structure came from this function.
        unsafe { libc::sigaction(signal, before, ptr::null_mut()) };
    }
    if code <= 0 {
        // SAFETY: has no preconditions, and may be called in handlers.
        unsafe { libc::raise(signal) };
    }
}

/// Puts empty pages from an address to the end of its mapping.
fn cover(address: usize) -> bool {
    let Some((_, page)) = INSTALLED.get() else {
        return false;
    };
    let mut next = FIRST.load(SeqCst);
    // SAFETY: places are never freed.
    while let Some(place) = unsafe { next.as_ref() } {
        next = place.next.load(SeqCst);
        let Some(end) = place.end_of(address) else {
            continue;
        };
        let start = address - address % page;
        // SAFETY: points to this thread's own errno.
        let error = unsafe { *libc::__errno_location() };
        // SAFETY: replaces pages of a mapping that this process made for reading, which
        // cannot end now: the thread that reads it stands here. The call does not
        // allocate or lock in this process.
        let covered = unsafe {
            libc::mmap(
                start as *mut libc::c_void,
                end - start,
                libc::PROT_READ,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED | libc::MAP_NORESERVE,
                -1,
                0,
            )
        };
        // SAFETY: as above; whoever was interrupted finds it as it was.
        unsafe { *libc::__errno_location() = error };
        if covered == libc::MAP_FAILED {
            return false;
        }
        place.cut.store(true, SeqCst);
        return true;
    }
    false
}
