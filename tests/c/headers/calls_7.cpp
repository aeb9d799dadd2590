// As calls.cpp: what HIP 7 has and HIP 5 has not.
#include <hip/hip_runtime_api.h>

extern "C" {

hipError_t host(float **values, float **rows, size_t *pitch) {
  if (hipHostAlloc(values, 64) != hipSuccess) return hipErrorOutOfMemory;
  return hipMallocPitch(rows, pitch, 64, 64);
}

hipError_t launch_ex(const hipLaunchConfig_t *config, void (*kernel)(double, const char *)) {
  return hipLaunchKernelEx(config, kernel, 1, "text");
}

hipError_t search(int *grid, int *block, void (*kernel)(int)) {
  return hipOccupancyMaxPotentialBlockSizeVariableSMem(
      grid, block, kernel, [](int size) { return size_t(4) * size; }, 512);
}

#if HIP_VERSION >= 70200000
hipError_t left(size_t *bytes, void (*kernel)(int)) {
  return hipOccupancyAvailableDynamicSMemPerBlock(bytes, kernel, 2, 256);
}

hipError_t border(hipTexRef texture, float *color) {
  return hipTexRefSetBorderColor(texture, color);
}
#endif

hipError_t batch(hipLaunchParams *list) {
  return hipLaunchCooperativeKernelMultiDevice<void>(list, 2);
}

float4 vector() { return make_float4(1, 2, 3, 4); }
}
