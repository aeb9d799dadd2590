//! `hipLibraryLoadData` and `hipLibraryLoadFromFile`: some builds of HIP 7.1 have the
//! option arrays with one indirection more than others and than 7.2. The version does not
//! tell one from the other, so options are refused where 7.1 is on either side.

use core::ffi::{CStr, c_char, c_uint, c_void};

use super::{NOT_SUPPORTED, Real, Status, call, refuse};

const WHICH: &CStr = c"options with HIP 7.1: some builds of it have hipJitOption ** and some hipJitOption *, and the version does not tell which; use headers and a runtime of HIP 7.2 or newer, or pass no options";

type Options = *mut c_void;
type Values = *mut *mut c_void;

macro_rules! load {
    ($(#[$doc:meta])* $name:ident: $function:ident($from:ty)) => {
        $(#[$doc])*
        #[allow(clippy::too_many_arguments)]
        pub(super) unsafe extern "C" fn $name(
            library: *mut *mut c_void,
            from: *const $from,
            jit_options: Options,
            jit_values: Values,
            jit_count: c_uint,
            options: Options,
            values: Values,
            count: c_uint,
        ) -> Status {
            if jit_count != 0 || count != 0 {
                return refuse(Real::$function, NOT_SUPPORTED, WHICH);
            }
            // SAFETY: as the caller called it; without options their type is the same.
            unsafe {
                call!($function(
                    library => *mut *mut c_void, from => *const $from,
                    jit_options => Options, jit_values => Values, jit_count => c_uint,
                    options => Options, values => Values, count => c_uint
                ))
            }
        }
    };
}
load!(
    /// `hipLibraryLoadData`.
    data: hipLibraryLoadData(c_void)
);
load!(
    /// `hipLibraryLoadFromFile`.
    file: hipLibraryLoadFromFile(c_char)
);
