/* Loading modules and asking for their contents. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "call.h"
#include "module.h"
#include "properties.h"
#include "registered.h"

static struct module *live_module(hipModule_t module) {
  return heap_handle(module, BLOCK_MODULE) ? module : NULL;
}

static hipError_t load(hipModule_t *module, const void *image) {
  if (!module || !image) return hipErrorInvalidValue;
  struct block *block = heap_allocate(sizeof(struct module), BLOCK_MODULE, fake_thread.device, 0);
  if (!block) return hipErrorOutOfMemory;
  struct module *created = (struct module *)block->address;
  hipError_t result = module_read(created, image);
  if (result != hipSuccess) {
    module_clear(created);
    heap_release(block, BLOCK_MODULE);
    return result;
  }
  *module = created;
  return hipSuccess;
}

/* The file with a NUL behind it, for text modules without `end`. */
static hipError_t read_file(const char *path, char **content) {
  FILE *file = fopen(path, "rbe");
  if (!file) return hipErrorFileNotFound;
  size_t used = 0, room = 1 << 16;
  char *bytes = malloc(room);
  while (bytes) {
    size_t got = fread(bytes + used, 1, room - used - 1, file);
    used += got;
    if (got == 0) break;
    if (used == room - 1) {
      char *larger = realloc(bytes, room *= 2);
      if (!larger) free(bytes);
      bytes = larger;
    }
  }
  bool unreadable = ferror(file);
  fclose(file);
  if (!bytes) return hipErrorOutOfMemory;
  if (unreadable) {
    free(bytes);
    return hipErrorFileNotFound;
  }
  bytes[used] = 0;
  *content = bytes;
  return used ? hipSuccess : (free(bytes), hipErrorInvalidImage);
}

HIP(hipModuleLoad, (out, hipModule_t, module), (in, const char *, path)) {
  if (!module || !path) return hipErrorInvalidValue;
  char *content;
  hipError_t result = read_file(path, &content);
  if (result != hipSuccess) return result;
  result = load(module, content);
  free(content);
  return result;
}

HIP(hipModuleLoadData, (out, hipModule_t, module), (in, const void *, image)) {
  return load(module, image);
}

HIP(hipModuleLoadDataEx, (out, hipModule_t, module), (in, const void *, image),
    (in, unsigned, option_count), (in, void *, options), (in, void **, values)) {
  if (option_count && (!options || !values)) return hipErrorInvalidValue;
  return load(module, image);
}

HIP_ALIAS(hipModuleLoadFatBinary, hipModuleLoadData, (out, hipModule_t, module),
          (in, const void *, image))

HIP(hipModuleUnload, (in, hipModule_t, module)) {
  struct module *live = live_module(module);
  if (!live) return hipErrorInvalidHandle;
  struct module contents = *live;
  if (!heap_release(heap_handle(module, BLOCK_MODULE), BLOCK_MODULE)) return hipErrorInvalidHandle;
  module_clear(&contents);
  return hipSuccess;
}

HIP(hipModuleGetFunction, (out, hipFunction_t, function), (in, hipModule_t, module),
    (in, const char *, name)) {
  if (!function || !name) return hipErrorInvalidValue;
  struct module *live = live_module(module);
  if (!live) return hipErrorInvalidHandle;
  struct function *found = *name ? module_function(live, name) : NULL;
  if (!found) return hipErrorNotFound;
  *function = found;
  return hipSuccess;
}

HIP(hipModuleGetFunctionCount, (out, unsigned, count), (in, hipModule_t, module)) {
  if (!count) return hipErrorInvalidValue;
  struct module *live = live_module(module);
  if (!live) return hipErrorInvalidHandle;
  *count = 0;
  fake_lock();
  for (struct function *function = live->functions; function; function = function->next)
    ++*count;
  fake_unlock();
  return hipSuccess;
}

HIP(hipModuleGetGlobal, (out, hipDeviceptr_t, pointer), (out, size_t, bytes),
    (in, hipModule_t, module), (in, const char *, name)) {
  if (!name) return hipErrorInvalidValue;
  struct module *live = live_module(module);
  if (!live) return hipErrorInvalidHandle;
  struct block *block = module_global(live, name);
  if (!block) return hipErrorNotFound;
  if (pointer) *pointer = block->address;
  if (bytes) *bytes = block->size;
  return hipSuccess;
}

/* --- kernels ------------------------------------------------------------------ */

/* Host functions and, since the API takes either in places, function handles. */
static struct function *kernel_of(const void *function) {
  if (heap_handle(function, BLOCK_FUNCTION)) return (struct function *)(uintptr_t)function;
  return function ? registered_function(function) : NULL;
}

HIP(hipGetFuncBySymbol, (out, hipFunction_t, function), (in, const void *, symbol)) {
  if (!function || !symbol) return hipErrorInvalidValue;
  struct function *found = registered_function(symbol);
  if (!found) return hipErrorInvalidDeviceFunction;
  *function = found;
  return hipSuccess;
}

VALUE(const char *, hipKernelNameRef, (in, hipFunction_t, function)) {
  return heap_handle(function, BLOCK_FUNCTION) ? function->name : NULL;
}

VALUE(const char *, hipKernelNameRefByPtr, (in, const void *, function),
      (in, hipStream_t, stream)) {
  (void)stream;
  struct function *found = kernel_of(function);
  return found ? found->name : NULL;
}

enum {
  ATTRIBUTE_MAX_THREADS_PER_BLOCK = 0,
  ATTRIBUTE_PTX_VERSION = 5,
  ATTRIBUTE_BINARY_VERSION = 6,
  ATTRIBUTE_MAX_DYNAMIC_SHARED = 8,
  ATTRIBUTE_SHARED_CARVEOUT = 9,
};
#define REGISTERS 64
#define BINARY_VERSION 94

HIP(hipFuncGetAttribute, (out, int, value), (in, int, attribute), (in, hipFunction_t, function)) {
  if (!value) return hipErrorInvalidValue;
  struct function *found = kernel_of(function);
  if (!found) return hipErrorInvalidDeviceFunction;
  switch (attribute) {
    case ATTRIBUTE_MAX_THREADS_PER_BLOCK: *value = MAX_THREADS_PER_BLOCK; break;
    case 4: *value = REGISTERS; break;
    case ATTRIBUTE_PTX_VERSION:
    case ATTRIBUTE_BINARY_VERSION: *value = BINARY_VERSION; break;
    case ATTRIBUTE_MAX_DYNAMIC_SHARED: *value = found->max_dynamic_shared; break;
    case 1: case 2: case 3: case 7: case ATTRIBUTE_SHARED_CARVEOUT: *value = 0; break;
    default: return hipErrorInvalidValue;
  }
  return hipSuccess;
}

HIP(hipFuncSetAttribute, (in, const void *, function), (in, int, attribute), (in, int, value)) {
  struct function *found = kernel_of(function);
  if (!found) return hipErrorInvalidDeviceFunction;
  if (attribute != ATTRIBUTE_MAX_DYNAMIC_SHARED && attribute != ATTRIBUTE_SHARED_CARVEOUT)
    return hipErrorInvalidValue;
  if (attribute == ATTRIBUTE_MAX_DYNAMIC_SHARED) found->max_dynamic_shared = value;
  return hipSuccess;
}

HIP(hipFuncGetAttributes, (raw, hipFuncAttributes *, attributes), (in, const void *, function)) {
  if (!attributes) return hipErrorInvalidValue;
  struct function *found = kernel_of(function);
  if (!found) return hipErrorInvalidDeviceFunction;
  *attributes = (hipFuncAttributes){
      .binaryVersion = BINARY_VERSION,
      .maxDynamicSharedSizeBytes = found->max_dynamic_shared,
      .maxThreadsPerBlock = MAX_THREADS_PER_BLOCK,
      .numRegs = REGISTERS,
      .ptxVersion = BINARY_VERSION,
  };
  return hipSuccess;
}

HIP(hipFuncSetCacheConfig, (in, const void *, function), (in, int, config)) {
  (void)config;
  return kernel_of(function) ? hipSuccess : hipErrorInvalidDeviceFunction;
}

/* Threads of a multiprocessor divided by those of a block; registers and
 * shared memory of a kernel are not known. */
static hipError_t occupancy(int *blocks, const void *function, int block_size) {
  if (!blocks || block_size <= 0) return hipErrorInvalidValue;
  if (!kernel_of(function)) return hipErrorInvalidDeviceFunction;
  *blocks = block_size > MAX_THREADS_PER_BLOCK ? 0 : 2048 / block_size;
  return hipSuccess;
}

HIP(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor, (out, int, blocks),
    (in, hipFunction_t, function), (in, int, block_size), (in, size_t, shared_bytes)) {
  (void)shared_bytes;
  return occupancy(blocks, function, block_size);
}

HIP(hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, (out, int, blocks),
    (in, hipFunction_t, function), (in, int, block_size), (in, size_t, shared_bytes),
    (hex, unsigned, flags)) {
  (void)shared_bytes;
  if (flags > 1) return hipErrorInvalidValue;
  return occupancy(blocks, function, block_size);
}

HIP(hipOccupancyMaxActiveBlocksPerMultiprocessor, (out, int, blocks), (in, const void *, function),
    (in, int, block_size), (in, size_t, shared_bytes)) {
  (void)shared_bytes;
  return occupancy(blocks, function, block_size);
}

HIP(hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, (out, int, blocks),
    (in, const void *, function), (in, int, block_size), (in, size_t, shared_bytes),
    (hex, unsigned, flags)) {
  (void)shared_bytes;
  if (flags > 1) return hipErrorInvalidValue;
  return occupancy(blocks, function, block_size);
}

static hipError_t potential(int *grid, int *block, const void *function, int limit) {
  if (!grid || !block || limit < 0) return hipErrorInvalidValue;
  if (!kernel_of(function)) return hipErrorInvalidDeviceFunction;
  *block = limit > 0 && limit < MAX_THREADS_PER_BLOCK ? limit : MAX_THREADS_PER_BLOCK;
  *grid = (304 + fake_thread.device) * (2048 / *block);
  return hipSuccess;
}

HIP(hipModuleOccupancyMaxPotentialBlockSize, (out, int, grid), (out, int, block),
    (in, hipFunction_t, function), (in, size_t, shared_bytes), (in, int, limit)) {
  (void)shared_bytes;
  return potential(grid, block, function, limit);
}

HIP(hipOccupancyMaxPotentialBlockSize, (out, int, grid), (out, int, block),
    (in, const void *, function), (in, size_t, shared_bytes), (in, int, limit)) {
  (void)shared_bytes;
  return potential(grid, block, function, limit);
}
