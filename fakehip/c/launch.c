/* Launches. A kernel does nothing; what is kept is with what it was launched. */
#include <stdlib.h>
#include <string.h>

#include "call.h"
#include "launch_record.h"
#include "module.h"
#include "properties.h"
#include "registered.h"
#include "stream.h"

struct launch {
  hipFunction_t function;
  dim3 grid, block;
  size_t shared;
  hipStream_t stream;
  void **params, **extra;
};

/* Sizes that no kernel can run with. Since 7.0 module launches answer as
 * runtime launches always did. */
static inline hipError_t bad_size(bool module_launch) {
  return module_launch && fake_model.major < 7 ? hipErrorInvalidValue
                                               : hipErrorInvalidConfiguration;
}

static inline bool is_size(dim3 grid, dim3 block) {
  if (unlikely(!grid.x || !grid.y || !grid.z || !block.x || !block.y || !block.z)) return false;
  return likely(block.x <= MAX_THREADS_PER_BLOCK && block.y <= MAX_THREADS_PER_BLOCK &&
                (uint64_t)block.x * block.y * block.z <= MAX_THREADS_PER_BLOCK);
}

/* The packed buffer of `extra`; false if the array is not as documented. */
static bool read_extra(void **extra, const void **buffer, size_t *size) {
  *buffer = NULL;
  *size = 0;
  const size_t *size_at = NULL;
  for (int i = 0; extra[i] != HIP_LAUNCH_PARAM_END; i += 2) {
    if (i >= 4) return false;
    if (extra[i] == HIP_LAUNCH_PARAM_BUFFER_POINTER)
      *buffer = extra[i + 1];
    else if (extra[i] == HIP_LAUNCH_PARAM_BUFFER_SIZE)
      size_at = extra[i + 1];
    else
      return false;
  }
  if (size_at) *size = *size_at;
  return *buffer && size_at;
}

static void copy_text(char *to, size_t size, const char *from) {
  size_t length = strlen(from);
  if (length >= size) length = size - 1;
  memcpy(to, from, length);
  to[length] = 0;
}

static void record_arguments(struct fakehip_launch *record, const struct launch *launch,
                             const void *buffer, size_t buffer_size) {
  const struct function *function = launch->function;
  record->arg_count = function->argument_count;
  record->params = launch->extra ? (void *)launch->extra : (void *)launch->params;
  record->args_from = launch->extra    ? FAKEHIP_ARGS_EXTRA
                      : launch->params ? FAKEHIP_ARGS_PARAMS
                                       : FAKEHIP_ARGS_NONE;
  if (buffer) {
    record->truncated = buffer_size > FAKEHIP_MAX_ARG_BYTES;
    record->byte_count = record->truncated ? FAKEHIP_MAX_ARG_BYTES : (uint32_t)buffer_size;
    memcpy(record->bytes, buffer, record->byte_count);
  }
  for (int i = 0; i < function->argument_count; i++) {
    uint32_t offset = function->arguments[i].offset, size = function->arguments[i].size;
    record->arg_offset[i] = offset;
    record->arg_size[i] = size;
    if (buffer || !launch->params) continue;
    if (offset + size > FAKEHIP_MAX_ARG_BYTES) {
      record->truncated = 1;
      continue;
    }
    if (launch->params[i])
      memcpy(record->bytes + offset, launch->params[i], size);
    else
      call_note("argument %d is NULL; ", i);
    if (offset + size > record->byte_count) record->byte_count = offset + size;
  }
}

static void note_arguments(const struct fakehip_launch *record) {
  call_note("kernel \"%s\", grid (%u, %u, %u), block (%u, %u, %u)", record->kernel,
            record->grid[0], record->grid[1], record->grid[2], record->block[0], record->block[1],
            record->block[2]);
  if (record->arg_count < 0) {
    call_note(", arguments at %p", record->params);
    return;
  }
  for (int i = 0; i < record->arg_count; i++) {
    const unsigned char *bytes = record->bytes + record->arg_offset[i];
    uint32_t size = record->arg_size[i];
    uint64_t value = 0;
    if (record->arg_offset[i] + size > record->byte_count) {
      call_note(", arg %d (%u bytes)", i, size);
    } else if (size <= 8) {
      memcpy(&value, bytes, size);
      call_note(", arg %d = 0x%0*llx", i, (int)(2 * size), (unsigned long long)value);
    } else {
      call_note(", arg %d =", i);
      for (uint32_t at = 0; at < size && at < 16; at++) call_note(" %02x", bytes[at]);
      if (size > 16) call_note(" ...");
    }
  }
}

static COLD void record_launch(const struct launch *launch, const void *buffer,
                               size_t buffer_size) {
  struct fakehip_launch *record = launch_record_begin();
  copy_text(record->function, sizeof record->function, fake_thread.call->function->name);
  copy_text(record->kernel, sizeof record->kernel, launch->function->name);
  memcpy(record->grid, &launch->grid, sizeof record->grid);
  memcpy(record->block, &launch->block, sizeof record->block);
  record->shared_bytes = launch->shared;
  record->stream = launch->stream;
  record->device = stream_device(launch->stream);
  record_arguments(record, launch, buffer, buffer_size);
  note_arguments(record);
  launch_record_end();
}

/* A thread mostly launches what it launched before: the look-up in the heap is
 * most of the time that a launch takes. */
static inline bool is_function(const void *function) {
  unsigned unloads = atomic_load_explicit(&fake_unloads, memory_order_relaxed);
  if (likely(function == fake_thread.launched && unloads == fake_thread.launched_at && function))
    return true;
  if (!heap_handle(function, BLOCK_FUNCTION)) return false;
  fake_thread.launched = function;
  fake_thread.launched_at = unloads;
  return true;
}

/* Always inline, and the record gets a copy: so the launch stays in registers
 * and on the caller's stack, which is most of a cheap launch's cost. */
static inline ALWAYS_INLINE hipError_t run(struct launch launch, bool module_launch) {
  if (unlikely(!is_function(launch.function))) return hipErrorInvalidHandle;
  if (unlikely(!is_size(launch.grid, launch.block))) return bad_size(module_launch);
  CHECK_STREAM(launch.stream);
  const void *buffer = NULL;
  size_t buffer_size = 0;
  if (unlikely(launch.extra != NULL)) {
    if (launch.params) return hipErrorInvalidValue;
    if (!read_extra(launch.extra, &buffer, &buffer_size)) return hipErrorInvalidValue;
    if (launch.function->argument_count > 0 && buffer_size < launch.function->argument_bytes)
      return hipErrorInvalidValue;
  } else if (unlikely(!launch.params && launch.function->argument_count > 0)) {
    return hipErrorInvalidValue;
  }
  if (is_active() && call_recorded()) {
    struct launch recorded = launch;
    record_launch(&recorded, buffer, buffer_size);
  }
  return hipSuccess;
}

/* --- by handle ------------------------------------------------------------------- */

static inline ALWAYS_INLINE bool quick_hipModuleLaunchKernel(
    hipFunction_t function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
    unsigned block_y, unsigned block_z, unsigned shared_bytes, hipStream_t stream, void **params,
    void **extra) {
  (void)shared_bytes;
  return function == fake_thread.launched &&
         atomic_load_explicit(&fake_unloads, memory_order_relaxed) == fake_thread.launched_at &&
         function && params && !extra && (uintptr_t)stream <= 2 &&
         is_size((dim3){grid_x, grid_y, grid_z}, (dim3){block_x, block_y, block_z});
}

HIP_QUICK(hipModuleLaunchKernel, (in, hipFunction_t, function), (in, unsigned, grid_x),
        (in, unsigned, grid_y), (in, unsigned, grid_z), (in, unsigned, block_x),
        (in, unsigned, block_y), (in, unsigned, block_z), (in, unsigned, shared_bytes),
        (in, hipStream_t, stream), (in, void **, params), (in, void **, extra)) {
  return run((struct launch){function,
                              {grid_x, grid_y, grid_z},
                              {block_x, block_y, block_z},
                              shared_bytes,
                              stream,
                              params,
                              extra},
             true);
}

HIP(hipModuleLaunchCooperativeKernel, (in, hipFunction_t, function), (in, unsigned, grid_x),
    (in, unsigned, grid_y), (in, unsigned, grid_z), (in, unsigned, block_x),
    (in, unsigned, block_y), (in, unsigned, block_z), (in, unsigned, shared_bytes),
    (in, hipStream_t, stream), (in, void **, params)) {
  return run((struct launch){function,
                              {grid_x, grid_y, grid_z},
                              {block_x, block_y, block_z},
                              shared_bytes,
                              stream,
                              params,
                              NULL},
             true);
}

HIP(hipDrvLaunchKernelEx, (raw, const HIP_LAUNCH_CONFIG *, config), (in, hipFunction_t, function),
    (in, void **, params), (in, void **, extra)) {
  if (!config) return hipErrorInvalidValue;
  return run((struct launch){function,
                              {config->gridDimX, config->gridDimY, config->gridDimZ},
                              {config->blockDimX, config->blockDimY, config->blockDimZ},
                              config->sharedMemBytes,
                              config->hStream,
                              params,
                              extra},
             true);
}

static inline bool is_event(hipEvent_t event) {
  return !event || heap_handle(event, BLOCK_EVENT);
}

/* Takes its global size in threads, where all others count blocks. */
static hipError_t run_global(hipFunction_t function, dim3 global, dim3 block, size_t shared,
                             hipStream_t stream, void **params, void **extra, hipEvent_t start,
                             hipEvent_t stop) {
  if (!block.x || !block.y || !block.z) return bad_size(true);
  if (!is_event(start) || !is_event(stop)) return hipErrorInvalidHandle;
  dim3 grid = {(uint32_t)(((uint64_t)global.x + block.x - 1) / block.x),
               (uint32_t)(((uint64_t)global.y + block.y - 1) / block.y),
               (uint32_t)(((uint64_t)global.z + block.z - 1) / block.z)};
  return run((struct launch){function, grid, block, shared, stream, params, extra}, true);
}

HIP(hipExtModuleLaunchKernel, (in, hipFunction_t, function), (in, uint32_t, global_x),
    (in, uint32_t, global_y), (in, uint32_t, global_z), (in, uint32_t, block_x),
    (in, uint32_t, block_y), (in, uint32_t, block_z), (in, size_t, shared_bytes),
    (in, hipStream_t, stream), (in, void **, params), (in, void **, extra),
    (in, hipEvent_t, start), (in, hipEvent_t, stop), (hex, uint32_t, flags)) {
  (void)flags;
  return run_global(function, (dim3){global_x, global_y, global_z},
                    (dim3){block_x, block_y, block_z}, shared_bytes, stream, params, extra, start,
                    stop);
}

HIP(hipHccModuleLaunchKernel, (in, hipFunction_t, function), (in, uint32_t, global_x),
    (in, uint32_t, global_y), (in, uint32_t, global_z), (in, uint32_t, block_x),
    (in, uint32_t, block_y), (in, uint32_t, block_z), (in, size_t, shared_bytes),
    (in, hipStream_t, stream), (in, void **, params), (in, void **, extra),
    (in, hipEvent_t, start), (in, hipEvent_t, stop)) {
  return run_global(function, (dim3){global_x, global_y, global_z},
                    (dim3){block_x, block_y, block_z}, shared_bytes, stream, params, extra, start,
                    stop);
}

/* The C++ names that runtimes export because hip_ext.h once lacked extern "C". */
HIP_ALIAS(_Z24hipExtModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_j,
          hipExtModuleLaunchKernel, (in, hipFunction_t, function), (in, uint32_t, global_x),
          (in, uint32_t, global_y), (in, uint32_t, global_z), (in, uint32_t, block_x),
          (in, uint32_t, block_y), (in, uint32_t, block_z), (in, size_t, shared_bytes),
          (in, hipStream_t, stream), (in, void **, params), (in, void **, extra),
          (in, hipEvent_t, start), (in, hipEvent_t, stop), (hex, uint32_t, flags))

HIP_ALIAS(_Z24hipHccModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_,
          hipHccModuleLaunchKernel, (in, hipFunction_t, function), (in, uint32_t, global_x),
          (in, uint32_t, global_y), (in, uint32_t, global_z), (in, uint32_t, block_x),
          (in, uint32_t, block_y), (in, uint32_t, block_z), (in, size_t, shared_bytes),
          (in, hipStream_t, stream), (in, void **, params), (in, void **, extra),
          (in, hipEvent_t, start), (in, hipEvent_t, stop))

/* --- by host function --------------------------------------------------------------- */

static hipError_t run_host(const void *host_function, dim3 grid, dim3 block, void **args,
                           size_t shared, hipStream_t stream) {
  hipFunction_t function = host_function ? registered_function(host_function) : NULL;
  if (!function) return hipErrorInvalidDeviceFunction;
  return run((struct launch){function, grid, block, shared, stream, args, NULL}, false);
}

HIP_SPT(hipLaunchKernel, (in, const void *, function), (in, dim3, grid), (in, dim3, block),
        (in, void **, args), (in, size_t, shared_bytes), (in, hipStream_t, stream)) {
  return run_host(function, grid, block, args, shared_bytes, stream);
}

HIP_SPT(hipLaunchCooperativeKernel, (in, const void *, function), (in, dim3, grid),
        (in, dim3, block), (in, void **, args), (in, unsigned, shared_bytes),
        (in, hipStream_t, stream)) {
  return run_host(function, grid, block, args, shared_bytes, stream);
}

HIP(hipExtLaunchKernel, (in, const void *, function), (in, dim3, grid), (in, dim3, block),
    (in, void **, args), (in, size_t, shared_bytes), (in, hipStream_t, stream),
    (in, hipEvent_t, start), (in, hipEvent_t, stop), (hex, int, flags)) {
  (void)flags;
  if (!is_event(start) || !is_event(stop)) return hipErrorInvalidHandle;
  return run_host(function, grid, block, args, shared_bytes, stream);
}

HIP(hipLaunchKernelExC, (raw, const hipLaunchConfig_t *, config), (in, const void *, function),
    (in, void **, args)) {
  if (!config) return hipErrorInvalidValue;
  return run_host(function, config->gridDim, config->blockDim, args, config->dynamicSmemBytes,
                  config->stream);
}

/* --- <<<...>>> ------------------------------------------------------------------------ */

/* A compiled launch pushes its configuration, evaluates the arguments (which
 * may launch kernels themselves) and pops it in the kernel's host stub. */
struct launch_configuration {
  dim3 grid, block;
  size_t shared;
  hipStream_t stream;
  struct launch_configuration *outer;
};

HIP(__hipPushCallConfiguration, (in, dim3, grid), (in, dim3, block), (in, size_t, shared_bytes),
    (in, hipStream_t, stream)) {
  struct launch_configuration *pushed = malloc(sizeof *pushed);
  if (!pushed) return hipErrorOutOfMemory;
  *pushed = (struct launch_configuration){grid, block, shared_bytes, stream,
                                          fake_thread.configurations};
  fake_thread.configurations = pushed;
  return hipSuccess;
}

HIP(__hipPopCallConfiguration, (out, dim3, grid), (out, dim3, block), (out, size_t, shared_bytes),
    (out, hipStream_t, stream)) {
  if (!grid || !block || !shared_bytes || !stream) return hipErrorInvalidValue;
  struct launch_configuration *popped = fake_thread.configurations;
  if (!popped) return hipErrorMissingConfiguration;
  *grid = popped->grid;
  *block = popped->block;
  *shared_bytes = popped->shared;
  *stream = popped->stream;
  fake_thread.configurations = popped->outer;
  free(popped);
  return hipSuccess;
}
