//! Addresses that are asked for by name, right for the caller's headers.

use core::ffi::{CStr, c_char, c_int, c_uint, c_ulonglong, c_void};

use super::{Real, SUCCESS, Status, call};
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

/// What a function of this file is for.
#[repr(C)]
#[derive(Clone, Copy)]
struct For {
    getter: Real,
    headers: Version,
}

/// The runtime's functions that look up.
const GETTERS: [Real; 4] = [
    Real::hipGetProcAddress,
    Real::hipGetProcAddress_spt,
    Real::hipGetDriverEntryPoint,
    Real::hipGetDriverEntryPoint_spt,
];

macro_rules! headers {
    ($($headers:literal)+) => {
        /// The versions of headers that there are functions for in this file.
        const HEADERS: &[Version] = &[$($headers),+];

        /// Those for `headers`, in the order of [`GETTERS`].
        fn getters(headers: Version) -> Option<[*mut c_void; GETTERS.len()]> {
            match headers {
                $($headers => Some([
                    get::<$headers> as *mut c_void,
                    get_spt::<$headers> as *mut c_void,
                    entry_point::<$headers> as *mut c_void,
                    entry_point_spt::<$headers> as *mut c_void,
                ]),)+
                _ => None,
            }
        }
    };
}
headers!(602 604 700 701 702);

impl For {
    const fn new<const HEADER: Version>(getter: Real) -> For {
        let mut place = 0;
        // Fails to compile for a version that `getters` does not know.
        while HEADERS[place] != HEADER {
            place += 1;
        }
        For {
            getter,
            headers: HEADER,
        }
    }
}

/// Looks up in the runtime, and puts our own entry in the place of an address that the
/// caller cannot call as it is, or that the runtime does not have and we do.
///
/// # Safety
///
/// `symbol` is null or a C string; `address` and `found` are null or places for the
/// results.
#[inline(never)]
unsafe extern "C" fn look_up(
    symbol: *const c_char,
    address: *mut *mut c_void,
    version: c_int,
    flags: u64,
    result: *mut c_uint,
    purpose: For,
) -> Status {
    // A place of our own, as the caller may want none.
    let mut found = UNKNOWN;
    // SAFETY: as the caller called it; both of each kind have one prototype.
    let status = unsafe {
        match purpose.getter {
            Real::hipGetProcAddress => call!(hipGetProcAddress(
                symbol => *const c_char, address => *mut *mut c_void, version => c_int,
                flags => u64, &raw mut found => *mut c_uint
            )),
            Real::hipGetProcAddress_spt => call!(hipGetProcAddress_spt(
                symbol => *const c_char, address => *mut *mut c_void, version => c_int,
                flags => u64, &raw mut found => *mut c_uint
            )),
            Real::hipGetDriverEntryPoint => call!(hipGetDriverEntryPoint(
                symbol => *const c_char, address => *mut *mut c_void,
                flags => c_ulonglong, &raw mut found => *mut c_uint
            )),
            _ => call!(hipGetDriverEntryPoint_spt(
                symbol => *const c_char, address => *mut *mut c_void,
                flags => c_ulonglong, &raw mut found => *mut c_uint
            )),
        }
    };
    // Any other answer than these, such as that the caller's version is too old for
    // the function, is the runtime's to give.
    let is_given = status == SUCCESS && (found == FOUND || found == UNKNOWN);
    let is_missing = found == SYMBOL_NOT_FOUND || (status == NOT_FOUND && found == UNKNOWN);
    let mut own = None;
    if (is_given || is_missing) && !symbol.is_null() && !address.is_null() {
        // SAFETY: not null, hence a C string.
        let name = unsafe { CStr::from_ptr(symbol) };
        own = purpose.own_entry(name, flags, is_given);
    }
    if let Some(entry) = own {
        // SAFETY: not null, or there would be no entry.
        unsafe { address.write(entry) };
        found = FOUND;
    }
    if found != UNKNOWN && !result.is_null() {
        // SAFETY: as the caller promises.
        unsafe { result.write(found) };
    }
    match own {
        Some(_) => SUCCESS,
        None => status,
    }
}

impl For {
    /// Our own entry for `name`, if the caller needs it; `is_given` if the runtime gave an
    /// address.
    fn own_entry(self, name: &CStr, flags: u64, is_given: bool) -> Option<*mut c_void> {
        let entry_of = |function| functions::entry_for(function, self.headers);
        let is_per_thread = flags == PER_THREAD_STREAM
            || self.getter == Real::hipGetProcAddress_spt
            || self.getter == Real::hipGetDriverEntryPoint_spt;
        let per_thread = match is_per_thread {
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
    fn getter(self, index: usize) -> Option<*mut c_void> {
        let number = functions::changed(index)?;
        let place = GETTERS.iter().position(|real| *real as u8 == number)?;
        getters(self.headers)?.get(place).copied()
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

/// Both kinds of getters have what is asked first and the flags and the result last; one has
/// the caller's version between.
macro_rules! getter {
    ($(#[$doc:meta])* $name:ident: $function:ident $(, $version:ident: $type:ty)?) => {
        $(#[$doc])*
        pub(super) unsafe extern "C" fn $name<const HEADER: Version>(
            symbol: *const c_char,
            address: *mut *mut c_void,
            $($version: $type,)?
            flags: u64,
            found: *mut c_uint,
        ) -> Status {
            let purpose = const { For::new::<HEADER>(Real::$function) };
            let version: c_int = 0 $(+ $version)?;
            // SAFETY: as the caller called it.
            unsafe { look_up(symbol, address, version, flags, found, purpose) }
        }
    };
}
getter!(
    /// `hipGetProcAddress`, for callers with headers of version `HEADER`.
    get: hipGetProcAddress, version: c_int
);
getter!(
    /// `hipGetProcAddress_spt`.
    get_spt: hipGetProcAddress_spt, version: c_int
);
getter!(
    /// `hipGetDriverEntryPoint`, for callers with headers of version `HEADER`.
    entry_point: hipGetDriverEntryPoint
);
getter!(
    /// `hipGetDriverEntryPoint_spt`.
    entry_point_spt: hipGetDriverEntryPoint_spt
);
