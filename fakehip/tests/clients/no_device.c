#include "check.h"

int main(void) {
  int count = -1, version = 0;
  void *pointer;
  IS(HIP_MAJOR <= 5 ? INVALID_DEVICE : NO_DEVICE, hipInit(0));
  IS(NO_DEVICE, hipGetDeviceCount(&count));
  CHECK(count == 0);
  IS(NO_DEVICE, hipMalloc(&pointer, 8));
  IS(NO_DEVICE, hipGraphCreate(&pointer, 0));
  IS(0, hipRuntimeGetVersion(&version));
  CHECK(version == fakehip_runtime_version());
  /* Devices can appear; each thread starts on the first. */
  IS(0, fakehip_set_device_count(2));
  IS(0, hipGetDeviceCount(&count));
  CHECK(count == 2);
  IS(0, hipSetDevice(1));
  IS(0, hipMalloc(&pointer, 8));
  CHECK(fakehip_used_bytes(1) == 8 && fakehip_used_bytes(0) == 0);
  IS(-1, fakehip_set_device_count(65));
  return 0;
}
