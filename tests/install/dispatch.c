/* A program that calls through the slot table, and tells whose function it calls. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <hip/hip_runtime_api.h>
#include <hiplazy/dispatch.h>
#include <stdio.h>

static const char *owner(void)
{
  Dl_info info = {0};
  dladdr((void *)HIPLAZY_CALL(hipRuntimeGetVersion), &info);
  return info.dli_fname ? info.dli_fname : "nothing";
}

int main(void)
{
  int version = -1;
  hipError_t status = HIPLAZY_CALL(hipRuntimeGetVersion)(&version);
  printf("%d %d %s\n", (int)status, version, owner());
  return 0;
}
