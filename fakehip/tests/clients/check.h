/* Prototypes as a C program would have them. */
#ifndef CHECK_H
#define CHECK_H

#include "assert_that.h"

enum { INVALID_VALUE = 1, OUT_OF_MEMORY = 2, INVALID_CONFIGURATION = 9, INVALID_PITCH = 12,
       INVALID_DIRECTION = 21, INVALID_DEVICE_FUNCTION = 98, NO_DEVICE = 100,
       INVALID_DEVICE = 101, INVALID_IMAGE = 200, FILE_NOT_FOUND = 301, INVALID_HANDLE = 400,
       NOT_FOUND = 500, NOT_READY = 600, NOT_SUPPORTED = 801 };
enum { H2H, H2D, D2H, D2D, DEFAULT };

typedef struct { uint32_t x, y, z; } dim3;
typedef void *hipStream_t, *hipEvent_t, *hipModule_t, *hipFunction_t;

int hipInit(unsigned);
int hipRuntimeGetVersion(int *);
int hipGetDeviceCount(int *);
int hipGetDevice(int *);
int hipSetDevice(int);
int hipDeviceGetName(char *, int, int);
int hipDeviceGetAttribute(int *, int, int);
int hipDeviceSynchronize(void);
int hipGetDeviceProperties(void *, int);
int hipGetDevicePropertiesR0000(void *, int);
int hipGetDevicePropertiesR0600(void *, int);
int hipGetLastError(void);
int hipPeekAtLastError(void);
int hipExtGetLastError(void);
const char *hipGetErrorName(int);
const char *hipGetErrorString(int);
int hipMalloc(void **, size_t);
int hipFree(void *);
int hipMallocAsync(void **, size_t, hipStream_t);
int hipFreeAsync(void *, hipStream_t);
int hipMallocManaged(void **, size_t, unsigned);
int hipHostMalloc(void **, size_t, unsigned);
int hipHostFree(void *);
int hipHostRegister(void *, size_t, unsigned);
int hipHostUnregister(void *);
int hipMemGetInfo(size_t *, size_t *);
int hipPointerGetAttributes(void *, const void *);
int hipMemcpy(void *, const void *, size_t, unsigned);
int hipMemcpy_spt(void *, const void *, size_t, unsigned);
int hipMemcpyAsync(void *, const void *, size_t, unsigned, hipStream_t);
int hipMemcpyHtoD(void *, const void *, size_t);
int hipMemcpyDtoH(void *, void *, size_t);
int hipMemcpyDtoD(void *, void *, size_t);
int hipMemcpyPeer(void *, int, const void *, int, size_t);
int hipMemcpy2D(void *, size_t, const void *, size_t, size_t, size_t, unsigned);
int hipMemset(void *, int, size_t);
int hipMemsetD8(void *, unsigned char, size_t);
int hipMemsetD16(void *, unsigned short, size_t);
int hipMemsetD32(void *, int, size_t);
int hipMemsetAsync(void *, int, size_t, hipStream_t);
int hipStreamCreate(hipStream_t *);
int hipStreamCreateWithFlags(hipStream_t *, unsigned);
int hipStreamCreateWithPriority(hipStream_t *, unsigned, int);
int hipStreamDestroy(hipStream_t);
int hipStreamQuery(hipStream_t);
int hipStreamSynchronize(hipStream_t);
int hipStreamWaitEvent(hipStream_t, hipEvent_t, unsigned);
int hipStreamGetPriority(hipStream_t, int *);
int hipLaunchHostFunc(hipStream_t, void (*)(void *), void *);
int hipEventCreate(hipEvent_t *);
int hipEventCreateWithFlags(hipEvent_t *, unsigned);
int hipEventRecord(hipEvent_t, hipStream_t);
int hipEventQuery(hipEvent_t);
int hipEventSynchronize(hipEvent_t);
int hipEventElapsedTime(float *, hipEvent_t, hipEvent_t);
int hipEventDestroy(hipEvent_t);
int hipModuleLoad(hipModule_t *, const char *);
int hipModuleLoadData(hipModule_t *, const void *);
int hipModuleUnload(hipModule_t);
int hipModuleGetFunction(hipFunction_t *, hipModule_t, const char *);
int hipModuleGetGlobal(void **, size_t *, hipModule_t, const char *);
int hipModuleLaunchKernel(hipFunction_t, unsigned, unsigned, unsigned, unsigned, unsigned,
                          unsigned, unsigned, hipStream_t, void **, void **);
/* The C++ name, which all versions export; 5.2.3 has no other. */
int hipExtModuleLaunchKernel(hipFunction_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t,
                             uint32_t, size_t, hipStream_t, void **, void **, hipEvent_t,
                             hipEvent_t, uint32_t)
    __asm__("_Z24hipExtModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_"
            "P11ihipEvent_tS6_j");
int hipLaunchKernel(const void *, dim3, dim3, void **, size_t, hipStream_t);
int __hipPushCallConfiguration(dim3, dim3, size_t, hipStream_t);
int __hipPopCallConfiguration(dim3 *, dim3 *, size_t *, hipStream_t *);
void **__hipRegisterFatBinary(const void *);
void __hipRegisterFunction(void **, const void *, char *, const char *, unsigned, void *, void *,
                           dim3 *, dim3 *, int *);
void __hipRegisterVar(void **, void *, char *, char *, int, size_t, int, int);
void __hipUnregisterFatBinary(void **);
int hipMemcpyToSymbol(const void *, const void *, size_t, size_t, unsigned);
int hipMemcpyFromSymbol(void *, const void *, size_t, size_t, unsigned);
int hipGraphCreate(void **, unsigned);
const char *hipApiName(uint32_t);

static inline char *log_text(void) {
  size_t length = fakehip_log(NULL, 0);
  char *text = malloc(length + 1);
  fakehip_log(text, length + 1);
  return text;
}

#endif
