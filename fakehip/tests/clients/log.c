#include "check.h"

/* Prints the log; run with FAKEHIP_LOG, which also turns recording on. */
int main(void) {
  void *pointer;
  int value = 0x01020304, device;
  hipModule_t module;
  hipFunction_t function;
  hipGetDevice(&device);
  hipSetDevice(3);
  hipMalloc(&pointer, 64);
  hipMemcpy(pointer, &value, 4, H2D);
  hipGetErrorString(2);
  hipGraphCreate(NULL, 0);
  hipModuleLoadData(&module, "FAKEHIP MODULE 1\nkernel k 4\nend");
  hipModuleGetFunction(&function, module, "k");
  void *params[] = {&value};
  hipModuleLaunchKernel(function, 1, 1, 1, 2, 1, 1, 0, NULL, params, NULL);
  fakehip_fail("hipFree", 1, 1, 1);
  hipFree(pointer);
  CHECK(fakehip_calls("hipMemcpy") == 1 && fakehip_calls(NULL) == 10);
  fputs(log_text(), stdout);
  fakehip_reset();
  CHECK(fakehip_log(NULL, 0) == 0 && fakehip_calls(NULL) == 0);
  CHECK(fakehip_log_to("/no/such/folder/log") == -1);
  return 0;
}
