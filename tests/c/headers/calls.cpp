// What C++ callers write: pointers of any type, arguments left out, symbols and kernels
// by name. Built against AMD's headers of several versions and the installed ones.
#include "calls.c"

struct Item {
  float weight;
  int count;
};
extern Item table[4];
void kernel(int count, float *values);

extern "C" {

hipError_t allocate(Item **item, float **values, const void **any) {
  void *plain;
  if (hipMalloc(&plain, 1) != hipSuccess) return hipErrorOutOfMemory;
  if (hipMalloc(item, 64) != hipSuccess) return hipErrorOutOfMemory;
  if (hipMalloc(any, 64) != hipSuccess) return hipErrorOutOfMemory;
  if (hipHostMalloc(values, 64) != hipSuccess) return hipErrorOutOfMemory;
  if (hipHostMalloc(values, 64, hipHostMallocMapped) != hipSuccess) return hipErrorOutOfMemory;
  return hipMallocManaged(values, 64);
}

hipError_t allocate_in_order(Item **item, hipMemPool_t pool, hipStream_t stream) {
  void *plain;
  if (hipMallocAsync(&plain, 8, stream) != hipSuccess) return hipErrorOutOfMemory;
  if (hipMallocAsync(item, 8, stream) != hipSuccess) return hipErrorOutOfMemory;
  if (hipMallocAsync(&plain, 8, pool, stream) != hipSuccess) return hipErrorOutOfMemory;
  if (hipMallocAsync(item, 8, pool, stream) != hipSuccess) return hipErrorOutOfMemory;
  return hipMallocFromPoolAsync(item, 8, pool, stream);
}

hipError_t shorter(void *to, const void *from, hipStream_t stream, hipEvent_t event) {
  if (hipMemcpyAsync(to, from, 8, hipMemcpyDefault) != hipSuccess) return hipErrorUnknown;
  if (hipMemsetAsync(to, 0, 8) != hipSuccess) return hipErrorUnknown;
  if (hipEventRecord(event) != hipSuccess) return hipErrorUnknown;
  return hipStreamWaitEvent(stream, event, 0);
}

hipError_t symbols(void **address, size_t *size, const Item *from, Item *to) {
  if (hipGetSymbolAddress(address, table) != hipSuccess) return hipErrorInvalidSymbol;
  if (hipGetSymbolSize(size, table) != hipSuccess) return hipErrorInvalidSymbol;
  if (hipMemcpyToSymbol(table, from, 8) != hipSuccess) return hipErrorInvalidSymbol;
  return hipMemcpyFromSymbol(to, table, 8);
}

hipError_t occupancy(int *blocks) {
  return hipOccupancyMaxActiveBlocksPerMultiprocessor(blocks, kernel, 256, 0);
}

#ifndef HIP_API_PER_THREAD_DEFAULT_STREAM // Its name for one stream per thread is not overloaded.
hipError_t cooperative(void **arguments, hipStream_t stream) {
  return hipLaunchCooperativeKernel(kernel, dim3(4), dim3(64, 2), arguments, 0, stream);
}
#endif

unsigned grid() {
  dim3 one, two(2);
  return one.x + one.y + one.z + two.x + two.z;
}

hipExtent extent() { return make_hipExtent(1, 2, 3); }

hipChannelFormatDesc channels() { return hipCreateChannelDesc<unsigned short>(); }
}
