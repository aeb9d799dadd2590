/* The HIP functions that the benchmark calls, declared as HIP's headers do, with
 * opaque handles. Which symbol a call reaches is the only thing in which the
 * variants differ:
 *
 *   BENCH_POINTERS  a pointer that was looked up once
 *   BENCH_PREFIX    hiplazy's wrapper
 *   neither         the bare name: the runtime itself, or a stub in its place
 *
 * BENCH_STUB: the stub, which has some of the functions only.
 * BENCH_SLOWED delays every call, to see the gate refuse it.
 */
#ifndef BENCH_HIP_H
#define BENCH_HIP_H

#include <stddef.h>

#define HIP_FUNCTIONS(each)                                                            \
  each(hipSetDevice, (int device))                                                     \
  each(hipGetDevice, (int *device))                                                    \
  each(hipMalloc, (void **pointer, size_t bytes))                                      \
  each(hipFree, (void *pointer))                                                       \
  each(hipModuleLoadData, (void **module, const void *image))                          \
  each(hipModuleGetFunction, (void **function, void *module, const char *name))        \
  each(hipModuleLaunchKernel,                                                          \
       (void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,             \
        unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,   \
        void *stream, void **params, void **extra))                                     \
  WITH_POINTERS(each)

#if defined(BENCH_STUB)
#define WITH_POINTERS(each)
#else
#define WITH_POINTERS(each) \
  each(hipPointerGetAttributes, (struct pointer_attributes * attributes, const void *pointer))
#endif

/* hipPointerAttribute_t of every version. */
struct pointer_attributes {
  int type, device;
  void *device_pointer, *host_pointer;
  int is_managed;
  unsigned flags;
};

#if defined(BENCH_POINTERS)

#define DECLARE(name, arguments) int(*name) arguments;
struct hip_pointers {
  HIP_FUNCTIONS(DECLARE)
};
extern struct hip_pointers hip_pointers __attribute__((visibility("hidden")));
#define TARGET(name) hip_pointers.name

#elif defined(BENCH_PREFIX)

/* As redirect.h and the headers of HIP 5 have it. */
#define hiplazy_hipPointerGetAttributes hiplazy_hipPointerGetAttributes_h5
#define DECLARE(name, arguments) int hiplazy_##name arguments;
HIP_FUNCTIONS(DECLARE)
#define TARGET(name) hiplazy_##name

#else

#define DECLARE(name, arguments) int name arguments;
HIP_FUNCTIONS(DECLARE)
#define TARGET(name) name

#endif

#if defined(BENCH_SLOWED)
static inline void delay(void)
{
  for (int i = 0; i < 32; i++) __asm__ volatile("");
}
#define hip(name) (delay(), TARGET(name))
#else
#define hip(name) TARGET(name)
#endif

#endif
