/* Events, with host time stamps. */
#include "call.h"
#include "stream.h"

struct event {
  unsigned flags;
  bool recorded;
  uint64_t time; /* nanoseconds */
};

enum {
  hipEventDisableTiming = 2,
  /* Every flag that some version accepts: blocking, no timing, interprocess,
   * the two release scopes and "no fence". */
  KNOWN_FLAGS = 0x1 | 0x2 | 0x4 | 0x20000000 | 0x40000000 | (int)0x80000000,
};

static hipError_t create(hipEvent_t *event, unsigned flags) {
  if (!event || (flags & ~(unsigned)KNOWN_FLAGS)) return hipErrorInvalidValue;
  struct block *block = heap_allocate(sizeof(struct event), BLOCK_EVENT, fake_thread.device, 0);
  if (!block) return hipErrorOutOfMemory;
  struct event *created = (struct event *)block->address;
  *created = (struct event){flags, false, 0};
  *event = created;
  return hipSuccess;
}

HIP(hipEventCreate, (out, hipEvent_t, event)) { return create(event, 0); }

HIP(hipEventCreateWithFlags, (out, hipEvent_t, event), (hex, unsigned, flags)) {
  return create(event, flags);
}

HIP(hipEventDestroy, (in, hipEvent_t, event)) {
  if (!event) return hipErrorInvalidHandle;
  struct block *block = heap_handle(event, BLOCK_EVENT);
  return block && heap_release(block, BLOCK_EVENT) ? hipSuccess : hipErrorInvalidHandle;
}

static hipError_t record(hipEvent_t event, hipStream_t stream) {
  struct block *block = heap_handle(event, BLOCK_EVENT);
  if (!block || !is_stream(stream)) return hipErrorInvalidHandle;
  /* A stream of one device cannot record an event of another. */
  if ((uintptr_t)stream > 2 && stream_device(stream) != block->device) return hipErrorInvalidHandle;
  event->time = fake_now();
  event->recorded = true;
  return hipSuccess;
}

HIP_SPT(hipEventRecord, (in, hipEvent_t, event), (in, hipStream_t, stream)) {
  return record(event, stream);
}

HIP(hipEventRecordWithFlags, (in, hipEvent_t, event), (in, hipStream_t, stream),
    (hex, unsigned, flags)) {
  return flags > 1 ? hipErrorInvalidValue : record(event, stream);
}

HIP(hipEventQuery, (in, hipEvent_t, event)) {
  return heap_handle(event, BLOCK_EVENT) ? hipSuccess : hipErrorInvalidHandle;
}

HIP(hipEventSynchronize, (in, hipEvent_t, event)) {
  return heap_handle(event, BLOCK_EVENT) ? hipSuccess : hipErrorInvalidHandle;
}

HIP(hipEventElapsedTime, (out, float, milliseconds), (in, hipEvent_t, start),
    (in, hipEvent_t, stop)) {
  if (!milliseconds) return hipErrorInvalidValue;
  if (!heap_handle(start, BLOCK_EVENT) || !heap_handle(stop, BLOCK_EVENT))
    return hipErrorInvalidHandle;
  if (!start->recorded || !stop->recorded ||
      ((start->flags | stop->flags) & hipEventDisableTiming))
    return hipErrorInvalidHandle;
  *milliseconds = (float)((double)(int64_t)(stop->time - start->time) / 1e6);
  return hipSuccess;
}
