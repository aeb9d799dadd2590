/* The variant's calls against the fake runtime's own record of them. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "calls.h"
#include "fakehip.h"

static char message[512];

#define FAIL(...) return snprintf(message, sizeof message, __VA_ARGS__), message

struct fake {
  void (*record)(int);
  uint64_t (*calls)(const char *);
  int64_t (*live)(int);
  int (*last_launch)(struct fakehip_launch *);
};

static const char *check_launch(const struct fakehip_launch *launch)
{
  static const uint32_t grid[] = {2, 3, 4}, block[] = {64, 2, 1};
  const struct bench_arguments arguments = BENCH_ARGUMENTS;
  if (strcmp(launch->function, "hipModuleLaunchKernel") || strcmp(launch->kernel, "scale"))
    FAIL("the launch was recorded as %s of %s", launch->function, launch->kernel);
  if (memcmp(launch->grid, grid, sizeof grid) || memcmp(launch->block, block, sizeof block))
    FAIL("grid and block did not arrive: %u %u %u, %u %u %u", launch->grid[0], launch->grid[1],
         launch->grid[2], launch->block[0], launch->block[1], launch->block[2]);
  if (launch->shared_bytes != 512 || launch->stream)
    FAIL("shared memory or stream did not arrive");
  if (launch->arg_count != 3 ||
      memcmp(launch->bytes + launch->arg_offset[0], &arguments.in, sizeof arguments.in) ||
      memcmp(launch->bytes + launch->arg_offset[1], &arguments.out, sizeof arguments.out) ||
      memcmp(launch->bytes + launch->arg_offset[2], &arguments.length, sizeof arguments.length))
    FAIL("the kernel's arguments did not arrive");
  return NULL;
}

static const char *check_calls(const struct fake *fake)
{
  static const struct {
    const char *name;
    int (*run)(long);
  } cases[] = {
      {"hipGetDevice", run_hipGetDevice},
      {"hipMalloc", run_hipMalloc},
      {"hipModuleLaunchKernel", run_hipModuleLaunchKernel},
#if !defined(BENCH_STUB)
      {"hipPointerGetAttributes", run_hipPointerGetAttributes},
#endif
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    uint64_t before = fake->calls(cases[i].name);
    int64_t live = fake->live(FAKEHIP_DEVICE_MEMORY);
    int wrong = cases[i].run(3);
    uint64_t made = fake->calls(cases[i].name) - before;
    if (wrong) FAIL("%s gave a wrong result (%d)", cases[i].name, wrong);
    if (made != 3)
      FAIL("3 calls of %s were made and %llu reached the fake runtime", cases[i].name,
           (unsigned long long)made);
    if (fake->live(FAKEHIP_DEVICE_MEMORY) != live) FAIL("%s leaks memory", cases[i].name);
  }
  static struct fakehip_launch launch;
  if (!fake->last_launch(&launch)) FAIL("no launch was recorded");
  return check_launch(&launch);
}

const char *check(void)
{
  struct fake fake;
  void *runtime = dlopen("libamdhip64.so.7", RTLD_NOW | RTLD_NOLOAD);
  if (!runtime) FAIL("no libamdhip64.so.7 is mapped");
  *(void **)&fake.record = dlsym(runtime, "fakehip_record");
  *(void **)&fake.calls = dlsym(runtime, "fakehip_calls");
  *(void **)&fake.live = dlsym(runtime, "fakehip_live");
  *(void **)&fake.last_launch = dlsym(runtime, "fakehip_last_launch");
  if (!fake.record || !fake.calls || !fake.live || !fake.last_launch)
    FAIL("the mapped libamdhip64.so.7 is not the fake runtime");
  fake.record(1);
  const char *wrong = check_calls(&fake);
  fake.record(0);
  return wrong;
}
