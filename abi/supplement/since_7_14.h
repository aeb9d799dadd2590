/* Added in HIP 7.14 (some already in 7.13; no release between 7.2 and 7.14 was measured). */

enum hipError_t__since_7_14 {
  hipErrorInvalidResourceType = 914,
  hipErrorInvalidResourceConfiguration = 915,
  hipErrorStreamDetached = 916,
  hipErrorInvalidClusterSize = 1054,
  hipErrorTbd__since_7_14 = 1055
};

enum hipDeviceAttribute_t__since_7_14 {
  hipDeviceAttributeHostNumaId = 92,
  hipDeviceAttributeDmaBufSupported = 93,
  hipDeviceAttributeGPUDirectRDMAWithHipVMMSupported = 94,
  hipDeviceAttributeHandleTypeFabricSupported = 95,
  hipDeviceAttributeExpertSchedMode = 10021,
  hipDeviceAttributeMaxDynDataPrefetchRegions = 10022
};

enum hipFuncAttribute__since_7_14 {
  hipFuncAttributeClusterDimMustBeSet = 10,
  hipFuncAttributeRequiredClusterWidth = 11,
  hipFuncAttributeRequiredClusterHeight = 12,
  hipFuncAttributeRequiredClusterDepth = 13,
  hipFuncAttributeNonPortableClusterSizeAllowed = 14,
  hipFuncAttributeClusterSchedulingPolicyPreference = 15,
  hipFuncAttributeMax__since_7_14 = 16
};

enum hipFunction_attribute__since_7_14 {
  HIP_FUNC_ATTRIBUTE_CLUSTER_DIM_MUST_BE_SET = 10,
  HIP_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH = 11,
  HIP_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT = 12,
  HIP_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH = 13,
  HIP_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED = 14,
  HIP_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE = 15,
  HIP_FUNC_ATTRIBUTE_MAX__since_7_14 = 16
};

enum hipMemAllocationHandleType__since_7_14 { hipMemHandleTypeFabric = 8 };
enum hipMemAllocationType__since_7_14 { hipMemAllocationTypeManaged = 2 };

enum hipMemcpyFlags__since_7_14 {
  hipMemcpyFlagExtPreferCE = 256,
  hipMemcpyFlagExtOpSwap = 512,
  hipMemcpyFlagExtOpIndirectSrc = 1024,
  hipMemcpyFlagExtOpIndirectDst = 2048
};

#define HIP_GET_PROC_ADDRESS_DEFAULT 0x0
#define HIP_GET_PROC_ADDRESS_LEGACY_STREAM 0x1
#define HIP_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM 0x2
#define hipStreamWriteValueDefault 0x0
#define hipExtStreamWriteValueIncrement 0x1000
#define hipExtStreamWriteValueDecrement 0x1001

/* Launch attributes. */

enum hipLaunchAttributeID__since_7_14 {
  hipLaunchAttributeIgnore = 0,
  hipLaunchAttributeClusterDimension = 4,
  hipLaunchAttributeClusterSchedulingPolicyPreference = 5,
  hipLaunchAttributeExtDynDataPrefetch = 1024,
  hipLaunchAttributeMax__since_7_14 = 1025
};

typedef enum hipClusterSchedulingPolicy {
  hipClusterSchedulingPolicyDefault = 0,
  hipClusterSchedulingPolicySpread = 1,
  hipClusterSchedulingPolicyLoadBalancing = 2
} hipClusterSchedulingPolicy;

#define HIP_EXT_DYN_DATA_PREFETCH_MAX_REGIONS 2

typedef enum hipExtDynDataPrefetchTemporal {
  hipExtDynDataPrefetchTemporalRegular = 0,
  hipExtDynDataPrefetchTemporalHigh = 1
} hipExtDynDataPrefetchTemporal;

typedef struct hipExtDynDataPrefetchRegion {
  void *address;
  size_t stride;
  size_t width;
  size_t height;
} hipExtDynDataPrefetchRegion;

typedef struct hipExtDynDataPrefetchConfig {
  unsigned int numRegions;
  hipExtDynDataPrefetchTemporal temporal;
  hipExtDynDataPrefetchRegion regions[HIP_EXT_DYN_DATA_PREFETCH_MAX_REGIONS];
} hipExtDynDataPrefetchConfig;

typedef union hipLaunchAttributeValue__since_7_14 {
  char pad[64];
  hipAccessPolicyWindow accessPolicyWindow;
  int cooperative;
  int priority;
  hipSynchronizationPolicy syncPolicy;
  hipLaunchMemSyncDomainMap memSyncDomainMap;
  hipLaunchMemSyncDomain memSyncDomain;
  struct {
    unsigned int x;
    unsigned int y;
    unsigned int z;
  } clusterDim;
  hipClusterSchedulingPolicy clusterSchedulingPolicyPreference;
  const hipExtDynDataPrefetchConfig *dynDataPrefetch;
} hipLaunchAttributeValue__since_7_14;

/* Execution contexts and the device resources they are made of. */

typedef struct ihipExecutionCtx_t *hipExecutionCtx_t;
typedef struct ihipDevResourceDesc_t *hipDevResourceDesc_t;

typedef enum hipDevResourceType {
  hipDevResourceTypeInvalid = 0,
  hipDevResourceTypeSm = 1,
  hipDevResourceTypeWorkqueueConfig = 1000,
  hipDevResourceTypeWorkqueue = 10000
} hipDevResourceType;

typedef enum hipDevSmResourceGroup_flags {
  hipDevSmResourceGroupDefault = 0,
  hipDevSmResourceGroupBackfill = 1
} hipDevSmResourceGroup_flags;

typedef enum hipDevSmResourceSplitByCount_flags {
  hipDevSmResourceSplitIgnoreSmCoscheduling = 1,
  hipDevSmResourceSplitMaxPotentialClusterSize = 2
} hipDevSmResourceSplitByCount_flags;

typedef enum hipDevWorkqueueConfigScope {
  hipDevWorkqueueConfigScopeDeviceCtx = 0,
  hipDevWorkqueueConfigScopeGreenCtxBalanced = 1
} hipDevWorkqueueConfigScope;

typedef struct hipDevSmResource {
  unsigned int smCount;
  unsigned int minSmPartitionSize;
  unsigned int smCoscheduledAlignment;
  unsigned int flags;
} hipDevSmResource;

typedef struct hipDevWorkqueueConfigResource {
  int device;
  unsigned int wqConcurrencyLimit;
  hipDevWorkqueueConfigScope sharingScope;
} hipDevWorkqueueConfigResource;

#define HIP_RESOURCE_ABI_BYTES 40

typedef struct hipDevWorkqueueResource {
  unsigned char reserved[HIP_RESOURCE_ABI_BYTES];
} hipDevWorkqueueResource;

typedef struct hipDevResource_st {
  hipDevResourceType type;
  unsigned char _internal_padding[92];
  union {
    hipDevSmResource sm;
    hipDevWorkqueueConfigResource wqConfig;
    hipDevWorkqueueResource wq;
    unsigned char _oversize[HIP_RESOURCE_ABI_BYTES];
  };
  struct hipDevResource_st *nextResource;
} hipDevResource;

typedef struct hipDevSmResourceGroupParams_st {
  unsigned int smCount;
  unsigned int coscheduledSmCount;
  unsigned int preferredCoscheduledSmCount;
  unsigned int flags;
  unsigned int reserved[12];
} hipDevSmResourceGroupParams;

hipError_t hipDeviceGetDevResource(hipDevice_t device, hipDevResource *resource,
                                   hipDevResourceType type);
hipError_t hipDeviceGetExecutionCtx(hipExecutionCtx_t *ctx, int device);
hipError_t hipDevResourceGenerateDesc(hipDevResourceDesc_t *phDesc, hipDevResource *resources,
                                      unsigned int nbResources);
hipError_t hipDevSmResourceSplit(hipDevResource *result, unsigned int nbGroups,
                                 const hipDevResource *input, hipDevResource *remainder,
                                 unsigned int flags, hipDevSmResourceGroupParams *groupParams);
hipError_t hipDevSmResourceSplitByCount(hipDevResource *result, unsigned int *nbGroups,
                                        const hipDevResource *input, hipDevResource *remainder,
                                        unsigned int flags, unsigned int minCount);
hipError_t hipExecutionCtxDestroy(hipExecutionCtx_t ctx);
hipError_t hipExecutionCtxGetDevice(int *device, hipExecutionCtx_t ctx);
hipError_t hipExecutionCtxGetDevResource(hipExecutionCtx_t ctx, hipDevResource *resource,
                                         hipDevResourceType type);
hipError_t hipExecutionCtxGetId(hipExecutionCtx_t ctx, unsigned long long *ctxId);
hipError_t hipExecutionCtxRecordEvent(hipExecutionCtx_t ctx, hipEvent_t event);
hipError_t hipExecutionCtxStreamCreate(hipStream_t *stream, hipExecutionCtx_t greenctx,
                                       unsigned int flags, int priority);
hipError_t hipExecutionCtxSynchronize(hipExecutionCtx_t ctx);
hipError_t hipExecutionCtxWaitEvent(hipExecutionCtx_t ctx, hipEvent_t event);
hipError_t hipGreenCtxCreate(hipExecutionCtx_t *ctx, hipDevResourceDesc_t desc, int device,
                             unsigned int flags);
hipError_t hipStreamGetDevResource(hipStream_t hStream, hipDevResource *resource,
                                   hipDevResourceType type);

/* Kernels and libraries. */

hipError_t hipKernelGetAttribute(int *pi, hipFunction_attribute attrib, hipKernel_t kernel,
                                 hipDevice_t dev);
hipError_t hipKernelSetAttribute(hipFunction_attribute attrib, int value, hipKernel_t kernel,
                                 hipDevice_t dev);
hipError_t hipKernelGetFunction(hipFunction_t *pFunc, hipKernel_t kernel);
hipError_t hipKernelGetParamInfo(hipKernel_t kernel, size_t paramIndex, size_t *paramOffset,
                                 size_t *paramSize);
hipError_t hipLibraryGetGlobal(void **dptr, size_t *bytes, hipLibrary_t library, const char *name);
hipError_t hipLibraryGetManaged(void **dptr, size_t *bytes, hipLibrary_t library,
                                const char *name);
hipError_t hipOccupancyMaxActiveClusters(int *numClusters, const void *f,
                                         const hipLaunchConfig_t *config);
hipError_t hipOccupancyMaxPotentialClusterSize(int *clusterSize, const void *f,
                                               const hipLaunchConfig_t *config);
hipError_t hipGetProcAddress_spt(const char *symbol, void **pfn, int hipVersion, uint64_t flags,
                                 hipDriverProcAddressQueryResult *symbolStatus);

/* Memory. */

typedef struct hipArrayMemoryRequirements {
  size_t alignment;
  size_t size;
} hipArrayMemoryRequirements;

typedef struct hipMemFabricHandle_st {
  unsigned char data[64];
} hipMemFabricHandle_t;

hipError_t hipMemGetMemPool(hipMemPool_t *pool, hipMemLocation *location,
                            hipMemAllocationType type);
hipError_t hipMemSetMemPool(hipMemLocation *location, hipMemAllocationType type,
                            hipMemPool_t pool);
hipError_t hipMemPrefetchBatchAsync(void **dev_ptrs, size_t *sizes, size_t count,
                                    hipMemLocation *prefetch_locs, size_t *prefetch_loc_idxs,
                                    size_t num_prefetch_locs, unsigned long long flags,
                                    hipStream_t stream);
hipError_t hipMemDiscardBatchAsync(void **dev_ptrs, size_t *sizes, size_t count,
                                   unsigned long long flags, hipStream_t stream);
hipError_t hipMemDiscardAndPrefetchBatchAsync(void **dptrs, size_t *sizes, size_t count,
                                              hipMemLocation *prefetchLocs,
                                              size_t *prefetchLocIdxs, size_t numPrefetchLocs,
                                              unsigned long long flags, hipStream_t stream);
hipError_t hipDrvMemDiscardBatchAsync(hipDeviceptr_t *dptrs, size_t *sizes, size_t count,
                                      unsigned long long flags, hipStream_t stream);
hipError_t hipDrvMemDiscardAndPrefetchBatchAsync(hipDeviceptr_t *dptrs, size_t *sizes,
                                                 size_t count, hipMemLocation *prefetchLocs,
                                                 size_t *prefetchLocIdxs, size_t numPrefetchLocs,
                                                 unsigned long long flags, hipStream_t stream);
hipError_t hipMipmappedArrayGetMemoryRequirements(hipArrayMemoryRequirements *memoryRequirements,
                                                  hipMipmappedArray_t mipmap, hipDevice_t device);

/* The runtime's own log. */

hipError_t hipExtEnableLogging(void);
hipError_t hipExtDisableLogging(void);
hipError_t hipExtSetLoggingParams(size_t log_level, size_t log_size, size_t log_mask);
