//! The runtime's own functions, as translators call them.

use core::ffi::{CStr, c_void};
use core::sync::atomic::{AtomicPtr, Ordering};

macro_rules! reals {
    ($($name:ident)+) => {
        /// A function of the runtime that some translator calls or answers in place of.
        #[allow(non_camel_case_types)]
        #[derive(Clone, Copy, PartialEq, Eq)]
        #[repr(u8)]
        pub(crate) enum Real {
            $($name),+
        }

        impl Real {
            const ALL: &[Real] = &[$(Real::$name),+];

            /// Its link name.
            pub(crate) fn name(self) -> &'static CStr {
                let name = match self {
                    $(Real::$name => concat!(stringify!($name), "\0")),+
                };
                CStr::from_bytes_with_nul(name.as_bytes()).unwrap_or(c"")
            }
        }

        static ADDRESSES: [AtomicPtr<c_void>; Real::ALL.len()] =
            [const { AtomicPtr::new(core::ptr::null_mut()) }; Real::ALL.len()];
    };
}

reals! {
    hipChooseDevice
    hipChooseDevice_v2
    hipCtxCreate
    hipCtxGetFlags
    hipDeviceGetAttribute
    hipDeviceGetLimit
    hipDevicePrimaryCtxGetState
    hipDevicePrimaryCtxSetFlags
    hipDeviceSetLimit
    hipDrvGraphAddMemsetNode
    hipDrvGraphExecMemsetNodeSetParams
    hipDrvMemcpy2DUnaligned
    hipDrvMemcpy3D
    hipDrvMemcpy3DAsync
    hipDrvPointerGetAttributes
    hipExternalMemoryGetMappedBuffer
    hipGetDeviceFlags
    hipGetDeviceProperties
    hipGetDeviceProperties_v2
    hipGetDriverEntryPoint
    hipGetDriverEntryPoint_spt
    hipGetProcAddress
    hipGetProcAddress_spt
    hipGraphAddMemAllocNode
    hipGraphKernelNodeGetAttribute
    hipGraphKernelNodeSetAttribute
    hipGraphMemAllocNodeGetParams
    hipGraphNodeGetType
    hipImportExternalMemory
    hipImportExternalSemaphore
    hipIpcOpenMemHandle
    hipLibraryLoadData
    hipLibraryLoadFromFile
    hipMemAdvise
    hipMemAdvise_v2
    hipMemCreate
    hipMemGetAllocationGranularity
    hipMemGetAllocationPropertiesFromHandle
    hipMemPoolCreate
    hipMemPrefetchAsync
    hipMemPrefetchAsync_v2
    hipMemcpyParam2D
    hipMemcpyParam2DAsync
    hipPointerGetAttribute
    hipPointerGetAttributes
    hipSetDeviceFlags
    hipSignalExternalSemaphoresAsync
    hipWaitExternalSemaphoresAsync
}

impl Real {
    /// Its address; null before [`fill`] or if the runtime lacks it.
    pub(crate) fn address(self) -> *const c_void {
        ADDRESSES
            .get(self as usize)
            .map_or(core::ptr::null(), |address| {
                address.load(Ordering::Acquire).cast_const()
            })
    }
}

/// Finds the address of each by `find`, once the runtime is published and before a slot
/// holds a translator. Doing it twice, in two threads, stores the same values.
pub(crate) fn fill(find: impl Fn(&'static CStr) -> *mut c_void) {
    for (real, address) in Real::ALL.iter().zip(&ADDRESSES) {
        address.store(find(real.name()), Ordering::Release);
    }
}
