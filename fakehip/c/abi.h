/*
 * The part of HIP's ABI that the modelled functions need: sizes, offsets and
 * values as in the public headers of HIP 5.2 to 7.14.
 */
#ifndef FAKEHIP_ABI_H
#define FAKEHIP_ABI_H

#include <stddef.h>
#include <stdint.h>

typedef int hipError_t;
typedef int hiprtcResult;

enum {
  hipSuccess = 0,
  hipErrorInvalidValue = 1,
  hipErrorOutOfMemory = 2,
  hipErrorInvalidConfiguration = 9,
  hipErrorInvalidPitchValue = 12,
  hipErrorInvalidSymbol = 13,
  hipErrorInvalidDevicePointer = 17,
  hipErrorInvalidMemcpyDirection = 21,
  hipErrorMissingConfiguration = 52,
  hipErrorInvalidDeviceFunction = 98,
  hipErrorNoDevice = 100,
  hipErrorInvalidDevice = 101,
  hipErrorInvalidImage = 200,
  hipErrorInvalidContext = 201,
  hipErrorUnsupportedLimit = 215,
  hipErrorFileNotFound = 301,
  hipErrorInvalidHandle = 400,
  hipErrorNotFound = 500,
  hipErrorNotReady = 600,
  hipErrorPeerAccessAlreadyEnabled = 704,
  hipErrorPeerAccessNotEnabled = 705,
  hipErrorHostMemoryAlreadyRegistered = 712,
  hipErrorHostMemoryNotRegistered = 713,
  hipErrorNotSupported = 801,
};

enum {
  HIPRTC_SUCCESS = 0,
  HIPRTC_ERROR_OUT_OF_MEMORY = 1,
  HIPRTC_ERROR_INVALID_INPUT = 3,
  HIPRTC_ERROR_INVALID_PROGRAM = 4,
  HIPRTC_ERROR_COMPILATION = 6,
  HIPRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION = 8,
  HIPRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION = 9,
  HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID = 10,
  HIPRTC_ERROR_INTERNAL_ERROR = 11,
};

typedef unsigned hipMemcpyKind;
enum {
  hipMemcpyHostToHost = 0,
  hipMemcpyHostToDevice = 1,
  hipMemcpyDeviceToHost = 2,
  hipMemcpyDeviceToDevice = 3,
  hipMemcpyDefault = 4,
  hipMemcpyDeviceToDeviceNoCU = 1024, /* since 6.1 */
};

typedef struct dim3 {
  uint32_t x, y, z;
} dim3;

typedef struct hipUUID {
  char bytes[16];
} hipUUID;

typedef struct hipExtent {
  size_t width, height, depth;
} hipExtent;

typedef struct hipPitchedPtr {
  void *ptr;
  size_t pitch, xsize, ysize;
} hipPitchedPtr;

typedef struct hipChannelFormatDesc {
  int x, y, z, w;
  unsigned f;
} hipChannelFormatDesc;

typedef struct hipMemLocation {
  int type, id;
} hipMemLocation;

typedef struct hipIpcMemHandle_t {
  char reserved[64];
} hipIpcMemHandle_t;

/* 32 bytes in every version; the first member's values differ (see memory.c),
 * and its name: memoryType up to 5.7, type since 5.5. */
typedef struct hipPointerAttribute_t {
  union {
    unsigned memoryType;
    unsigned type;
  };
  int device;
  void *devicePointer;
  void *hostPointer;
  int isManaged;
  unsigned allocationFlags;
} hipPointerAttribute_t;
_Static_assert(sizeof(hipPointerAttribute_t) == 32, "hipPointerAttribute_t");
_Static_assert(offsetof(hipPointerAttribute_t, allocationFlags) == 28, "hipPointerAttribute_t");

typedef struct hipFuncAttributes {
  int binaryVersion;
  int cacheModeCA;
  size_t constSizeBytes;
  size_t localSizeBytes;
  int maxDynamicSharedSizeBytes;
  int maxThreadsPerBlock;
  int numRegs;
  int preferredShmemCarveout;
  int ptxVersion;
  size_t sharedSizeBytes;
} hipFuncAttributes;
_Static_assert(sizeof(hipFuncAttributes) == 56, "hipFuncAttributes");

typedef struct hipLaunchConfig_t {
  dim3 gridDim, blockDim;
  size_t dynamicSmemBytes;
  struct stream *stream;
  void *attrs;
  unsigned numAttrs;
} hipLaunchConfig_t;
_Static_assert(sizeof(hipLaunchConfig_t) == 56, "hipLaunchConfig_t");

typedef struct HIP_LAUNCH_CONFIG {
  unsigned gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes;
  struct stream *hStream;
  void *attrs;
  unsigned numAttrs;
} HIP_LAUNCH_CONFIG;
_Static_assert(sizeof(HIP_LAUNCH_CONFIG) == 56, "HIP_LAUNCH_CONFIG");

/* Handles are pointers into the fake's own heap, checked there (heap.h). */
typedef struct stream *hipStream_t;
typedef struct event *hipEvent_t;
typedef struct module *hipModule_t;
typedef struct function *hipFunction_t;
typedef struct context *hipCtx_t;
typedef struct program *hiprtcProgram;
typedef void *hipDeviceptr_t;
typedef int hipDevice_t;

/* Stream handles that name a stream instead of pointing to one. */
#define hipStreamLegacy ((hipStream_t)1)
#define hipStreamPerThread ((hipStream_t)2)

/* Markers in the `extra` array of a launch. */
#define HIP_LAUNCH_PARAM_BUFFER_POINTER ((void *)1)
#define HIP_LAUNCH_PARAM_BUFFER_SIZE ((void *)2)
#define HIP_LAUNCH_PARAM_END ((void *)3)

#endif
