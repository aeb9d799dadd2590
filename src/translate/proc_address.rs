//! Addresses that are asked for by name, right for the caller's headers.

use core::ffi::{CStr, c_char, c_int, c_uint, c_ulonglong, c_void};

use super::{SUCCESS, Status, call};
use crate::bind::{self, Whose};
use crate::breaks::Version;
use crate::{functions, slots};

/// `hipErrorNotFound`
const NOT_FOUND: Status = 500;
/// `HIP_GET_PROC_ADDRESS_SUCCESS`, `hipDriverEntryPointSuccess`
const FOUND: c_uint = 0;
/// `HIP_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND`, `hipDriverEntryPointSymbolNotFound`
const SYMBOL_NOT_FOUND: c_uint = 1;
/// No result of a look-up: the runtime has not written one.
const UNKNOWN: c_uint = c_uint::MAX;
/// `hipEnablePerThreadDefaultStream`: the `_spt` function is meant, where there is one.
const PER_THREAD_STREAM: u64 = 2;

/// A look-up, as the caller wants it.
struct LookUp {
    symbol: *const c_char,
    address: *mut *mut c_void,
    found: *mut c_uint,
    is_per_thread: bool,
    headers: Version,
    getters: Getters,
}

/// The functions of this file for the same headers, by their names.
type Getters = [(&'static [u8], *mut c_void); 4];

fn getters<const HEADER: Version>() -> Getters {
    [
        (b"hipGetProcAddress", get::<HEADER> as *mut c_void),
        (b"hipGetProcAddress_spt", get_spt::<HEADER> as *mut c_void),
        (
            b"hipGetDriverEntryPoint",
            entry_point::<HEADER> as *mut c_void,
        ),
        (
            b"hipGetDriverEntryPoint_spt",
            entry_point_spt::<HEADER> as *mut c_void,
        ),
    ]
}

impl LookUp {
    /// Looks up in the runtime, and puts our own entry in the place of an address that the
    /// caller cannot call as it is, or that the runtime does not have and we do.
    ///
    /// # Safety
    ///
    /// `symbol` is null or a C string; `address` and `found` are null or places for the
    /// results.
    #[inline(never)]
    unsafe fn answer(&self, runtime: &dyn Fn(*mut c_uint) -> Status) -> Status {
        // A place of our own, as the caller may want none.
        let mut found = UNKNOWN;
        let status = runtime(&raw mut found);
        // Any other answer than these, such as that the caller's version is too old for
        // the function, is the runtime's to give.
        let is_given = status == SUCCESS && (found == FOUND || found == UNKNOWN);
        let is_missing = found == SYMBOL_NOT_FOUND || (status == NOT_FOUND && found == UNKNOWN);
        let own = match is_given || is_missing {
            // SAFETY: as the caller promises.
            true => unsafe { self.own_entry(is_given) },
            false => None,
        };
        if let Some(entry) = own {
            // SAFETY: not null, or there would be no entry.
            unsafe { self.address.write(entry) };
            found = FOUND;
        }
        if found != UNKNOWN && !self.found.is_null() {
            // SAFETY: as the caller promises.
            unsafe { self.found.write(found) };
        }
        match own {
            Some(_) => SUCCESS,
            None => status,
        }
    }

    /// Our own entry, if the caller needs it; `is_given` if the runtime gave an address.
    ///
    /// # Safety
    ///
    /// As for `answer`.
    unsafe fn own_entry(&self, is_given: bool) -> Option<*mut c_void> {
        if self.symbol.is_null() || self.address.is_null() {
            return None;
        }
        // SAFETY: not null, hence a C string.
        let name = unsafe { CStr::from_ptr(self.symbol) };
        let entry_of = |function| functions::entry_for(function, self.headers);
        let per_thread = match self.is_per_thread {
            true => per_thread(name).map(entry_of),
            false => None,
        };
        let (index, whose) = per_thread
            .map(|index| (index, bind::whose(index)))
            // Where there is none, the plain function is what the runtime gives.
            .filter(|(_, whose)| *whose != Whose::Nobodys)
            .or_else(|| {
                let index = functions::find(name).map(entry_of)?;
                Some((index, bind::whose(index)))
            })?;
        // What is asked through another getter is for the same headers.
        if is_given && let Some(getter) = self.getter(index) {
            return Some(getter);
        }
        // A slot is always callable.
        (whose == Whose::Ours).then(|| slots::content(index))
    }

    /// The function of this file for entry `index`, if that is such a function itself.
    fn getter(&self, index: usize) -> Option<*mut c_void> {
        let name = functions::name(index)?.to_bytes();
        let mut getters = self.getters.iter();
        getters
            .find(|(known, _)| *known == name)
            .map(|(_, getter)| *getter)
    }
}

/// The function `name_spt`.
fn per_thread(name: &CStr) -> Option<usize> {
    const SUFFIX: &[u8] = b"_spt\0";
    let mut text = [0; 128];
    let name = name.to_bytes();
    text.get_mut(..name.len())?.copy_from_slice(name);
    let suffix = text.get_mut(name.len()..name.len() + SUFFIX.len())?;
    suffix.copy_from_slice(SUFFIX);
    functions::find(CStr::from_bytes_until_nul(&text).ok()?)
}

macro_rules! proc_address {
    ($(#[$doc:meta])* $name:ident: $function:ident, $is_per_thread:expr) => {
        $(#[$doc])*
        pub(super) unsafe extern "C" fn $name<const HEADER: Version>(
            symbol: *const c_char,
            address: *mut *mut c_void,
            version: c_int,
            flags: u64,
            found: *mut c_uint,
        ) -> Status {
            let is_per_thread = $is_per_thread || flags == PER_THREAD_STREAM;
            let look_up = LookUp {
                symbol,
                address,
                found,
                is_per_thread,
                headers: HEADER,
                getters: getters::<HEADER>(),
            };
            // SAFETY: as the caller called it.
            unsafe {
                look_up.answer(&|found| {
                    call!($function(
                        symbol => *const c_char, address => *mut *mut c_void, version => c_int,
                        flags => u64, found => *mut c_uint
                    ))
                })
            }
        }
    };
}
proc_address!(
    /// `hipGetProcAddress`, for callers with headers of version `HEADER`.
    get: hipGetProcAddress, false
);
proc_address!(
    /// `hipGetProcAddress_spt`.
    get_spt: hipGetProcAddress_spt, true
);

macro_rules! entry_point {
    ($(#[$doc:meta])* $name:ident: $function:ident, $is_per_thread:expr) => {
        $(#[$doc])*
        pub(super) unsafe extern "C" fn $name<const HEADER: Version>(
            symbol: *const c_char,
            address: *mut *mut c_void,
            flags: c_ulonglong,
            found: *mut c_uint,
        ) -> Status {
            let is_per_thread = $is_per_thread || flags == PER_THREAD_STREAM;
            let look_up = LookUp {
                symbol,
                address,
                found,
                is_per_thread,
                headers: HEADER,
                getters: getters::<HEADER>(),
            };
            // SAFETY: as the caller called it.
            unsafe {
                look_up.answer(&|found| {
                    call!($function(
                        symbol => *const c_char, address => *mut *mut c_void,
                        flags => c_ulonglong, found => *mut c_uint
                    ))
                })
            }
        }
    };
}
entry_point!(
    /// `hipGetDriverEntryPoint`, for callers with headers of version `HEADER`.
    entry_point: hipGetDriverEntryPoint, false
);
entry_point!(
    /// `hipGetDriverEntryPoint_spt`.
    entry_point_spt: hipGetDriverEntryPoint_spt, true
);
