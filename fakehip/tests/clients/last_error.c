#include "check.h"

int main(void) {
  int device;
  CHECK(hipGetLastError() == 0);
  IS(INVALID_DEVICE, hipSetDevice(99));
  IS(INVALID_DEVICE, hipPeekAtLastError());
  IS(INVALID_DEVICE, hipGetLastError());
  IS(0, hipGetLastError());
  /* Since 7.0 a later success does not hide a failure. */
  IS(INVALID_DEVICE, hipSetDevice(99));
  IS(0, hipGetDevice(&device));
#if HIP_MAJOR >= 7
  IS(0, hipExtGetLastError());
  IS(INVALID_DEVICE, hipGetLastError());
#else
  IS(0, hipGetLastError());
#endif
  CHECK(strcmp(hipGetErrorName(709), "hipErrorContextIsDestroyed") == 0);
  CHECK(strcmp(hipGetErrorString(1), "invalid argument") == 0);
  CHECK(strcmp(hipGetErrorName(12345), "hipErrorUnknown") == 0);
  int version;
  IS(0, hipRuntimeGetVersion(&version));
  printf("%d", version);
  return 0;
}
