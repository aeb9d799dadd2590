#include "check.h"

static void *host_kernel, *host_variable; /* only their addresses matter */

static struct fakehip_launch last;

int main(int argc, char **argv) {
  (void)argc;
  hipModule_t module, opaque;
  hipFunction_t add, nothing, anything;
  IS(0, hipModuleLoadData(&module, "FAKEHIP MODULE 1\n# two kernels\nkernel add 8 4 12:4 2\n"
                                   "kernel nothing\nglobal counter 4\nend\nnot read"));
  IS(0, hipModuleGetFunction(&add, module, "add"));
  IS(0, hipModuleGetFunction(&nothing, module, "nothing"));
  IS(NOT_FOUND, hipModuleGetFunction(&anything, module, "other"));
  void *counter;
  size_t bytes;
  IS(0, hipModuleGetGlobal(&counter, &bytes, module, "counter"));
  CHECK(bytes == 4);
  IS(0, hipMemsetD32(counter, 5, 1));
  IS(INVALID_VALUE, hipFree(counter));
  IS(NOT_FOUND, hipModuleGetGlobal(&counter, &bytes, module, "missing"));

  fakehip_record(1);
  CHECK(fakehip_last_launch(&last) == 0);
  uint64_t pointer = 0x1122334455667788;
  int number = -3;
  char triple[12] = "ABCDEFGHIJK";
  short small = 77;
  void *params[] = {&pointer, &number, triple, &small};
  IS(0, hipModuleLaunchKernel(add, 2, 3, 4, 64, 2, 1, 128, NULL, params, NULL));
  CHECK(fakehip_last_launch(&last) == 1 && last.number == 1);
  CHECK(strcmp(last.function, "hipModuleLaunchKernel") == 0 && strcmp(last.kernel, "add") == 0);
  CHECK(last.grid[0] == 2 && last.grid[1] == 3 && last.grid[2] == 4);
  CHECK(last.block[0] == 64 && last.block[1] == 2 && last.block[2] == 1);
  CHECK(last.shared_bytes == 128 && last.stream == NULL && last.params == params);
  CHECK(last.args_from == FAKEHIP_ARGS_PARAMS && last.arg_count == 4 && !last.truncated);
  static const unsigned offsets[] = {0, 8, 12, 24}, sizes[] = {8, 4, 12, 2};
  for (int i = 0; i < 4; i++) {
    CHECK(last.arg_offset[i] == offsets[i] && last.arg_size[i] == sizes[i]);
    CHECK(memcmp(last.bytes + offsets[i], params[i], sizes[i]) == 0);
  }
  CHECK(last.byte_count == 26);

  /* The same through a packed buffer. */
  unsigned char packed[26];
  memcpy(packed, last.bytes, sizeof packed);
  packed[8] = 9;
  size_t size = sizeof packed;
  void *extra[] = {(void *)1, packed, (void *)2, &size, (void *)3};
  IS(0, hipModuleLaunchKernel(add, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra));
  CHECK(fakehip_last_launch(&last) == 1 && last.number == 2);
  CHECK(last.args_from == FAKEHIP_ARGS_EXTRA && last.byte_count == 26);
  CHECK(memcmp(last.bytes, packed, 26) == 0 && last.arg_offset[2] == 12);
  size = 25;
  IS(INVALID_VALUE, hipModuleLaunchKernel(add, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra));
  IS(INVALID_VALUE, hipModuleLaunchKernel(add, 1, 1, 1, 1, 1, 1, 0, NULL, params, extra));
  IS(INVALID_VALUE, hipModuleLaunchKernel(add, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
  IS(0, hipModuleLaunchKernel(nothing, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));

  /* Sizes and handles. */
  int bad = HIP_MAJOR >= 7 ? INVALID_CONFIGURATION : INVALID_VALUE;
  IS(bad, hipModuleLaunchKernel(nothing, 1, 0, 1, 1, 1, 1, 0, NULL, NULL, NULL));
  IS(bad, hipModuleLaunchKernel(nothing, 1, 1, 1, 1025, 1, 1, 0, NULL, NULL, NULL));
  IS(bad, hipModuleLaunchKernel(nothing, 1, 1, 1, 1024, 2, 1, 0, NULL, NULL, NULL));
  IS(INVALID_HANDLE, hipModuleLaunchKernel(NULL, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
  IS(INVALID_HANDLE, hipModuleLaunchKernel(module, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
  IS(INVALID_HANDLE, hipModuleLaunchKernel(nothing, 1, 1, 1, 1, 1, 1, 0, module, NULL, NULL));

  /* Threads instead of blocks. */
  IS(0, hipExtModuleLaunchKernel(nothing, 100, 6, 1, 64, 2, 1, 0, NULL, NULL, NULL, NULL, NULL, 0));
  fakehip_last_launch(&last);
  CHECK(last.grid[0] == 2 && last.grid[1] == 3 && last.block[0] == 64);

  /* Any other image: every kernel exists, arguments are only pointed to. */
  IS(0, hipModuleLoad(&opaque, argv[0]));
  IS(0, hipModuleGetFunction(&anything, opaque, "whatever"));
  IS(0, hipModuleLaunchKernel(anything, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
  fakehip_last_launch(&last);
  CHECK(last.arg_count == -1 && last.params == params && last.byte_count == 0);
  IS(FILE_NOT_FOUND, hipModuleLoad(&opaque, "/no/such/file"));
  IS(INVALID_IMAGE, hipModuleLoadData(&opaque, "FAKEHIP MODULE 1\nkernel k 8 x\n"));
  CHECK(strstr(log_text(), "module line 2: argument size is not 1..4096"));
  IS(INVALID_VALUE, hipModuleLoadData(&opaque, NULL));
  IS(INVALID_VALUE, hipModuleLoadData(NULL, "x"));

  /* What a compiled program does: register, push, pop, launch. */
  struct { uint32_t magic, version; const void *binary; void *unused; } wrapper = {
      0x48495046, 1, "FAKEHIP MODULE 1\nkernel _Z3addPi 8\nend\n", NULL};
  void **binary = __hipRegisterFatBinary(&wrapper);
  __hipRegisterFunction(binary, &host_kernel, "_Z3addPi", "_Z3addPi", -1u, NULL, NULL, NULL, NULL, NULL);
  __hipRegisterVar(binary, &host_variable, "v", "v", 0, 8, 0, 0);
  IS(0, __hipPushCallConfiguration((dim3){7, 1, 1}, (dim3){32, 1, 1}, 64, NULL));
  dim3 grid, block;
  size_t shared;
  hipStream_t stream;
  IS(0, __hipPopCallConfiguration(&grid, &block, &shared, &stream));
  IS(52, __hipPopCallConfiguration(&grid, &block, &shared, &stream));
  IS(0, hipLaunchKernel(&host_kernel, grid, block, params, shared, stream));
  fakehip_last_launch(&last);
  CHECK(strcmp(last.kernel, "_Z3addPi") == 0 && last.grid[0] == 7 && last.shared_bytes == 64);
  CHECK(memcmp(last.bytes, &pointer, 8) == 0 && last.arg_count == 1);
  IS(INVALID_DEVICE_FUNCTION, hipLaunchKernel(&last, grid, block, params, 0, NULL));
  IS(INVALID_CONFIGURATION, hipLaunchKernel(&host_kernel, (dim3){0, 1, 1}, block, params, 0, NULL));
  uint64_t back = 0;
  IS(0, hipMemcpyToSymbol(&host_variable, &pointer, 8, 0, H2D));
  IS(0, hipMemcpyFromSymbol(&back, &host_variable, 4, 4, D2H));
  CHECK(back == 0x11223344);
  IS(INVALID_VALUE, hipMemcpyFromSymbol(&back, &host_variable, 8, 1, D2H));
  IS(13, hipMemcpyFromSymbol(&back, &back, 8, 0, D2H));
  __hipUnregisterFatBinary(binary);
  IS(INVALID_DEVICE_FUNCTION, hipLaunchKernel(&host_kernel, grid, block, params, 0, NULL));

  CHECK(fakehip_live(FAKEHIP_MODULE) == 2);
  IS(0, hipModuleUnload(module));
  IS(INVALID_HANDLE, hipModuleUnload(module));
  IS(INVALID_HANDLE, hipModuleLaunchKernel(nothing, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
  return 0;
}
