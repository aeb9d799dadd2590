/*
 * Fields of the two device property structs: X(offset, C type, elements, name).
 * Offsets and types are those of the public headers: the 792-byte struct of
 * HIP 5.0 to 5.7 and the 1472-byte struct of HIP 6.0 to 7.14. `arch` is a word
 * of bit fields, the two hdp members are pointers.
 */
#ifndef FAKEHIP_PROPERTIES_FIELDS_H
#define FAKEHIP_PROPERTIES_FIELDS_H

#define PROPERTIES_R0000_BYTES 792
#define PROPERTIES_R0000(X) \
  X(0, char, 256, name) \
  X(256, size_t, 1, totalGlobalMem) \
  X(264, size_t, 1, sharedMemPerBlock) \
  X(272, int, 1, regsPerBlock) \
  X(276, int, 1, warpSize) \
  X(280, int, 1, maxThreadsPerBlock) \
  X(284, int, 3, maxThreadsDim) \
  X(296, int, 3, maxGridSize) \
  X(308, int, 1, clockRate) \
  X(312, int, 1, memoryClockRate) \
  X(316, int, 1, memoryBusWidth) \
  X(320, size_t, 1, totalConstMem) \
  X(328, int, 1, major) \
  X(332, int, 1, minor) \
  X(336, int, 1, multiProcessorCount) \
  X(340, int, 1, l2CacheSize) \
  X(344, int, 1, maxThreadsPerMultiProcessor) \
  X(348, int, 1, computeMode) \
  X(352, int, 1, clockInstructionRate) \
  X(356, unsigned, 1, arch) \
  X(360, int, 1, concurrentKernels) \
  X(364, int, 1, pciDomainID) \
  X(368, int, 1, pciBusID) \
  X(372, int, 1, pciDeviceID) \
  X(376, size_t, 1, maxSharedMemoryPerMultiProcessor) \
  X(384, int, 1, isMultiGpuBoard) \
  X(388, int, 1, canMapHostMemory) \
  X(392, int, 1, gcnArch) \
  X(396, char, 256, gcnArchName) \
  X(652, int, 1, integrated) \
  X(656, int, 1, cooperativeLaunch) \
  X(660, int, 1, cooperativeMultiDeviceLaunch) \
  X(664, int, 1, maxTexture1DLinear) \
  X(668, int, 1, maxTexture1D) \
  X(672, int, 2, maxTexture2D) \
  X(680, int, 3, maxTexture3D) \
  X(696, uint64_t, 1, hdpMemFlushCntl) \
  X(704, uint64_t, 1, hdpRegFlushCntl) \
  X(712, size_t, 1, memPitch) \
  X(720, size_t, 1, textureAlignment) \
  X(728, size_t, 1, texturePitchAlignment) \
  X(736, int, 1, kernelExecTimeoutEnabled) \
  X(740, int, 1, ECCEnabled) \
  X(744, int, 1, tccDriver) \
  X(748, int, 1, cooperativeMultiDeviceUnmatchedFunc) \
  X(752, int, 1, cooperativeMultiDeviceUnmatchedGridDim) \
  X(756, int, 1, cooperativeMultiDeviceUnmatchedBlockDim) \
  X(760, int, 1, cooperativeMultiDeviceUnmatchedSharedMem) \
  X(764, int, 1, isLargeBar) \
  X(768, int, 1, asicRevision) \
  X(772, int, 1, managedMemory) \
  X(776, int, 1, directManagedMemAccessFromHost) \
  X(780, int, 1, concurrentManagedAccess) \
  X(784, int, 1, pageableMemoryAccess) \
  X(788, int, 1, pageableMemoryAccessUsesHostPageTables)

#define PROPERTIES_R0600_BYTES 1472
#define PROPERTIES_R0600(X) \
  X(0, char, 256, name) \
  X(256, char, 16, uuid) \
  X(272, char, 8, luid) \
  X(280, unsigned, 1, luidDeviceNodeMask) \
  X(288, size_t, 1, totalGlobalMem) \
  X(296, size_t, 1, sharedMemPerBlock) \
  X(304, int, 1, regsPerBlock) \
  X(308, int, 1, warpSize) \
  X(312, size_t, 1, memPitch) \
  X(320, int, 1, maxThreadsPerBlock) \
  X(324, int, 3, maxThreadsDim) \
  X(336, int, 3, maxGridSize) \
  X(348, int, 1, clockRate) \
  X(352, size_t, 1, totalConstMem) \
  X(360, int, 1, major) \
  X(364, int, 1, minor) \
  X(368, size_t, 1, textureAlignment) \
  X(376, size_t, 1, texturePitchAlignment) \
  X(384, int, 1, deviceOverlap) \
  X(388, int, 1, multiProcessorCount) \
  X(392, int, 1, kernelExecTimeoutEnabled) \
  X(396, int, 1, integrated) \
  X(400, int, 1, canMapHostMemory) \
  X(404, int, 1, computeMode) \
  X(408, int, 1, maxTexture1D) \
  X(412, int, 1, maxTexture1DMipmap) \
  X(416, int, 1, maxTexture1DLinear) \
  X(420, int, 2, maxTexture2D) \
  X(428, int, 2, maxTexture2DMipmap) \
  X(436, int, 3, maxTexture2DLinear) \
  X(448, int, 2, maxTexture2DGather) \
  X(456, int, 3, maxTexture3D) \
  X(468, int, 3, maxTexture3DAlt) \
  X(480, int, 1, maxTextureCubemap) \
  X(484, int, 2, maxTexture1DLayered) \
  X(492, int, 3, maxTexture2DLayered) \
  X(504, int, 2, maxTextureCubemapLayered) \
  X(512, int, 1, maxSurface1D) \
  X(516, int, 2, maxSurface2D) \
  X(524, int, 3, maxSurface3D) \
  X(536, int, 2, maxSurface1DLayered) \
  X(544, int, 3, maxSurface2DLayered) \
  X(556, int, 1, maxSurfaceCubemap) \
  X(560, int, 2, maxSurfaceCubemapLayered) \
  X(568, size_t, 1, surfaceAlignment) \
  X(576, int, 1, concurrentKernels) \
  X(580, int, 1, ECCEnabled) \
  X(584, int, 1, pciBusID) \
  X(588, int, 1, pciDeviceID) \
  X(592, int, 1, pciDomainID) \
  X(596, int, 1, tccDriver) \
  X(600, int, 1, asyncEngineCount) \
  X(604, int, 1, unifiedAddressing) \
  X(608, int, 1, memoryClockRate) \
  X(612, int, 1, memoryBusWidth) \
  X(616, int, 1, l2CacheSize) \
  X(620, int, 1, persistingL2CacheMaxSize) \
  X(624, int, 1, maxThreadsPerMultiProcessor) \
  X(628, int, 1, streamPrioritiesSupported) \
  X(632, int, 1, globalL1CacheSupported) \
  X(636, int, 1, localL1CacheSupported) \
  X(640, size_t, 1, sharedMemPerMultiprocessor) \
  X(648, int, 1, regsPerMultiprocessor) \
  X(652, int, 1, managedMemory) \
  X(656, int, 1, isMultiGpuBoard) \
  X(660, int, 1, multiGpuBoardGroupID) \
  X(664, int, 1, hostNativeAtomicSupported) \
  X(668, int, 1, singleToDoublePrecisionPerfRatio) \
  X(672, int, 1, pageableMemoryAccess) \
  X(676, int, 1, concurrentManagedAccess) \
  X(680, int, 1, computePreemptionSupported) \
  X(684, int, 1, canUseHostPointerForRegisteredMem) \
  X(688, int, 1, cooperativeLaunch) \
  X(692, int, 1, cooperativeMultiDeviceLaunch) \
  X(696, size_t, 1, sharedMemPerBlockOptin) \
  X(704, int, 1, pageableMemoryAccessUsesHostPageTables) \
  X(708, int, 1, directManagedMemAccessFromHost) \
  X(712, int, 1, maxBlocksPerMultiProcessor) \
  X(716, int, 1, accessPolicyMaxWindowSize) \
  X(720, size_t, 1, reservedSharedMemPerBlock) \
  X(728, int, 1, hostRegisterSupported) \
  X(732, int, 1, sparseHipArraySupported) \
  X(736, int, 1, hostRegisterReadOnlySupported) \
  X(740, int, 1, timelineSemaphoreInteropSupported) \
  X(744, int, 1, memoryPoolsSupported) \
  X(748, int, 1, gpuDirectRDMASupported) \
  X(752, unsigned, 1, gpuDirectRDMAFlushWritesOptions) \
  X(756, int, 1, gpuDirectRDMAWritesOrdering) \
  X(760, unsigned, 1, memoryPoolSupportedHandleTypes) \
  X(764, int, 1, deferredMappingHipArraySupported) \
  X(768, int, 1, ipcEventSupported) \
  X(772, int, 1, clusterLaunch) \
  X(776, int, 1, unifiedFunctionPointers) \
  X(780, int, 63, reserved) \
  X(1032, int, 32, hipReserved) \
  X(1160, char, 256, gcnArchName) \
  X(1416, size_t, 1, maxSharedMemoryPerMultiProcessor) \
  X(1424, int, 1, clockInstructionRate) \
  X(1428, unsigned, 1, arch) \
  X(1432, uint64_t, 1, hdpMemFlushCntl) \
  X(1440, uint64_t, 1, hdpRegFlushCntl) \
  X(1448, int, 1, cooperativeMultiDeviceUnmatchedFunc) \
  X(1452, int, 1, cooperativeMultiDeviceUnmatchedGridDim) \
  X(1456, int, 1, cooperativeMultiDeviceUnmatchedBlockDim) \
  X(1460, int, 1, cooperativeMultiDeviceUnmatchedSharedMem) \
  X(1464, int, 1, isLargeBar) \
  X(1468, int, 1, asicRevision)

#endif
