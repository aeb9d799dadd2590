/*
 * Device attributes: X(value, name, first version, last version, field of the
 * 792-byte struct, field of the 1472-byte struct). A version is major * 100 +
 * minor. Values and names are those of hipDeviceAttribute_t in the public
 * headers; they are stable except for the two that moved (PciChipId is 10019
 * in 7.0 alone) and those that 6.0 removed.
 */
#ifndef FAKEHIP_ATTRIBUTE_FIELDS_H
#define FAKEHIP_ATTRIBUTE_FIELDS_H

#define ATTRIBUTES(X) \
  X(0, EccEnabled, 502, 9999, AT(r0000, ECCEnabled, 0), AT(r0600, ECCEnabled, 0)) \
  X(1, AccessPolicyMaxWindowSize, 502, 9999, NO_FIELD, AT(r0600, accessPolicyMaxWindowSize, 0)) \
  X(2, AsyncEngineCount, 502, 9999, NO_FIELD, AT(r0600, asyncEngineCount, 0)) \
  X(3, CanMapHostMemory, 502, 9999, AT(r0000, canMapHostMemory, 0), AT(r0600, canMapHostMemory, 0)) \
  X(4, CanUseHostPointerForRegisteredMem, 502, 9999, NO_FIELD, AT(r0600, canUseHostPointerForRegisteredMem, 0)) \
  X(5, ClockRate, 502, 9999, AT(r0000, clockRate, 0), AT(r0600, clockRate, 0)) \
  X(6, ComputeMode, 502, 9999, AT(r0000, computeMode, 0), AT(r0600, computeMode, 0)) \
  X(7, ComputePreemptionSupported, 502, 9999, NO_FIELD, AT(r0600, computePreemptionSupported, 0)) \
  X(8, ConcurrentKernels, 502, 9999, AT(r0000, concurrentKernels, 0), AT(r0600, concurrentKernels, 0)) \
  X(9, ConcurrentManagedAccess, 502, 9999, AT(r0000, concurrentManagedAccess, 0), AT(r0600, concurrentManagedAccess, 0)) \
  X(10, CooperativeLaunch, 502, 9999, AT(r0000, cooperativeLaunch, 0), AT(r0600, cooperativeLaunch, 0)) \
  X(11, CooperativeMultiDeviceLaunch, 502, 9999, AT(r0000, cooperativeMultiDeviceLaunch, 0), AT(r0600, cooperativeMultiDeviceLaunch, 0)) \
  X(12, DeviceOverlap, 502, 9999, NO_FIELD, AT(r0600, deviceOverlap, 0)) \
  X(13, DirectManagedMemAccessFromHost, 502, 9999, AT(r0000, directManagedMemAccessFromHost, 0), AT(r0600, directManagedMemAccessFromHost, 0)) \
  X(14, GlobalL1CacheSupported, 502, 9999, NO_FIELD, AT(r0600, globalL1CacheSupported, 0)) \
  X(15, HostNativeAtomicSupported, 502, 9999, NO_FIELD, AT(r0600, hostNativeAtomicSupported, 0)) \
  X(16, Integrated, 502, 9999, AT(r0000, integrated, 0), AT(r0600, integrated, 0)) \
  X(17, IsMultiGpuBoard, 502, 9999, AT(r0000, isMultiGpuBoard, 0), AT(r0600, isMultiGpuBoard, 0)) \
  X(18, KernelExecTimeout, 502, 9999, AT(r0000, kernelExecTimeoutEnabled, 0), AT(r0600, kernelExecTimeoutEnabled, 0)) \
  X(19, L2CacheSize, 502, 9999, AT(r0000, l2CacheSize, 0), AT(r0600, l2CacheSize, 0)) \
  X(20, LocalL1CacheSupported, 502, 9999, NO_FIELD, AT(r0600, localL1CacheSupported, 0)) \
  X(21, Luid, 502, 9999, NO_FIELD, NO_FIELD) \
  X(22, LuidDeviceNodeMask, 502, 9999, NO_FIELD, AT(r0600, luidDeviceNodeMask, 0)) \
  X(23, ComputeCapabilityMajor, 502, 9999, AT(r0000, major, 0), AT(r0600, major, 0)) \
  X(24, ManagedMemory, 502, 9999, AT(r0000, managedMemory, 0), AT(r0600, managedMemory, 0)) \
  X(25, MaxBlocksPerMultiProcessor, 502, 9999, NO_FIELD, AT(r0600, maxBlocksPerMultiProcessor, 0)) \
  X(26, MaxBlockDimX, 502, 9999, AT(r0000, maxThreadsDim, 0), AT(r0600, maxThreadsDim, 0)) \
  X(27, MaxBlockDimY, 502, 9999, AT(r0000, maxThreadsDim, 1), AT(r0600, maxThreadsDim, 1)) \
  X(28, MaxBlockDimZ, 502, 9999, AT(r0000, maxThreadsDim, 2), AT(r0600, maxThreadsDim, 2)) \
  X(29, MaxGridDimX, 502, 9999, AT(r0000, maxGridSize, 0), AT(r0600, maxGridSize, 0)) \
  X(30, MaxGridDimY, 502, 9999, AT(r0000, maxGridSize, 1), AT(r0600, maxGridSize, 1)) \
  X(31, MaxGridDimZ, 502, 9999, AT(r0000, maxGridSize, 2), AT(r0600, maxGridSize, 2)) \
  X(32, MaxSurface1D, 502, 9999, NO_FIELD, AT(r0600, maxSurface1D, 0)) \
  X(33, MaxSurface1DLayered, 502, 9999, NO_FIELD, AT(r0600, maxSurface1DLayered, 0)) \
  X(34, MaxSurface2D, 502, 9999, NO_FIELD, AT(r0600, maxSurface2D, 0)) \
  X(35, MaxSurface2DLayered, 502, 9999, NO_FIELD, AT(r0600, maxSurface2DLayered, 0)) \
  X(36, MaxSurface3D, 502, 9999, NO_FIELD, AT(r0600, maxSurface3D, 0)) \
  X(37, MaxSurfaceCubemap, 502, 9999, NO_FIELD, AT(r0600, maxSurfaceCubemap, 0)) \
  X(38, MaxSurfaceCubemapLayered, 502, 9999, NO_FIELD, AT(r0600, maxSurfaceCubemapLayered, 0)) \
  X(39, MaxTexture1DWidth, 502, 9999, AT(r0000, maxTexture1D, 0), AT(r0600, maxTexture1D, 0)) \
  X(40, MaxTexture1DLayered, 502, 9999, NO_FIELD, AT(r0600, maxTexture1DLayered, 0)) \
  X(41, MaxTexture1DLinear, 502, 9999, AT(r0000, maxTexture1DLinear, 0), AT(r0600, maxTexture1DLinear, 0)) \
  X(42, MaxTexture1DMipmap, 502, 9999, NO_FIELD, AT(r0600, maxTexture1DMipmap, 0)) \
  X(43, MaxTexture2DWidth, 502, 9999, AT(r0000, maxTexture2D, 0), AT(r0600, maxTexture2D, 0)) \
  X(44, MaxTexture2DHeight, 502, 9999, AT(r0000, maxTexture2D, 1), AT(r0600, maxTexture2D, 1)) \
  X(45, MaxTexture2DGather, 502, 9999, NO_FIELD, AT(r0600, maxTexture2DGather, 0)) \
  X(46, MaxTexture2DLayered, 502, 9999, NO_FIELD, AT(r0600, maxTexture2DLayered, 0)) \
  X(47, MaxTexture2DLinear, 502, 9999, NO_FIELD, AT(r0600, maxTexture2DLinear, 0)) \
  X(48, MaxTexture2DMipmap, 502, 9999, NO_FIELD, AT(r0600, maxTexture2DMipmap, 0)) \
  X(49, MaxTexture3DWidth, 502, 9999, AT(r0000, maxTexture3D, 0), AT(r0600, maxTexture3D, 0)) \
  X(50, MaxTexture3DHeight, 502, 9999, AT(r0000, maxTexture3D, 1), AT(r0600, maxTexture3D, 1)) \
  X(51, MaxTexture3DDepth, 502, 9999, AT(r0000, maxTexture3D, 2), AT(r0600, maxTexture3D, 2)) \
  X(52, MaxTexture3DAlt, 502, 9999, NO_FIELD, AT(r0600, maxTexture3DAlt, 0)) \
  X(53, MaxTextureCubemap, 502, 9999, NO_FIELD, AT(r0600, maxTextureCubemap, 0)) \
  X(54, MaxTextureCubemapLayered, 502, 9999, NO_FIELD, AT(r0600, maxTextureCubemapLayered, 0)) \
  X(55, MaxThreadsDim, 502, 9999, AT(r0000, maxThreadsDim, 0), AT(r0600, maxThreadsDim, 0)) \
  X(56, MaxThreadsPerBlock, 502, 9999, AT(r0000, maxThreadsPerBlock, 0), AT(r0600, maxThreadsPerBlock, 0)) \
  X(57, MaxThreadsPerMultiProcessor, 502, 9999, AT(r0000, maxThreadsPerMultiProcessor, 0), AT(r0600, maxThreadsPerMultiProcessor, 0)) \
  X(58, MaxPitch, 502, 9999, AT(r0000, memPitch, 0), AT(r0600, memPitch, 0)) \
  X(59, MemoryBusWidth, 502, 9999, AT(r0000, memoryBusWidth, 0), AT(r0600, memoryBusWidth, 0)) \
  X(60, MemoryClockRate, 502, 9999, AT(r0000, memoryClockRate, 0), AT(r0600, memoryClockRate, 0)) \
  X(61, ComputeCapabilityMinor, 502, 9999, AT(r0000, minor, 0), AT(r0600, minor, 0)) \
  X(62, MultiGpuBoardGroupID, 502, 9999, NO_FIELD, AT(r0600, multiGpuBoardGroupID, 0)) \
  X(63, MultiprocessorCount, 502, 9999, AT(r0000, multiProcessorCount, 0), AT(r0600, multiProcessorCount, 0)) \
  X(65, PageableMemoryAccess, 502, 9999, AT(r0000, pageableMemoryAccess, 0), AT(r0600, pageableMemoryAccess, 0)) \
  X(66, PageableMemoryAccessUsesHostPageTables, 502, 9999, AT(r0000, pageableMemoryAccessUsesHostPageTables, 0), AT(r0600, pageableMemoryAccessUsesHostPageTables, 0)) \
  X(67, PciBusId, 502, 9999, AT(r0000, pciBusID, 0), AT(r0600, pciBusID, 0)) \
  X(68, PciDeviceId, 502, 9999, AT(r0000, pciDeviceID, 0), AT(r0600, pciDeviceID, 0)) \
  X(69, PciDomainID, 502, 9999, AT(r0000, pciDomainID, 0), AT(r0600, pciDomainID, 0)) \
  X(70, PersistingL2CacheMaxSize, 502, 9999, NO_FIELD, AT(r0600, persistingL2CacheMaxSize, 0)) \
  X(71, MaxRegistersPerBlock, 502, 9999, AT(r0000, regsPerBlock, 0), AT(r0600, regsPerBlock, 0)) \
  X(72, MaxRegistersPerMultiprocessor, 502, 9999, NO_FIELD, AT(r0600, regsPerMultiprocessor, 0)) \
  X(73, ReservedSharedMemPerBlock, 502, 9999, NO_FIELD, AT(r0600, reservedSharedMemPerBlock, 0)) \
  X(74, MaxSharedMemoryPerBlock, 502, 9999, AT(r0000, sharedMemPerBlock, 0), AT(r0600, sharedMemPerBlock, 0)) \
  X(75, SharedMemPerBlockOptin, 502, 9999, NO_FIELD, AT(r0600, sharedMemPerBlockOptin, 0)) \
  X(76, SharedMemPerMultiprocessor, 502, 9999, NO_FIELD, AT(r0600, sharedMemPerMultiprocessor, 0)) \
  X(77, SingleToDoublePrecisionPerfRatio, 502, 9999, NO_FIELD, AT(r0600, singleToDoublePrecisionPerfRatio, 0)) \
  X(78, StreamPrioritiesSupported, 502, 9999, NO_FIELD, AT(r0600, streamPrioritiesSupported, 0)) \
  X(79, SurfaceAlignment, 502, 9999, NO_FIELD, AT(r0600, surfaceAlignment, 0)) \
  X(80, TccDriver, 502, 9999, AT(r0000, tccDriver, 0), AT(r0600, tccDriver, 0)) \
  X(81, TextureAlignment, 502, 9999, AT(r0000, textureAlignment, 0), AT(r0600, textureAlignment, 0)) \
  X(82, TexturePitchAlignment, 502, 9999, AT(r0000, texturePitchAlignment, 0), AT(r0600, texturePitchAlignment, 0)) \
  X(83, TotalConstantMemory, 502, 9999, AT(r0000, totalConstMem, 0), AT(r0600, totalConstMem, 0)) \
  X(84, TotalGlobalMem, 502, 9999, AT(r0000, totalGlobalMem, 0), AT(r0600, totalGlobalMem, 0)) \
  X(85, UnifiedAddressing, 502, 9999, NO_FIELD, AT(r0600, unifiedAddressing, 0)) \
  X(87, WarpSize, 502, 9999, AT(r0000, warpSize, 0), AT(r0600, warpSize, 0)) \
  X(88, MemoryPoolsSupported, 502, 9999, NO_FIELD, AT(r0600, memoryPoolsSupported, 0)) \
  X(89, VirtualMemoryManagementSupported, 507, 9999, NO_FIELD, NO_FIELD) \
  X(90, HostRegisterSupported, 600, 9999, NO_FIELD, AT(r0600, hostRegisterSupported, 0)) \
  X(91, MemoryPoolSupportedHandleTypes, 600, 9999, NO_FIELD, AT(r0600, memoryPoolSupportedHandleTypes, 0)) \
  X(92, HostNumaId, 702, 9999, NO_FIELD, NO_FIELD) \
  X(10000, ClockInstructionRate, 502, 9999, AT(r0000, clockInstructionRate, 0), AT(r0600, clockInstructionRate, 0)) \
  X(10002, MaxSharedMemoryPerMultiprocessor, 502, 9999, AT(r0000, maxSharedMemoryPerMultiProcessor, 0), AT(r0600, maxSharedMemoryPerMultiProcessor, 0)) \
  X(10003, GcnArch, 502, 507, AT(r0000, gcnArch, 0), NO_FIELD) \
  X(10005, HdpMemFlushCntl, 502, 9999, AT(r0000, hdpMemFlushCntl, 0), AT(r0600, hdpMemFlushCntl, 0)) \
  X(10006, HdpRegFlushCntl, 502, 9999, AT(r0000, hdpRegFlushCntl, 0), AT(r0600, hdpRegFlushCntl, 0)) \
  X(10007, CooperativeMultiDeviceUnmatchedFunc, 502, 9999, AT(r0000, cooperativeMultiDeviceUnmatchedFunc, 0), AT(r0600, cooperativeMultiDeviceUnmatchedFunc, 0)) \
  X(10008, CooperativeMultiDeviceUnmatchedGridDim, 502, 9999, AT(r0000, cooperativeMultiDeviceUnmatchedGridDim, 0), AT(r0600, cooperativeMultiDeviceUnmatchedGridDim, 0)) \
  X(10009, CooperativeMultiDeviceUnmatchedBlockDim, 502, 9999, AT(r0000, cooperativeMultiDeviceUnmatchedBlockDim, 0), AT(r0600, cooperativeMultiDeviceUnmatchedBlockDim, 0)) \
  X(10010, CooperativeMultiDeviceUnmatchedSharedMem, 502, 9999, AT(r0000, cooperativeMultiDeviceUnmatchedSharedMem, 0), AT(r0600, cooperativeMultiDeviceUnmatchedSharedMem, 0)) \
  X(10011, IsLargeBar, 502, 9999, AT(r0000, isLargeBar, 0), AT(r0600, isLargeBar, 0)) \
  X(10012, AsicRevision, 502, 9999, AT(r0000, asicRevision, 0), AT(r0600, asicRevision, 0)) \
  X(10013, CanUseStreamWaitValue, 502, 9999, NO_FIELD, NO_FIELD) \
  X(10014, ImageSupport, 502, 9999, NO_FIELD, NO_FIELD) \
  X(10015, PhysicalMultiProcessorCount, 502, 9999, NO_FIELD, NO_FIELD) \
  X(10016, FineGrainSupport, 502, 9999, NO_FIELD, NO_FIELD) \
  X(10017, WallClockRate, 507, 9999, NO_FIELD, NO_FIELD) \
  X(10018, NumberOfXccs, 700, 9999, NO_FIELD, NO_FIELD) \
  X(10019, PciChipId, 700, 700, NO_FIELD, NO_FIELD) \
  X(10019, MaxAvailableVgprsPerThread, 701, 9999, NO_FIELD, NO_FIELD) \
  X(10020, PciChipId, 701, 9999, NO_FIELD, NO_FIELD) \
  X(10021, ExpertSchedMode, 714, 9999, NO_FIELD, NO_FIELD) \
  X(10022, MaxDynDataPrefetchRegions, 714, 9999, NO_FIELD, NO_FIELD)

#endif
