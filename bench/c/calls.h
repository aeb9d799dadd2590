/* What the benchmark opens in each variant, and the values of the measured calls. */
#ifndef BENCH_CALLS_H
#define BENCH_CALLS_H

#define ALIGNED __attribute__((aligned(64)))

/* Not 0, so that the answer cannot be an untouched or zeroed result. */
#define BENCH_DEVICE 1

/* The arguments of the launched kernel. */
struct bench_arguments {
  unsigned long long in, out;
  unsigned length;
};
#define BENCH_ARGUMENTS {0x1122334455667788ull, 0x99aabbccddeeff00ull, 4711}

/* Selects the device, loads the kernel; a hipError_t, or -1 without a runtime. */
int setup(void);

int run_hipGetDevice(long count);
int run_hipMalloc(long count);
int run_hipModuleLaunchKernel(long count);
/* As compiled with headers of HIP 5, but in the variants of bare names and pointers, which
 * hand on what the runtime says. Not through TileLang's stub, which has no such function. */
int run_hipPointerGetAttributes(long count);

/* NULL if the calls do the right thing in the one mapped fake runtime, else what
 * went wrong. After setup. */
const char *check(void);

#endif
