/* Functions whose constants changed: device limits, opening memory of another process. */
#include "call.h"
#include "layouts.h"

enum { LIMITS = 6 };

/* The place of a limit that this version has and answers; -1: none. */
static int limit_place(hipLimit_t limit) {
  switch (limit) {
#if HIP_SINCE(5, 3)
    case hipLimitStackSize: return 0;
#endif
    case hipLimitPrintfFifoSize: return 1;
    case hipLimitMallocHeapSize: return 2;
#if HIP_SINCE(7, 0)
    case hipExtLimitScratchMin: return 3;
    case hipExtLimitScratchMax: return 4;
    case hipExtLimitScratchCurrent: return 5;
#endif
    default: return -1;
  }
}

static _Atomic size_t limits[LIMITS] = {0x10000, 0x20000, 0x30000, 0x40000, 0x60000, 0x50000};

HIP(hipDeviceGetLimit, (out, size_t, value), (in, hipLimit_t, limit)) {
  if (!value) return hipErrorInvalidValue;
  int place = limit_place(limit);
  if (place < 0) return hipErrorUnsupportedLimit;
  *value = limits[place];
  return hipSuccess;
}

HIP(hipDeviceSetLimit, (in, hipLimit_t, limit), (in, size_t, value)) {
  int place = limit_place(limit);
  if (place < 0) return hipErrorUnsupportedLimit;
#if HIP_SINCE(7, 0)
  /* The bounds of the scratch size are the device's. */
  if (limit == hipExtLimitScratchMin || limit == hipExtLimitScratchMax) return hipErrorInvalidValue;
#endif
  limits[place] = value;
  return hipSuccess;
}

/* The only flag there is must be given, whatever its value in this version. */
HIP(hipIpcOpenMemHandle, (out, void *, pointer), (in, hipIpcMemHandle_t, handle),
    (hex, unsigned, flags)) {
  (void)handle;
  if (!pointer || flags != hipIpcMemLazyEnablePeerAccess) return hipErrorInvalidValue;
  *pointer = fake_opaque();
  return hipSuccess;
}
