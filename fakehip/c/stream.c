/* Streams. All work is done before the call that queues it returns, so every
 * stream is always idle; what is left is ownership and validity. */
#include "stream.h"

#include "call.h"

static atomic_ullong streams;

static hipError_t create(hipStream_t *stream, unsigned flags, int priority) {
  if (!stream || flags > 1) return hipErrorInvalidValue;
  struct block *block = heap_allocate(sizeof(struct stream), BLOCK_STREAM, fake_thread.device, 0);
  if (!block) return hipErrorOutOfMemory;
  struct stream *created = (struct stream *)block->address;
  created->flags = flags;
  created->priority = priority < -1 ? -1 : priority > 1 ? 1 : priority;
  created->id = atomic_fetch_add(&streams, 1) + 1;
  *stream = created;
  return hipSuccess;
}

HIP(hipStreamCreate, (out, hipStream_t, stream)) { return create(stream, 0, 0); }

HIP(hipStreamCreateWithFlags, (out, hipStream_t, stream), (hex, unsigned, flags)) {
  return create(stream, flags, 0);
}

HIP(hipStreamCreateWithPriority, (out, hipStream_t, stream), (hex, unsigned, flags),
    (in, int, priority)) {
  return create(stream, flags, priority);
}

HIP(hipExtStreamCreateWithCUMask, (out, hipStream_t, stream), (in, uint32_t, words),
    (raw, const uint32_t *, mask)) {
  if (!words || !mask) return hipErrorInvalidValue;
  return create(stream, 0, 0);
}

HIP(hipStreamDestroy, (in, hipStream_t, stream)) {
  if (!stream) return hipErrorInvalidHandle;
  struct block *block = heap_handle(stream, BLOCK_STREAM);
  return block && heap_release(block, BLOCK_STREAM) ? hipSuccess : hipErrorInvalidHandle;
}

HIP_SPT(hipStreamQuery, (in, hipStream_t, stream)) {
  CHECK_STREAM(stream);
  return hipSuccess;
}

HIP_SPT(hipStreamSynchronize, (in, hipStream_t, stream)) {
  CHECK_STREAM(stream);
  return hipSuccess;
}

HIP_SPT(hipStreamWaitEvent, (in, hipStream_t, stream), (in, hipEvent_t, event),
        (hex, unsigned, flags)) {
  if (flags) return hipErrorInvalidValue;
  CHECK_STREAM(stream);
  return heap_handle(event, BLOCK_EVENT) ? hipSuccess : hipErrorInvalidHandle;
}

HIP_SPT(hipStreamGetFlags, (in, hipStream_t, stream), (out, unsigned, flags)) {
  if (!flags) return hipErrorInvalidValue;
  CHECK_STREAM(stream);
  *flags = (uintptr_t)stream <= 2 ? 0 : stream->flags;
  return hipSuccess;
}

HIP_SPT(hipStreamGetPriority, (in, hipStream_t, stream), (out, int, priority)) {
  if (!priority) return hipErrorInvalidValue;
  CHECK_STREAM(stream);
  *priority = (uintptr_t)stream <= 2 ? 0 : stream->priority;
  return hipSuccess;
}

HIP(hipStreamGetDevice, (in, hipStream_t, stream), (out, hipDevice_t, device)) {
  if (!device) return hipErrorInvalidValue;
  CHECK_STREAM(stream);
  *device = stream_device(stream);
  return hipSuccess;
}

HIP(hipStreamGetId, (in, hipStream_t, stream), (out, unsigned long long, id)) {
  if (!id) return hipErrorInvalidValue;
  CHECK_STREAM(stream);
  *id = (uintptr_t)stream <= 2 ? (uintptr_t)stream : stream->id + 2;
  return hipSuccess;
}

VALUE(int, hipGetStreamDeviceId, (in, hipStream_t, stream)) { return stream_device(stream); }

/* hipStreamCaptureStatusNone: graphs are not modelled, so nothing captures. */
HIP_SPT(hipStreamIsCapturing, (in, hipStream_t, stream), (out, unsigned, status)) {
  if (!status) return hipErrorInvalidValue;
  CHECK_STREAM(stream);
  *status = 0;
  return hipSuccess;
}

/* The id stays untouched: it has a meaning only while capturing. */
HIP_SPT(hipStreamGetCaptureInfo, (in, hipStream_t, stream), (out, unsigned, status),
        (raw, unsigned long long *, id)) {
  if (!status) return hipErrorInvalidValue;
  CHECK_STREAM(stream);
  (void)id;
  *status = 0;
  return hipSuccess;
}

typedef void (*host_function)(void *);

HIP_SPT(hipLaunchHostFunc, (in, hipStream_t, stream), (raw, host_function, function),
        (in, void *, argument)) {
  if (!function) return hipErrorInvalidValue;
  CHECK_STREAM(stream);
  function(argument);
  return hipSuccess;
}

typedef void (*stream_callback)(hipStream_t, hipError_t, void *);

HIP_SPT(hipStreamAddCallback, (in, hipStream_t, stream), (raw, stream_callback, callback),
        (in, void *, argument), (hex, unsigned, flags)) {
  if (!callback || flags) return hipErrorInvalidValue;
  CHECK_STREAM(stream);
  callback(stream, hipSuccess, argument);
  return hipSuccess;
}
