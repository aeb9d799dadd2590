/* The first call of all goes through the table of the library itself. */
#include <hip/hip_runtime_api.h>
#include <hiplazy/dispatch.h>
#include <hiplazy/hiplazy.h>
#include <stdio.h>

int main(void) {
  int count = -1;
  hipError_t error = HIPLAZY_CALL(hipGetDeviceCount)(&count);
  printf("%d %d\n%s\n", (int)error, count, hiplazy_last_error());
  return 0;
}
