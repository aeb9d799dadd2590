//! How the functions of `abi/breaks.txt` are called: a line says what each argument is. What
//! is in a struct, and what an enum has, is in the manifest's tables.

/// A function and its arguments, separated by commas:
///
/// - `value N`: this number
/// - `memory`: a pointer to the device's memory
/// - `in S`, `array S`, `fill S`, `both S`: a pointer to a struct that is read, to two of
///   them, to one that is written, to one that is read and of which one field is written;
///   `OLD<6.2/NEW` is a struct that was renamed in 6.2
/// - `enum E`: a constant of an enum
/// - `out N`, `out E`: a pointer to N bytes, or to an enum, that are written
/// - `data N`, `data E`: the same where another argument says what
/// - `places A B ...`: an array of pointers to such
/// - `flags`, `out flags`: flags of a device
/// - `lazy`: the flag of `hipIpcOpenMemHandle`
/// - `handle`: 64 bytes by value
/// - `bytes N`, `ints A B ...`: a pointer to bytes or 32-bit numbers that are read
/// - `blob N`: a pointer to bytes that are not looked at
/// - `options`: a pointer to two options, in the headers of 7.1 with one indirection more
///
/// A function may have several lines.
pub(crate) const CALLS: &[(&str, &str)] = &[
    (
        "hipPointerGetAttributes",
        "fill hipPointerAttribute_t, memory",
    ),
    (
        "hipPointerGetAttribute",
        "data hipMemoryType, value 2, memory",
    ),
    ("hipPointerGetAttribute", "data 8, value 11, memory"),
    ("hipPointerGetAttribute", "data 4, value 9, memory"),
    (
        "hipDrvPointerGetAttributes",
        "value 4, ints 2 11 2 9, places hipMemoryType 8 hipMemoryType 4, memory",
    ),
    ("hipMemcpyParam2D", "in hip_Memcpy2D"),
    ("hipMemcpyParam2DAsync", "in hip_Memcpy2D, value 0"),
    ("hipDrvMemcpy2DUnaligned", "in hip_Memcpy2D"),
    ("hipDrvMemcpy3D", "in HIP_MEMCPY3D"),
    ("hipDrvMemcpy3DAsync", "in HIP_MEMCPY3D, value 0"),
    (
        "hipImportExternalMemory",
        "out 8, in hipExternalMemoryHandleDesc",
    ),
    (
        "hipExternalMemoryGetMappedBuffer",
        "out 8, value 4096, in hipExternalMemoryBufferDesc",
    ),
    (
        "hipImportExternalSemaphore",
        "out 8, in hipExternalSemaphoreHandleDesc",
    ),
    (
        "hipSignalExternalSemaphoresAsync",
        "bytes 16, array hipExternalSemaphoreSignalParams, value 2, value 0",
    ),
    (
        "hipWaitExternalSemaphoresAsync",
        "bytes 16, array hipExternalSemaphoreWaitParams, value 2, value 0",
    ),
    (
        "hipGraphAddExternalSemaphoresSignalNode",
        "out 8, value 4096, bytes 16, value 2, in hipExternalSemaphoreSignalNodeParams",
    ),
    (
        "hipGraphExternalSemaphoresSignalNodeSetParams",
        "value 4096, in hipExternalSemaphoreSignalNodeParams",
    ),
    (
        "hipGraphExecExternalSemaphoresSignalNodeSetParams",
        "value 4096, value 8192, in hipExternalSemaphoreSignalNodeParams",
    ),
    (
        "hipGraphExternalSemaphoresSignalNodeGetParams",
        "value 4096, fill hipExternalSemaphoreSignalNodeParams",
    ),
    (
        "hipGraphAddExternalSemaphoresWaitNode",
        "out 8, value 4096, bytes 16, value 2, in hipExternalSemaphoreWaitNodeParams",
    ),
    (
        "hipGraphExternalSemaphoresWaitNodeSetParams",
        "value 4096, in hipExternalSemaphoreWaitNodeParams",
    ),
    (
        "hipGraphExecExternalSemaphoresWaitNodeSetParams",
        "value 4096, value 8192, in hipExternalSemaphoreWaitNodeParams",
    ),
    (
        "hipGraphExternalSemaphoresWaitNodeGetParams",
        "value 4096, fill hipExternalSemaphoreWaitNodeParams",
    ),
    (
        "hipMemCreate",
        "out 8, value 65536, in hipMemAllocationProp, value 0",
    ),
    (
        "hipMemGetAllocationGranularity",
        "out 8, in hipMemAllocationProp, value 1",
    ),
    (
        "hipMemGetAllocationPropertiesFromHandle",
        "fill hipMemAllocationProp, value 4096",
    ),
    ("hipGraphNodeGetType", "value 4096, out hipGraphNodeType"),
    (
        "hipDeviceGetAttribute",
        "out 4, enum hipDeviceAttribute_t, value 0",
    ),
    ("hipDeviceGetLimit", "out 8, enum hipLimit_t"),
    ("hipDeviceSetLimit", "enum hipLimit_t, value 74565"),
    ("hipIpcOpenMemHandle", "out 8, handle, lazy"),
    ("hipSetDeviceFlags", "flags"),
    ("hipDevicePrimaryCtxSetFlags", "value 0, flags"),
    ("hipCtxCreate", "out 8, flags, value 0"),
    ("hipGetDeviceFlags", "out flags"),
    ("hipCtxGetFlags", "out flags"),
    ("hipDevicePrimaryCtxGetState", "value 0, out flags, out 4"),
    (
        "hipDrvGraphAddMemsetNode",
        "out 8, value 4096, bytes 16, value 2, in HIP_MEMSET_NODE_PARAMS<7.0/hipMemsetParams, \
         value 8192",
    ),
    (
        "hipDrvGraphExecMemsetNodeSetParams",
        "value 4096, value 8192, in HIP_MEMSET_NODE_PARAMS<7.0/hipMemsetParams, value 12288",
    ),
    (
        "hipGraphKernelNodeGetAttribute",
        "value 4096, value 1, fill hipKernelNodeAttrValue<6.2/hipLaunchAttributeValue",
    ),
    (
        "hipGraphKernelNodeSetAttribute",
        "value 4096, value 1, in hipKernelNodeAttrValue<6.2/hipLaunchAttributeValue",
    ),
    ("hipMemPoolCreate", "out 8, in hipMemPoolProps"),
    (
        "hipGraphAddMemAllocNode",
        "out 8, value 4096, bytes 16, value 2, both hipMemAllocNodeParams",
    ),
    (
        "hipGraphMemAllocNodeGetParams",
        "value 4096, fill hipMemAllocNodeParams",
    ),
    (
        "hipLibraryLoadData",
        "out 8, blob 16, value 0, value 0, value 0, value 0, value 0, value 0",
    ),
    (
        "hipLibraryLoadData",
        "out 8, blob 16, options, bytes 16, value 2, options, bytes 16, value 2",
    ),
    (
        "hipLibraryLoadFromFile",
        "out 8, blob 16, value 0, value 0, value 0, value 0, value 0, value 0",
    ),
    (
        "hipLibraryLoadFromFile",
        "out 8, blob 16, options, bytes 16, value 2, options, bytes 16, value 2",
    ),
    ("hipCtxGetApiVersion", "value 0, out 4"),
];

/// Functions that no line is for, and what tests them.
pub(crate) const ELSEWHERE: &[&str] = &[
    // `substitutes.rs`
    "hipGetDevicePropertiesR0600",
    "hipChooseDeviceR0600",
    "hipGetDevicePropertiesR0000",
    "hipChooseDeviceR0000",
    "hipMemAdvise_v2",
    "hipMemPrefetchAsync_v2",
    // `by_name.rs`
    "hipGetProcAddress",
    "hipGetProcAddress_spt",
    "hipGetDriverEntryPoint",
    "hipGetDriverEntryPoint_spt",
    // `policy.rs`: the headers that it is about have another prototype than the runtime.
    "hipDeviceGetTexture1DLinearMaxWidth",
];

/// What a struct points to, by the field: so many bytes of its own.
pub(crate) const POINTED_TO: &[(&str, usize)] = &[
    ("extSemArray", 16),
    ("paramsArray", 2 * 144),
    ("accessDescs", 2 * 12),
];

/// Fields of which only some numbers are allowed, whatever the version.
pub(crate) const FIXED: &[(&str, u64)] = &[
    ("numExtSems", 2),
    ("accessDescCount", 2),
    ("elementSize", 4),
];
