/* Physical allocations and memory pools, as far as their properties go. */
#include "call.h"
#include "layouts.h"

static bool is_allocation(const hipMemAllocationProp *properties) {
  if (!properties) return false;
#if HIP_SINCE(7, 0)
  if (properties->type == hipMemAllocationTypeUncached) return true;
#endif
  return properties->type == hipMemAllocationTypePinned;
}

HIP(hipMemCreate, (out, hipMemGenericAllocationHandle_t, handle), (in, size_t, size),
    (given, hipMemAllocationProp, properties), (hex, unsigned long long, flags)) {
  if (!handle || size == 0 || flags || !is_allocation(properties)) return hipErrorInvalidValue;
  *handle = fake_opaque();
  return hipSuccess;
}

HIP(hipMemGetAllocationGranularity, (out, size_t, granularity),
    (given, hipMemAllocationProp, properties), (in, unsigned, option)) {
  if (!granularity || !is_allocation(properties) || option > 1) return hipErrorInvalidValue;
  *granularity = option ? 2 << 20 : 4 << 10; /* recommended, smallest */
  return hipSuccess;
}

/* No two members are equal. */
HIP(hipMemGetAllocationPropertiesFromHandle, (fill, hipMemAllocationProp, properties),
    (in, hipMemGenericAllocationHandle_t, handle)) {
  if (!properties || !handle) return hipErrorInvalidValue;
  *properties = (hipMemAllocationProp){
      .type = hipMemAllocationTypePinned,
      .requestedHandleType = 2,
      .location = {1, 0},
      .win32HandleMetaData = (void *)0xfa4ef10000001000,
#if HIP_SINCE(5, 3)
      .allocFlags = {.compressionType = 0xf1, .gpuDirectRDMACapable = 0xf2, .usage = 0xf3f4},
#else
      .compressionType = 0xf1,
      .usage = 0xf3f4,
#endif
  };
  return hipSuccess;
}

HIP(hipMemPoolCreate, (out, hipMemPool_t, pool), (given, hipMemPoolProps, properties)) {
  if (!pool || !properties || properties->allocType != hipMemAllocationTypePinned)
    return hipErrorInvalidValue;
  *pool = fake_opaque();
  return hipSuccess;
}
