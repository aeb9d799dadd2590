/* Advice and prefetching: nothing to do where device memory is host memory. */
#include "call.h"
#include "stream.h"

enum {
  CPU_DEVICE = -1, /* hipCpuDeviceId */
  LOCATION_NONE = 0,
  LOCATION_DEVICE = 1,
  LOCATION_LAST = 4, /* hipMemLocationTypeHostNumaCurrent */
};

static hipError_t check(const void *pointer, size_t bytes, int device) {
  if (!pointer || bytes == 0) return hipErrorInvalidValue;
  return device == CPU_DEVICE || is_device(device) ? hipSuccess : hipErrorInvalidDevice;
}

static hipError_t check_location(const void *pointer, size_t bytes, hipMemLocation location) {
  if (location.type <= LOCATION_NONE || location.type > LOCATION_LAST) return hipErrorInvalidValue;
  return check(pointer, bytes, location.type == LOCATION_DEVICE ? location.id : CPU_DEVICE);
}

HIP(hipMemAdvise, (in, const void *, pointer), (in, size_t, bytes), (in, unsigned, advice),
    (in, int, device)) {
  (void)advice;
  return check(pointer, bytes, device);
}

HIP(hipMemAdvise_v2, (in, const void *, pointer), (in, size_t, bytes), (in, unsigned, advice),
    (in, hipMemLocation, location)) {
  (void)advice;
  return check_location(pointer, bytes, location);
}

HIP(hipMemPrefetchAsync, (in, const void *, pointer), (in, size_t, bytes), (in, int, device),
    (in, hipStream_t, stream)) {
  CHECK_STREAM(stream);
  return check(pointer, bytes, device);
}

HIP(hipMemPrefetchAsync_v2, (in, const void *, pointer), (in, size_t, bytes),
    (in, hipMemLocation, location), (hex, unsigned, flags), (in, hipStream_t, stream)) {
  CHECK_STREAM(stream);
  return flags ? hipErrorInvalidValue : check_location(pointer, bytes, location);
}
