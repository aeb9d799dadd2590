//! The C interface, to be defined by the crate that becomes a C library.
//!
//! It is not defined in this crate: an exported symbol in an rlib would be exported
//! by every library that depends on it.

use core::ffi::{CStr, c_char, c_int, c_void};

pub use paste;

use crate::{bind, thread};

/// Defines every wrapper, as the prefix and the entry's name, the control functions and
/// the slot table.
///
/// `c_interface!(hidden hiplazy_)` gives the symbols hidden visibility, so that a
/// library into which they are linked does not export them; with `visible` they are
/// exported. `c_interface!(hidden "" control hiplazy_)` defines the wrappers by their
/// bare link names: only ever hidden, since an exported `hipMalloc` answers for
/// everybody in the process. They have their prefixed names as well, so that a binary
/// that calls both needs one copy, whose control functions know of every call.
///
/// The calling crate is named in every unsafe block by `$crate`, and needs no
/// dependency of its own.
#[doc(hidden)]
#[macro_export]
macro_rules! c_interface {
    ($visibility:ident $prefix:ident) => {
        $crate::for_each_entry!([$crate::c_wrappers] [$visibility $prefix]);
        $crate::c_control!($visibility $prefix);
        $crate::c_slots!($visibility $prefix);
    };
    (hidden "" control $prefix:ident) => {
        $crate::for_each_function!([$crate::c_wrappers] [hidden ""]);
        $crate::for_each_function!([$crate::c_second_names] [$prefix]);
        $crate::for_each_generation!([$crate::c_wrappers] [hidden $prefix]);
        $crate::c_control!(hidden $prefix);
        $crate::c_slots!(hidden $prefix);
    };
}

/// The slot table under its C names, for `dispatch.h`.
///
/// Besides `slots` each length that a caller may have been compiled with has a name:
/// `slots_684` says that the table has at least 684 places, and these in the order that
/// was promised. A shorter table lacks the name, so that the caller does not link to it,
/// or is not loaded with it. Hidden tables, those of archives, have every length a second
/// time, as `static_slots_684`: code that is compiled to find the table in its own binary
/// does not link to a shared library's.
#[doc(hidden)]
#[macro_export]
macro_rules! c_slots {
    ($visibility:ident $prefix:ident) => {
        $crate::export::paste::paste! {
            $crate::c_table!($visibility [<$prefix slots>], $crate::slots::BYTES);
        }
        $crate::for_each_table_length!([$crate::c_table_lengths] [$visibility $prefix]);
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! c_table_lengths {
    ([visible $prefix:ident] $($length:literal)*) => {
        $crate::export::paste::paste! {$(
            $crate::c_table!(visible [<$prefix slots_ $length>], 8 * $length);
        )*}
    };
    ([hidden $prefix:ident] $($length:literal)*) => {
        $crate::export::paste::paste! {$(
            $crate::c_table!(hidden [<$prefix slots_ $length>], 8 * $length);
            $crate::c_table!(hidden [<$prefix static_slots_ $length>], 8 * $length);
        )*}
    };
}

/// One name of the slot table.
///
/// A second name of the table can only be given where the table is, which link-time
/// optimisation of a release build makes this crate; a debug build has none.
#[doc(hidden)]
#[macro_export]
macro_rules! c_table {
    ($visibility:ident $name:ident, $size:expr) => {
        #[cfg(not(debug_assertions))]
        ::core::arch::global_asm!(
            concat!(".globl ", stringify!($name)),
            concat!(".type ", stringify!($name), ", @object"),
            concat!(".size ", stringify!($name), ", {size}"),
            concat!(".set ", stringify!($name), ", {table}"),
            size = const $size,
            table = sym $crate::slots::TABLE,
        );
        #[cfg(not(debug_assertions))]
        $crate::c_visibility!($visibility $name);
    };
}

/// One instruction for each function: a jump through its slot.
#[cfg(all(target_arch = "x86_64", not(hiplazy_typed)))]
#[doc(hidden)]
#[macro_export]
macro_rules! c_wrappers {
    ([$visibility:ident $prefix:tt] $($name:ident $index:literal $arguments:tt -> $ret:ty;)*) => {
        $crate::export::paste::paste! {$(
            #[allow(non_snake_case)]
            #[unsafe(naked)]
            #[unsafe(no_mangle)]
            unsafe extern "C" fn [<$prefix $name>]() {
                ::core::arch::naked_asm!(
                    "jmp qword ptr [rip + {table} + {offset}]",
                    table = sym $crate::slots::TABLE,
                    offset = const $index * 8,
                )
            }
            $crate::c_visibility!($visibility [<$prefix $name>]);
        )*}
    };
}

/// A tail call through the slot, with the function's type.
#[cfg(not(all(target_arch = "x86_64", not(hiplazy_typed))))]
#[doc(hidden)]
#[macro_export]
macro_rules! c_wrappers {
    ([$visibility:ident $prefix:tt]
     $($name:ident $index:literal ($($arg:ident: $type:ty),*) -> $ret:ty;)*) => {
        mod wrappers {
            use ::core::ffi::*;
            use $crate::sys::*;

            $crate::export::paste::paste! {$(
                #[allow(non_snake_case, clippy::too_many_arguments, unreachable_pub)]
                #[unsafe(no_mangle)]
                pub unsafe extern "C" fn [<$prefix $name>]($($arg: $type),*) -> $ret {
                    // SAFETY: a slot always holds a function of this declaration, and
                    // the C caller passes what it asks for.
                    unsafe {
                        ::core::mem::transmute::<
                            *const c_void,
                            unsafe extern "C" fn($($type),*) -> $ret,
                        >($crate::slots::load::<$index>())($($arg),*)
                    }
                }
                $crate::c_visibility!($visibility [<$prefix $name>]);
            )*}
        }
    };
}

/// Each bare wrapper by its prefixed name too.
///
/// Like the table's, a second name can only be given where the wrapper is, which a
/// release build makes one place.
#[doc(hidden)]
#[macro_export]
macro_rules! c_second_names {
    ([$prefix:ident] $($name:ident $index:literal $arguments:tt -> $ret:ty;)*) => {
        $crate::export::paste::paste! {$(
            #[cfg(not(debug_assertions))]
            ::core::arch::global_asm!(
                concat!(".globl ", stringify!([<$prefix $name>])),
                concat!(".type ", stringify!([<$prefix $name>]), ", @function"),
                concat!(".set ", stringify!([<$prefix $name>]), ", ", stringify!($name)),
            );
            #[cfg(not(debug_assertions))]
            $crate::c_visibility!(hidden [<$prefix $name>]);
        )*}
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! c_visibility {
    (visible $name:ident) => {};
    (hidden $name:ident) => {
        ::core::arch::global_asm!(concat!(".hidden ", stringify!($name)));
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! c_control {
    ($visibility:ident $prefix:ident) => {
        $crate::c_control!($visibility $prefix
            load() -> ::core::ffi::c_int;
            has(link_name: *const ::core::ffi::c_char) -> ::core::ffi::c_int;
            symbol(link_name: *const ::core::ffi::c_char) -> *mut ::core::ffi::c_void;
            runtime_path() -> *const ::core::ffi::c_char;
            runtime_version() -> ::core::ffi::c_int;
            header_version() -> ::core::ffi::c_int;
            last_error() -> *const ::core::ffi::c_char;
            version() -> *const ::core::ffi::c_char;
        );
    };
    ($visibility:ident $prefix:ident
     $($name:ident($($arg:ident: $type:ty)?) -> $ret:ty;)*) => {
        $crate::export::paste::paste! {$(
            #[unsafe(no_mangle)]
            unsafe extern "C" fn [<$prefix $name>]($($arg: $type)?) -> $ret {
                // SAFETY: the C caller passes null or a C string.
                unsafe { $crate::export::$name($($arg)?) }
            }
            $crate::c_visibility!($visibility [<$prefix $name>]);
        )*}
    };
}

/// A C string that may be null.
///
/// # Safety
///
/// `text` is null or a C string that outlives the result.
unsafe fn name<'a>(text: *const c_char) -> Option<&'a CStr> {
    // SAFETY: as the caller promises.
    (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) })
}

/// `hiplazy_load`
///
/// # Safety
///
/// None is needed; `unsafe` like the others, which one macro calls.
pub unsafe fn load() -> c_int {
    bind::load()
}

/// `hiplazy_has`
///
/// # Safety
///
/// `link_name` is null or a C string.
pub unsafe fn has(link_name: *const c_char) -> c_int {
    // SAFETY: as the caller promises.
    c_int::from(!unsafe { symbol(link_name) }.is_null())
}

/// `hiplazy_symbol`
///
/// # Safety
///
/// `link_name` is null or a C string.
pub unsafe fn symbol(link_name: *const c_char) -> *mut c_void {
    // SAFETY: as the caller promises.
    let address = unsafe { name(link_name) }.and_then(bind::symbol_by_name);
    address.unwrap_or(core::ptr::null_mut())
}

/// `hiplazy_runtime_path`
///
/// # Safety
///
/// None is needed; `unsafe` like the others, which one macro calls.
pub unsafe fn runtime_path() -> *const c_char {
    crate::runtime_path().map_or(core::ptr::null(), CStr::as_ptr)
}

/// `hiplazy_last_error`
///
/// # Safety
///
/// None is needed; `unsafe` like the others, which one macro calls.
pub unsafe fn last_error() -> *const c_char {
    thread::last_error()
}

/// `hiplazy_version`
///
/// # Safety
///
/// None is needed; `unsafe` like the others, which one macro calls.
pub unsafe fn version() -> *const c_char {
    const VERSION: &CStr =
        match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
            Ok(version) => version,
            Err(_) => c"",
        };
    VERSION.as_ptr()
}

/// `hiplazy_runtime_version`
///
/// # Safety
///
/// None is needed; `unsafe` like the others, which one macro calls.
pub unsafe fn runtime_version() -> c_int {
    crate::runtime_version()
}

/// `hiplazy_header_version`
///
/// # Safety
///
/// None is needed; `unsafe` like the others, which one macro calls.
pub unsafe fn header_version() -> c_int {
    crate::header_version()
}
