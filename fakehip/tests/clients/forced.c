#include "check.h"

int main(void) {
  void *pointer = (void *)1;
  IS(0, fakehip_fail("hipMalloc", OUT_OF_MEMORY, 2, 1));
  IS(0, hipMalloc(&pointer, 8));
  void *kept = pointer;
  IS(OUT_OF_MEMORY, hipMalloc(&pointer, 8));
  CHECK(pointer == kept);
  IS(OUT_OF_MEMORY, hipGetLastError());
  IS(0, hipMalloc(&pointer, 8));

  IS(0, fakehip_fail("hipStreamQuery", NOT_READY, 1, 2));
  IS(NOT_READY, hipStreamQuery(NULL));
  IS(NOT_READY, hipStreamQuery(NULL));
  IS(0, hipStreamQuery(NULL));

  /* Functions without a model fail as well; unknown ones and strings cannot. */
  IS(0, fakehip_fail("hipGraphCreate", OUT_OF_MEMORY, 1, 0));
  IS(OUT_OF_MEMORY, hipGraphCreate(&pointer, 0));
  IS(-1, fakehip_fail("hipNoSuchFunction", 1, 1, 0));
  IS(-1, fakehip_fail("hipGetErrorString", 1, 1, 0));
  fakehip_fail_clear();
  IS(NOT_SUPPORTED, hipGraphCreate(&pointer, 0));

  /* From the environment of the test: hipMemset=1@2x1,hipSetDevice=hipErrorNoDevice */
  fakehip_reset();
  IS(0, hipMemset(kept, 0, 8));
  IS(INVALID_VALUE, hipMemset(kept, 0, 8));
  IS(0, hipMemset(kept, 0, 8));
  IS(NO_DEVICE, hipSetDevice(0));
  return 0;
}
