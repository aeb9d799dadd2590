/* The measured loops. Compiled once for every way to reach HIP; loop and call site
 * are the same in all of them.
 *
 * Each run_ function makes `count` calls, checks every result, and returns 0 if all
 * were right. They start on a cache line of their own, so that the variants do not
 * differ by where the linker happened to put them.
 */
#include "calls.h"

#include "hip.h"

#if defined(BENCH_POINTERS)
#include <dlfcn.h>
struct hip_pointers hip_pointers;
#endif

const char bench_module[] =
    "FAKEHIP MODULE 1\n"
    "kernel scale 8 8 4\n"
    "end\n";

static void *function;

#if !defined(BENCH_STUB)
/* hipMemoryTypeDevice, in the numbers of HIP 5 and of the runtime, HIP 7. */
#if defined(BENCH_PREFIX)
enum { DEVICE_MEMORY = 1 };
#else
enum { DEVICE_MEMORY = 2 };
#endif
static void *memory;
#endif

int setup(void)
{
#if defined(BENCH_POINTERS)
  void *runtime = dlopen("libamdhip64.so.7", RTLD_NOW | RTLD_NOLOAD);
  if (!runtime) return -1;
#define LOOK_UP(name, arguments) \
  *(void **)&hip_pointers.name = dlsym(runtime, #name);
  HIP_FUNCTIONS(LOOK_UP)
#endif
  void *module;
  int result = hip(hipSetDevice)(BENCH_DEVICE);
  if (!result) result = hip(hipModuleLoadData)(&module, bench_module);
  if (!result) result = hip(hipModuleGetFunction)(&function, module, "scale");
#if !defined(BENCH_STUB)
  if (!result) result = hip(hipMalloc)(&memory, 256);
#endif
  return result;
}

ALIGNED int run_hipGetDevice(long count)
{
  int wrong = 0;
  int device = -1;
  for (long i = 0; i < count; i++) {
    wrong |= hip(hipGetDevice)(&device);
    wrong |= device ^ BENCH_DEVICE;
  }
  return wrong;
}

ALIGNED int run_hipMalloc(long count)
{
  int wrong = 0;
  for (long i = 0; i < count; i++) {
    void *pointer = NULL;
    wrong |= hip(hipMalloc)(&pointer, 256);
    wrong |= !pointer;
    wrong |= hip(hipFree)(pointer);
  }
  return wrong;
}

ALIGNED int run_hipModuleLaunchKernel(long count)
{
  struct bench_arguments arguments = BENCH_ARGUMENTS;
  void *params[] = {&arguments.in, &arguments.out, &arguments.length};
  int wrong = 0;
  for (long i = 0; i < count; i++) {
    wrong |= hip(hipModuleLaunchKernel)(function, 2, 3, 4, 64, 2, 1, 512, NULL, params, NULL);
  }
  return wrong;
}

#if !defined(BENCH_STUB)
ALIGNED int run_hipPointerGetAttributes(long count)
{
  struct pointer_attributes attributes = {-1, -1, NULL, NULL, 0, 0};
  int wrong = 0;
  for (long i = 0; i < count; i++) {
    wrong |= hip(hipPointerGetAttributes)(&attributes, memory);
    wrong |= attributes.type ^ DEVICE_MEMORY;
  }
  return wrong;
}
#endif
