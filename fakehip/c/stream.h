#ifndef FAKEHIP_STREAM_H
#define FAKEHIP_STREAM_H

#include "heap.h"

struct stream {
  unsigned flags;
  int priority;
  uint64_t id;
};

/* The null stream, the two special handles, or a live stream. */
static inline bool is_stream(hipStream_t stream) {
  return likely((uintptr_t)stream <= 2) || heap_handle(stream, BLOCK_STREAM) != NULL;
}

static inline int stream_device(hipStream_t stream) {
  if ((uintptr_t)stream <= 2) return fake_thread.device;
  struct block *block = heap_handle(stream, BLOCK_STREAM);
  return block ? block->device : -1;
}

/* hipErrorInvalidHandle up to 6.4; 7.x documents streams that are not valid as
 * undefined, so the fake keeps the older answer instead of crashing. */
#define CHECK_STREAM(stream) \
  if (unlikely(!is_stream(stream))) return hipErrorInvalidHandle

#endif
