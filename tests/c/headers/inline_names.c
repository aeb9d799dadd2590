/* How HIP 7.16 renames: by inline functions, where older headers have macros. */
#include <stddef.h>
#define HIP_VERSION_MAJOR 7
#define HIP_VERSION 71600000
typedef int hipError_t;
typedef struct hipDeviceProp_tR0600 {
  char bytes[1472];
} hipDeviceProp_t;
typedef enum { advice_none } hipMemoryAdvise;
typedef struct hipMemLocation {
  int type, id;
} hipMemLocation;

#ifdef __cplusplus
extern "C" {
#endif
hipError_t hipGetDevicePropertiesR0600(hipDeviceProp_t *prop, int device);
hipError_t hipMemAdvise_v2(const void *pointer, size_t count, hipMemoryAdvise advice,
                           hipMemLocation location);
static inline hipError_t hipGetDeviceProperties(hipDeviceProp_t *prop, int device) {
  return hipGetDevicePropertiesR0600(prop, device);
}
static inline hipError_t hipMemAdvise(const void *pointer, size_t count, hipMemoryAdvise advice,
                                      hipMemLocation location) {
  return hipMemAdvise_v2(pointer, count, advice, location);
}

#include <hiplazy/dispatch.h>

hipError_t properties(hipDeviceProp_t *prop, hipMemLocation location) {
  if (hipMemAdvise(prop, sizeof *prop, advice_none, location)) return 1;
  return hipGetDeviceProperties(prop, 0);
}

extern char right[HIPLAZY_INDEX_hipGetDeviceProperties == HIPLAZY_INDEX_hipGetDevicePropertiesR0600
                      ? 1
                      : -1];

hipError_t fast(hipDeviceProp_t *prop) { return HIPLAZY_CALL(hipGetDeviceProperties)(prop, 0); }

#ifdef ADVISE
hipError_t advise(void *pointer, hipMemLocation location) {
  return HIPLAZY_CALL(hipMemAdvise)(pointer, 1, advice_none, location);
}
#endif
#ifdef __cplusplus
}
#endif
