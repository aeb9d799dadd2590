/* Calls through a slot table of the test's own. */
#include <hip/hip_runtime_api.h>
#include <hiplazy/dispatch.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static unsigned seen;

static hipError_t launch(hipFunction_t f, unsigned int gx, unsigned int gy, unsigned int gz,
                         unsigned int bx, unsigned int by, unsigned int bz, unsigned int shared,
                         hipStream_t stream, void **params, void **extra) {
  seen = gx * 1 + gy * 10 + gz * 100 + bx * 1000 + by * 10000 + bz * 100000 + shared * 1000000;
  return f || stream || params || extra ? hipErrorUnknown : hipErrorNotReady;
}

static hipError_t properties(hipDeviceProp_tR0600 *prop, int device) {
  prop->warpSize = device;
  return hipSuccess;
}

static hipError_t allocate(void **pointer, size_t size) {
  *pointer = (void *)(uintptr_t)size;
  return hipSuccess;
}

static void wrong(void) { puts("a call went to another slot"); }

void (*HIPLAZY_SLOTS[HIPLAZY_SLOT_COUNT])(void);

int main(void) {
  hipDeviceProp_t prop;
  void *pointer = NULL;
  int i;
  for (i = 0; i < HIPLAZY_SLOT_COUNT; i++) HIPLAZY_SLOTS[i] = wrong;
  HIPLAZY_SLOTS[HIPLAZY_INDEX_hipModuleLaunchKernel] = (void (*)(void))launch;
  HIPLAZY_SLOTS[HIPLAZY_INDEX_hipGetDevicePropertiesR0600] = (void (*)(void))properties;
  HIPLAZY_SLOTS[HIPLAZY_INDEX_hipMalloc] = (void (*)(void))allocate;
  if (HIPLAZY_CALL(hipModuleLaunchKernel)(NULL, 1, 2, 3, 4, 5, 6, 7, NULL, NULL, NULL) !=
      hipErrorNotReady)
    return 1;
  if (seen != 7654321) return 2;
  memset(&prop, 0, sizeof prop);
  if (HIPLAZY_CALL(hipGetDeviceProperties)(&prop, 64) != hipSuccess || prop.warpSize != 64)
    return 3;
  if (HIPLAZY_CALL(hipMalloc)(&pointer, 16) != hipSuccess || (uintptr_t)pointer != 16) return 4;
  puts("all three slots");
  return 0;
}
