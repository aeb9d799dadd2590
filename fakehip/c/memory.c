/* Allocation, and what is known about a pointer. */
#include "memory.h"

#include <stdlib.h>

#include "call.h"
#include "properties.h"
#include "stream.h"

static hipError_t allocate(void **pointer, size_t size, enum block_kind kind, unsigned flags) {
  if (unlikely(!pointer)) return hipErrorInvalidValue;
  if (unlikely(size == 0)) {
    *pointer = NULL;
    return hipSuccess;
  }
  int device = fake_thread.device;
  /* Only sizes that can matter are worth a sum over all threads. */
  if (unlikely(size > LARGEST_SMALL) && is_device_memory(kind)) {
    size_t total = device_memory_bytes(device);
    size_t used = (size_t)heap_used(device);
    if (size > total || used > total - size) return hipErrorOutOfMemory;
  }
  struct block *block = heap_allocate(size, kind, device, flags);
  if (unlikely(!block)) return hipErrorOutOfMemory;
  *pointer = block->address;
  return hipSuccess;
}

HIP_HOT(hipMalloc, (out, void *, pointer), (in, size_t, size)) {
  /* size - 1: zero is not small either */
  if (likely(pointer && size - 1 < LARGEST_SMALL)) {
    struct block *block = heap_allocate(size, BLOCK_DEVICE, fake_thread.device, 0);
    if (unlikely(!block)) return hipErrorOutOfMemory;
    *pointer = block->address;
    return hipSuccess;
  }
  return allocate(pointer, size, BLOCK_DEVICE, 0);
}

HIP(hipExtMallocWithFlags, (out, void *, pointer), (in, size_t, size), (hex, unsigned, flags)) {
  return allocate(pointer, size, BLOCK_DEVICE, flags);
}

HIP(hipMallocAsync, (out, void *, pointer), (in, size_t, size), (in, hipStream_t, stream)) {
  CHECK_STREAM(stream);
  return allocate(pointer, size, BLOCK_DEVICE, 0);
}

/* hipMemAttachGlobal or hipMemAttachHost */
HIP(hipMallocManaged, (out, void *, pointer), (in, size_t, size), (hex, unsigned, flags)) {
  if (size == 0 || (flags != 1 && flags != 2)) return hipErrorInvalidValue;
  return allocate(pointer, size, BLOCK_MANAGED, flags);
}

HIP(hipHostMalloc, (out, void *, pointer), (in, size_t, size), (hex, unsigned, flags)) {
  return allocate(pointer, size, BLOCK_HOST, flags);
}

HIP_ALIAS(hipHostAlloc, hipHostMalloc, (out, void *, pointer), (in, size_t, size),
          (hex, unsigned, flags))

HIP(hipMallocHost, (out, void *, pointer), (in, size_t, size)) {
  return allocate(pointer, size, BLOCK_HOST, 0);
}

HIP_ALIAS(hipMemAllocHost, hipMallocHost, (out, void *, pointer), (in, size_t, size))

/* Rows start at multiples of this, as on the modelled hardware. */
#define PITCH 256

HIP(hipMallocPitch, (out, void *, pointer), (out, size_t, pitch), (in, size_t, width),
    (in, size_t, height)) {
  if (!pointer || !pitch || width > SIZE_MAX - PITCH) return hipErrorInvalidValue;
  size_t row = (width + PITCH - 1) & ~(size_t)(PITCH - 1), size;
  if (__builtin_mul_overflow(row, height, &size)) return hipErrorOutOfMemory;
  hipError_t result = allocate(pointer, size, BLOCK_DEVICE, 0);
  if (result == hipSuccess) *pitch = row;
  return result;
}

HIP(hipMemAllocPitch, (out, hipDeviceptr_t, pointer), (out, size_t, pitch), (in, size_t, width),
    (in, size_t, height), (in, unsigned, element_bytes)) {
  if (element_bytes != 4 && element_bytes != 8 && element_bytes != 16) return hipErrorInvalidValue;
  return body_hipMallocPitch(pointer, pitch, width, height);
}

HIP_HOT(hipFree, (in, void *, pointer)) {
  if (unlikely(!pointer)) return hipSuccess;
  struct block *block = heap_block(pointer);
  if (unlikely(!block || block->address != (char *)pointer)) return hipErrorInvalidValue;
  enum block_kind kind = block_kind(block);
  if (unlikely(!is_device_memory(kind))) return hipErrorInvalidValue;
  return likely(heap_release(block, kind)) ? hipSuccess : hipErrorInvalidValue;
}

HIP(hipFreeAsync, (in, void *, pointer), (in, hipStream_t, stream)) {
  /* NULL became valid with 7.0. */
  if (!pointer) return fake_model.major >= 7 ? hipSuccess : hipErrorInvalidValue;
  CHECK_STREAM(stream);
  return body_hipFree(pointer);
}

HIP(hipHostFree, (in, void *, pointer)) {
  if (!pointer) return hipSuccess;
  struct block *block = heap_handle(pointer, BLOCK_HOST);
  return block && heap_release(block, BLOCK_HOST) ? hipSuccess : hipErrorInvalidValue;
}

HIP_ALIAS(hipFreeHost, hipHostFree, (in, void *, pointer))

HIP(hipMemGetInfo, (out, size_t, free), (out, size_t, total)) {
  size_t bytes = device_memory_bytes(fake_thread.device);
  int64_t used = heap_used(fake_thread.device);
  if (free) *free = used < 0 ? bytes : (size_t)used > bytes ? 0 : bytes - (size_t)used;
  if (total) *total = bytes;
  return hipSuccess;
}

HIP(hipMemGetAddressRange, (out, hipDeviceptr_t, base), (out, size_t, size),
    (in, hipDeviceptr_t, pointer)) {
  struct block *block = heap_live_block(pointer);
  if (!block || block_kind(block) >= BLOCK_STREAM) return hipErrorNotFound;
  if (base) *base = block->address;
  if (size) *size = block->size;
  return hipSuccess;
}

HIP(hipMemPtrGetInfo, (in, void *, pointer), (out, size_t, size)) {
  if (!size) return hipErrorInvalidValue;
  if (!pointer) {
    *size = 0;
    return hipSuccess;
  }
  struct block *block = heap_live_block(pointer);
  if (!block || block_kind(block) >= BLOCK_STREAM) return hipErrorInvalidValue;
  *size = block->size;
  return hipSuccess;
}

/* --- host memory that the caller owns ------------------------------------ */

static struct registration *registrations;
static atomic_int registration_count;

/* Lock held. */
static struct registration **find_registration(const void *pointer, size_t size) {
  for (struct registration **place = &registrations; *place; place = &(*place)->next) {
    const char *start = (*place)->start;
    if ((const char *)pointer >= start && (const char *)pointer < start + (*place)->size &&
        size <= (*place)->size - (size_t)((const char *)pointer - start))
      return place;
  }
  return NULL;
}

bool is_registered_host(const void *pointer, size_t size) {
  if (atomic_load_explicit(&registration_count, memory_order_acquire) == 0) return false;
  fake_lock();
  bool found = find_registration(pointer, size) != NULL;
  fake_unlock();
  return found;
}

bool registration(const void *pointer, struct registration *copy) {
  fake_lock();
  struct registration **place = find_registration(pointer, 1);
  if (place) *copy = **place;
  fake_unlock();
  return place != NULL;
}

HIP(hipHostRegister, (in, void *, pointer), (in, size_t, size), (hex, unsigned, flags)) {
  if (!pointer || size == 0 || flags & ~0xfu) return hipErrorInvalidValue;
  if (heap_live_block(pointer)) return hipErrorInvalidValue;
  struct registration *added = malloc(sizeof *added);
  if (!added) return hipErrorOutOfMemory;
  *added = (struct registration){pointer, size, flags, fake_thread.device, NULL};
  fake_lock();
  bool known = false;
  for (struct registration *other = registrations; other; other = other->next)
    known |= added->start < other->start + other->size && other->start < added->start + size;
  if (!known) {
    added->next = registrations;
    registrations = added;
    atomic_fetch_add(&registration_count, 1);
  }
  fake_unlock();
  if (!known) return hipSuccess;
  free(added);
  return hipErrorHostMemoryAlreadyRegistered;
}

HIP(hipHostUnregister, (in, void *, pointer)) {
  if (!pointer) return hipErrorInvalidValue;
  fake_lock();
  struct registration **place = find_registration(pointer, 1);
  struct registration *removed = place && (*place)->start == pointer ? *place : NULL;
  if (removed) {
    *place = removed->next;
    atomic_fetch_sub(&registration_count, 1);
  }
  fake_unlock();
  free(removed);
  return removed ? hipSuccess : hipErrorHostMemoryNotRegistered;
}

HIP(hipHostGetDevicePointer, (out, void *, device_pointer), (in, void *, pointer),
    (hex, unsigned, flags)) {
  if (!device_pointer || flags) return hipErrorInvalidValue;
  struct block *block = heap_live_block(pointer);
  if (!(block && block_kind(block) == BLOCK_HOST) && !is_registered_host(pointer, 1))
    return hipErrorInvalidValue;
  *device_pointer = pointer;
  return hipSuccess;
}

HIP(hipHostGetFlags, (out, unsigned, flags), (in, void *, pointer)) {
  if (!flags) return hipErrorInvalidValue;
  struct block *block = heap_live_block(pointer);
  struct registration found;
  if (block && block_kind(block) == BLOCK_HOST)
    *flags = block->flags;
  else if (registration(pointer, &found))
    *flags = found.flags;
  else
    return hipErrorInvalidValue;
  return hipSuccess;
}
