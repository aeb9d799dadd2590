/*
 * The structs and constants that changed from one HIP version to another behind
 * an unchanged name, as the version FAKE_HIP_MAJOR.FAKE_HIP_MINOR has them, and
 * the structs they contain. Files that include this header are compiled once
 * per version. Members have the names of the public headers, whose layouts
 * tests/layouts.txt lists and tests/layouts.rs compares. What a version does not
 * declare yet may be here all the same.
 */
#ifndef FAKEHIP_LAYOUTS_H
#define FAKEHIP_LAYOUTS_H

#include <stdbool.h>

#include "abi.h"
#include "properties.h"

#if !defined FAKE_HIP_MAJOR || !defined FAKE_HIP_MINOR
#error "layouts.h describes one version: define FAKE_HIP_MAJOR and FAKE_HIP_MINOR"
#endif
#define HIP_SINCE(major, minor) \
  (FAKE_HIP_MAJOR * 100 + FAKE_HIP_MINOR >= (major) * 100 + (minor))

#define LAYOUT_SIZE(type, bytes) _Static_assert(sizeof(type) == (bytes), #type)

typedef struct array *hipArray_t;
typedef struct graph *hipGraph_t;
typedef struct graph_node *hipGraphNode_t;
typedef struct graph_exec *hipGraphExec_t;
typedef struct memory_pool *hipMemPool_t;
typedef struct memory_handle *hipMemGenericAllocationHandle_t;
typedef struct external_memory *hipExternalMemory_t;
typedef struct external_semaphore *hipExternalSemaphore_t;

/* --- constants ------------------------------------------------------------- */

typedef unsigned hipMemoryType;
enum {
#if HIP_SINCE(6, 0)
  hipMemoryTypeUnregistered = 0,
  hipMemoryTypeHost = 1,
  hipMemoryTypeDevice = 2,
  hipMemoryTypeManaged = 3,
  hipMemoryTypeArray = 10,
  hipMemoryTypeUnified = 11,
#else
  hipMemoryTypeHost = 0,
  hipMemoryTypeDevice = 1,
  hipMemoryTypeArray = 2,
  hipMemoryTypeUnified = 3,
#if HIP_SINCE(5, 3)
  hipMemoryTypeManaged = 4,
#endif
#endif
};

static inline bool is_memory_type(hipMemoryType type) {
#if HIP_SINCE(6, 0)
  return type <= hipMemoryTypeManaged || type == hipMemoryTypeArray || type == hipMemoryTypeUnified;
#elif HIP_SINCE(5, 3)
  return type <= hipMemoryTypeManaged;
#else
  return type <= hipMemoryTypeUnified;
#endif
}

typedef unsigned hipGraphNodeType;
enum {
#if !HIP_SINCE(5, 3)
  hipGraphNodeTypeKernel = 1,
  hipGraphNodeTypeMemcpy,
  hipGraphNodeTypeMemset,
  hipGraphNodeTypeHost,
  hipGraphNodeTypeGraph,
  hipGraphNodeTypeEmpty,
  hipGraphNodeTypeWaitEvent,
  hipGraphNodeTypeEventRecord,
  hipGraphNodeTypeMemcpy1D,
#else
  hipGraphNodeTypeKernel = 0,
  hipGraphNodeTypeMemcpy,
  hipGraphNodeTypeMemset,
  hipGraphNodeTypeHost,
  hipGraphNodeTypeGraph,
  hipGraphNodeTypeEmpty,
  hipGraphNodeTypeWaitEvent,
  hipGraphNodeTypeEventRecord,
  hipGraphNodeTypeExtSemaphoreSignal,
  hipGraphNodeTypeExtSemaphoreWait,
#if HIP_SINCE(5, 5)
  hipGraphNodeTypeMemAlloc,
  hipGraphNodeTypeMemFree,
#endif
#endif
  hipGraphNodeTypeMemcpyFromSymbol,
  hipGraphNodeTypeMemcpyToSymbol,
#if HIP_SINCE(6, 4)
  hipGraphNodeTypeBatchMemOp,
#endif
  hipGraphNodeTypeCount,
};

typedef unsigned hipLimit_t;
enum {
#if HIP_SINCE(5, 3)
  hipLimitStackSize = 0,
#endif
  hipLimitPrintfFifoSize = 1,
  hipLimitMallocHeapSize = 2,
#if HIP_SINCE(7, 0)
  hipExtLimitScratchMin = 4096,
  hipExtLimitScratchMax,
  hipExtLimitScratchCurrent,
#endif
#if HIP_SINCE(5, 3)
  hipLimitRange, /* one behind the last: 3 up to 6.4, 4099 since 7.0 */
#endif
};

enum {
  hipIpcMemLazyEnablePeerAccess = HIP_SINCE(6, 0) ? 1 : 0,
  hipDeviceLmemResizeToMax = HIP_SINCE(5, 3) ? 0x10 : 0x16,
  hipMemAllocationTypePinned = 1,
#if HIP_SINCE(7, 0)
  hipMemAllocationTypeUncached = 0x40000000,
#endif
};

/* --- device properties ----------------------------------------------------- */

typedef struct r0600 hipDeviceProp_tR0600;
typedef struct r0000 hipDeviceProp_tR0000;
#if !HIP_SINCE(6, 0)
typedef struct r0000 hipDeviceProp_t;
#endif

/* --- copies ----------------------------------------------------------------- */

#if HIP_SINCE(6, 0)
typedef size_t memcpy3d_extent;
#else
typedef unsigned memcpy3d_extent;
#endif

typedef struct HIP_MEMCPY3D {
  memcpy3d_extent srcXInBytes, srcY, srcZ, srcLOD;
  hipMemoryType srcMemoryType;
  const void *srcHost;
  hipDeviceptr_t srcDevice;
  hipArray_t srcArray;
  memcpy3d_extent srcPitch, srcHeight;
  memcpy3d_extent dstXInBytes, dstY, dstZ, dstLOD;
  hipMemoryType dstMemoryType;
  void *dstHost;
  hipDeviceptr_t dstDevice;
  hipArray_t dstArray;
  memcpy3d_extent dstPitch, dstHeight;
  memcpy3d_extent WidthInBytes, Height, Depth;
} HIP_MEMCPY3D;
LAYOUT_SIZE(HIP_MEMCPY3D, HIP_SINCE(6, 0) ? 184 : 128);

/* The layout is the same in every version, the memory types are not. */
typedef struct hip_Memcpy2D {
  size_t srcXInBytes, srcY;
  hipMemoryType srcMemoryType;
  const void *srcHost;
  hipDeviceptr_t srcDevice;
  hipArray_t srcArray;
  size_t srcPitch;
  size_t dstXInBytes, dstY;
  hipMemoryType dstMemoryType;
  void *dstHost;
  hipDeviceptr_t dstDevice;
  hipArray_t dstArray;
  size_t dstPitch;
  size_t WidthInBytes, Height;
} hip_Memcpy2D;
LAYOUT_SIZE(hip_Memcpy2D, 128);

/* --- virtual memory and pools ------------------------------------------------- */

#if HIP_SINCE(5, 3)
typedef struct hipMemAllocationProp {
  int type;
  union { /* spelled in the plural since 7.1 */
    int requestedHandleType;
    int requestedHandleTypes;
  };
  hipMemLocation location;
  void *win32HandleMetaData;
  struct {
    unsigned char compressionType;
    unsigned char gpuDirectRDMACapable;
    unsigned short usage;
  } allocFlags;
} hipMemAllocationProp;
#else
typedef struct hipMemAllocationProp {
  unsigned char compressionType;
  hipMemLocation location;
  int requestedHandleType;
  int type;
  unsigned short usage;
  void *win32HandleMetaData;
} hipMemAllocationProp;
#endif
LAYOUT_SIZE(hipMemAllocationProp, 32);

typedef struct hipMemPoolProps {
  int allocType;
  int handleTypes;
  hipMemLocation location;
  void *win32SecurityAttributes;
#if HIP_SINCE(6, 2)
  size_t maxSize;
  unsigned char reserved[56];
#else
  unsigned char reserved[64];
#endif
} hipMemPoolProps;
LAYOUT_SIZE(hipMemPoolProps, 88);

typedef struct hipMemAccessDesc {
  hipMemLocation location;
  int flags;
} hipMemAccessDesc;

typedef struct hipMemAllocNodeParams {
  hipMemPoolProps poolProps;
  const hipMemAccessDesc *accessDescs;
  size_t accessDescCount;
  size_t bytesize;
  void *dptr;
} hipMemAllocNodeParams;
LAYOUT_SIZE(hipMemAllocNodeParams, 120);

/* --- external memory and semaphores --------------------------------------------- */

#if HIP_SINCE(6, 0)
#define RESERVED_SINCE_6 unsigned reserved[16];
#else
#define RESERVED_SINCE_6
#endif

typedef union external_handle {
  int fd;
  struct {
    void *handle;
    const void *name;
  } win32;
  const void *nvSciObject;
} external_handle;

typedef struct hipExternalMemoryHandleDesc_st {
  int type;
  external_handle handle;
  unsigned long long size;
  unsigned flags;
  RESERVED_SINCE_6
} hipExternalMemoryHandleDesc;
LAYOUT_SIZE(hipExternalMemoryHandleDesc, HIP_SINCE(6, 0) ? 104 : 40);

typedef struct hipExternalMemoryBufferDesc_st {
  unsigned long long offset, size;
  unsigned flags;
  RESERVED_SINCE_6
} hipExternalMemoryBufferDesc;
LAYOUT_SIZE(hipExternalMemoryBufferDesc, HIP_SINCE(6, 0) ? 88 : 24);

typedef struct hipExternalSemaphoreHandleDesc_st {
  int type;
  external_handle handle;
  unsigned flags;
  RESERVED_SINCE_6
} hipExternalSemaphoreHandleDesc;
LAYOUT_SIZE(hipExternalSemaphoreHandleDesc, HIP_SINCE(6, 0) ? 96 : 32);

#undef RESERVED_SINCE_6

typedef struct semaphore_value {
  unsigned long long value;
} semaphore_value;

typedef union semaphore_sync_object {
  void *fence;
  unsigned long long reserved;
} semaphore_sync_object;

typedef struct hipExternalSemaphoreSignalParams_st {
  struct {
    semaphore_value fence;
#if HIP_SINCE(6, 0)
    semaphore_sync_object nvSciSync;
#endif
    struct {
      unsigned long long key;
    } keyedMutex;
    unsigned reserved[12];
  } params;
  unsigned flags;
  unsigned reserved[16];
} hipExternalSemaphoreSignalParams;
LAYOUT_SIZE(hipExternalSemaphoreSignalParams, HIP_SINCE(6, 0) ? 144 : 136);

typedef struct hipExternalSemaphoreWaitParams_st {
  struct {
    semaphore_value fence;
#if HIP_SINCE(6, 0)
    semaphore_sync_object nvSciSync;
#endif
    struct {
      unsigned long long key;
      unsigned timeoutMs;
    } keyedMutex;
    unsigned reserved[10];
  } params;
  unsigned flags;
  unsigned reserved[16];
} hipExternalSemaphoreWaitParams;
LAYOUT_SIZE(hipExternalSemaphoreWaitParams, HIP_SINCE(6, 0) ? 144 : 136);

typedef struct hipExternalSemaphoreSignalNodeParams {
  hipExternalSemaphore_t *extSemArray;
  const hipExternalSemaphoreSignalParams *paramsArray;
  unsigned numExtSems;
} hipExternalSemaphoreSignalNodeParams;
LAYOUT_SIZE(hipExternalSemaphoreSignalNodeParams, 24);

typedef struct hipExternalSemaphoreWaitNodeParams {
  hipExternalSemaphore_t *extSemArray;
  const hipExternalSemaphoreWaitParams *paramsArray;
  unsigned numExtSems;
} hipExternalSemaphoreWaitNodeParams;
LAYOUT_SIZE(hipExternalSemaphoreWaitNodeParams, 24);

/* --- graph nodes -------------------------------------------------------------------- */

typedef struct hipMemsetParams {
  void *dst;
  unsigned elementSize;
  size_t height, pitch;
  unsigned value;
  size_t width;
} hipMemsetParams;
LAYOUT_SIZE(hipMemsetParams, 48);

#if !HIP_SINCE(7, 0)
typedef struct HIP_MEMSET_NODE_PARAMS {
  hipDeviceptr_t dst;
  size_t pitch;
  unsigned value;
  unsigned elementSize;
  size_t width, height;
} HIP_MEMSET_NODE_PARAMS;
LAYOUT_SIZE(HIP_MEMSET_NODE_PARAMS, 40);
/* What the driver-style memset nodes take. */
typedef HIP_MEMSET_NODE_PARAMS drv_memset_params;
#else
typedef hipMemsetParams drv_memset_params;
#endif

typedef struct hipAccessPolicyWindow {
  void *base_ptr;
  int hitProp;
  float hitRatio;
  int missProp;
  size_t num_bytes;
} hipAccessPolicyWindow;

typedef union hipLaunchAttributeValue {
#if HIP_SINCE(7, 0)
  char pad[64];
  int syncPolicy;
  struct {
    unsigned char default_, remote;
  } memSyncDomainMap;
  int memSyncDomain;
#endif
  hipAccessPolicyWindow accessPolicyWindow;
  int cooperative;
  int priority;
} hipLaunchAttributeValue;
LAYOUT_SIZE(hipLaunchAttributeValue, HIP_SINCE(7, 0) ? 64 : 32);
#if !HIP_SINCE(6, 2)
typedef hipLaunchAttributeValue hipKernelNodeAttrValue;
#endif

typedef struct hipKernelNodeParams {
  dim3 blockDim;
  void **extra;
  void *func;
  dim3 gridDim;
  void **kernelParams;
  unsigned sharedMemBytes;
} hipKernelNodeParams;
LAYOUT_SIZE(hipKernelNodeParams, 64);

typedef struct hipPos {
  size_t x, y, z;
} hipPos;

typedef struct hipMemcpy3DParms {
  hipArray_t srcArray;
  hipPos srcPos;
  hipPitchedPtr srcPtr;
  hipArray_t dstArray;
  hipPos dstPos;
  hipPitchedPtr dstPtr;
  hipExtent extent;
  hipMemcpyKind kind;
} hipMemcpy3DParms;
LAYOUT_SIZE(hipMemcpy3DParms, 160);

typedef struct hipMemcpyNodeParams {
  int flags;
  int reserved[3];
  hipMemcpy3DParms copyParams;
} hipMemcpyNodeParams;
LAYOUT_SIZE(hipMemcpyNodeParams, 176);

/* Since 6.1. The members that changed do so inside the union. */
typedef struct hipGraphNodeParams {
  hipGraphNodeType type;
  int reserved0[3];
  union {
    long long reserved1[29];
    hipKernelNodeParams kernel;
    hipMemcpyNodeParams memcpy;
    hipMemsetParams memset;
    struct {
      void (*fn)(void *);
      void *userData;
    } host;
    hipGraph_t graph;
    hipEvent_t event;
    hipExternalSemaphoreSignalNodeParams extSemSignal;
    hipExternalSemaphoreWaitNodeParams extSemWait;
    hipMemAllocNodeParams alloc;
    void *free;
  };
  long long reserved2;
} hipGraphNodeParams;
LAYOUT_SIZE(hipGraphNodeParams, 256);

#endif
