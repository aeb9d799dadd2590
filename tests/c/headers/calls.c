/* What TVM's ROCm runtime calls, and the runtime compiler, as C. Built against AMD's
 * headers of several versions and against the installed ones. */
#include <hip/hip_runtime_api.h>
#if __has_include(<hip/hiprtc.h>)
#include <hip/hiprtc.h>
#endif
#if __has_include(<hsa/hsa.h>)
#include <hsa/hsa.h>
#endif

#define TRY(call)                                        \
  do {                                                   \
    hipError_t error_ = (call);                          \
    if (error_ != hipSuccess) return failed(error_, #call); \
  } while (0)

const char *last_call, *last_text;

static int failed(hipError_t error, const char *call) {
  last_call = call;
  last_text = hipGetErrorString(error);
  return (int)error;
}

int device(int *warp, size_t *free_bytes, char *name) {
  int count = 0;
  size_t total;
  hipDeviceProp_t properties;
  TRY(hipGetDeviceCount(&count));
  TRY(hipSetDevice(count - 1));
  TRY(hipDeviceGetAttribute(warp, hipDeviceAttributeWarpSize, 0));
  TRY(hipGetDeviceProperties(&properties, 0));
  *name = properties.gcnArchName[0];
  TRY(hipMemGetInfo(free_bytes, &total));
  return 0;
}

int memory(void *from, int peer, size_t size) {
  void *there, *here;
  TRY(hipMalloc(&there, size));
  TRY(hipHostMalloc(&here, size, hipHostMallocDefault));
  TRY(hipMemcpy(there, from, size, hipMemcpyHostToDevice));
  TRY(hipMemcpyAsync(there, from, size, hipMemcpyHostToDevice, 0));
  TRY(hipMemcpyPeerAsync(there, peer, from, 0, size, 0));
  TRY(hipFree(there));
  TRY(hipHostFree(here));
  return 0;
}

int stream(float *milliseconds) {
  hipStream_t stream;
  hipEvent_t start, stop;
  TRY(hipStreamCreate(&stream));
  TRY(hipEventCreate(&start));
  TRY(hipEventCreate(&stop));
  TRY(hipEventRecord(start, stream));
  TRY(hipStreamWaitEvent(stream, start, 0));
  TRY(hipEventRecord(stop, stream));
  TRY(hipEventSynchronize(stop));
  TRY(hipEventElapsedTime(milliseconds, start, stop));
  TRY(hipStreamSynchronize(stream));
  TRY(hipEventDestroy(start));
  TRY(hipEventDestroy(stop));
  TRY(hipStreamDestroy(stream));
  return 0;
}

int launch(const void *image, void *arguments, size_t size) {
  hipModule_t module;
  hipFunction_t function;
  hipDeviceptr_t global;
  size_t bytes;
  void *config[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, arguments, HIP_LAUNCH_PARAM_BUFFER_SIZE,
                    &size, HIP_LAUNCH_PARAM_END};
  TRY(hipModuleLoadData(&module, image));
  TRY(hipModuleGetFunction(&function, module, "kernel"));
  TRY(hipModuleGetGlobal(&global, &bytes, module, "global"));
  TRY(hipModuleLaunchKernel(function, 1, 2, 3, 4, 5, 6, 7, 0, NULL, config));
  TRY(hipModuleUnload(module));
  return 0;
}

#if __has_include(<hip/hiprtc.h>)
int compile(const char *source) {
  hiprtcProgram program;
  if (hiprtcCreateProgram(&program, source, "source", 0, NULL, NULL) != HIPRTC_SUCCESS) return 1;
  return hiprtcCompileProgram(program, 0, NULL) != HIPRTC_SUCCESS;
}
#endif

#if __has_include(<hsa/hsa.h>)
int hsa(void) { return hsa_init() != HSA_STATUS_SUCCESS || hsa_shut_down() != HSA_STATUS_SUCCESS; }
#endif
