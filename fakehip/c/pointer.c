/* What is known about a pointer. */
#include <string.h>

#include "call.h"
#include "given.h"
#include "memory.h"

/* hipMemoryType was renumbered in 6.0, which also brought "unregistered". */
enum memory_type { TYPE_UNREGISTERED, TYPE_HOST, TYPE_DEVICE, TYPE_MANAGED };

static unsigned memory_type(enum memory_type type) {
  static const unsigned since_6[] = {0, 1, 2, 3}, before_6[] = {0, 0, 1, 4};
  return fake_model.major >= 6 ? since_6[type] : before_6[type];
}

static hipError_t describe(const void *pointer, hipPointerAttribute_t *attributes) {
  struct block *block = heap_live_block(pointer);
  enum block_kind kind = block ? block_kind(block) : BLOCK_FREE;
  struct registration found;
  hipPointerAttribute_t answer = {0};
  void *plain = (void *)(uintptr_t)pointer;
  if (kind == BLOCK_DEVICE || kind == BLOCK_GLOBAL) {
    answer.type = memory_type(TYPE_DEVICE);
    answer.devicePointer = plain;
  } else if (kind == BLOCK_MANAGED || kind == BLOCK_HOST) {
    answer.type = memory_type(kind == BLOCK_HOST ? TYPE_HOST : TYPE_MANAGED);
    answer.devicePointer = answer.hostPointer = plain;
    answer.isManaged = kind == BLOCK_MANAGED;
  } else if (registration(pointer, &found)) {
    answer.type = memory_type(TYPE_HOST);
    answer.devicePointer = answer.hostPointer = plain;
    answer.device = found.device;
    answer.allocationFlags = found.flags;
  } else if (fake_model.major >= 6) {
    answer.type = memory_type(TYPE_UNREGISTERED);
    answer.device = -2; /* hipInvalidDeviceId */
  } else {
    return hipErrorInvalidValue;
  }
  if (kind != BLOCK_FREE && (kind < BLOCK_STREAM || kind == BLOCK_GLOBAL)) {
    answer.device = block->device;
    answer.allocationFlags = block->flags;
  }
  *attributes = answer;
  return hipSuccess;
}

HIP(hipPointerGetAttributes, (fill, hipPointerAttribute_t, attributes),
    (in, const void *, pointer)) {
  if (!attributes) return hipErrorInvalidValue;
  if (!pointer && fake_model.major < 7) return hipErrorInvalidValue;
  hipError_t result = describe(pointer, attributes);
  if (result == hipSuccess)
    call_note("type %u, device %d", attributes->type, attributes->device);
  return result;
}

/* --- one attribute at a time ------------------------------------------------- */

/* hipPointer_attribute; those that are missing here are not modelled. */
enum {
  ATTRIBUTE_MEMORY_TYPE = 2,
  ATTRIBUTE_DEVICE_POINTER = 3,
  ATTRIBUTE_HOST_POINTER = 4,
  ATTRIBUTE_BUFFER_ID = 7,
  ATTRIBUTE_IS_MANAGED = 8,
  ATTRIBUTE_DEVICE_ORDINAL = 9,
  ATTRIBUTE_RANGE_START = 11,
  ATTRIBUTE_RANGE_SIZE = 12,
  ATTRIBUTE_MAPPED = 13,
};

struct value {
  unsigned char bytes[8];
  size_t size;
};

#define VALUE_OF(result) value_of(&(result), sizeof(result))

static struct value value_of(const void *bytes, size_t size) {
  struct value value = {{0}, size};
  memcpy(value.bytes, bytes, size);
  return value;
}

static hipError_t attribute_of(const void *pointer, unsigned attribute, struct value *value) {
  hipPointerAttribute_t known;
  hipError_t result = describe(pointer, &known);
  if (result != hipSuccess) return result;
  struct block *block = heap_live_block(pointer);
  void *start = block ? block->address : (void *)(uintptr_t)pointer;
  size_t size = block ? block->size : 0;
  uint64_t id = block ? (uint64_t)(uintptr_t)block->address : 0;
  bool managed = known.isManaged != 0, mapped = known.devicePointer != NULL;
  switch (attribute) {
    case ATTRIBUTE_MEMORY_TYPE: *value = VALUE_OF(known.type); break;
    case ATTRIBUTE_DEVICE_POINTER: *value = VALUE_OF(known.devicePointer); break;
    case ATTRIBUTE_HOST_POINTER: *value = VALUE_OF(known.hostPointer); break;
    case ATTRIBUTE_BUFFER_ID: *value = VALUE_OF(id); break;
    case ATTRIBUTE_IS_MANAGED: *value = VALUE_OF(managed); break;
    case ATTRIBUTE_DEVICE_ORDINAL: *value = VALUE_OF(known.device); break;
    case ATTRIBUTE_RANGE_START: *value = VALUE_OF(start); break;
    case ATTRIBUTE_RANGE_SIZE: *value = VALUE_OF(size); break;
    case ATTRIBUTE_MAPPED: *value = VALUE_OF(mapped); break;
    default: return hipErrorNotSupported;
  }
  return hipSuccess;
}

HIP(hipPointerGetAttribute, (data, void *, data), (in, unsigned, attribute),
    (in, hipDeviceptr_t, pointer)) {
  struct value value;
  if (!data || !pointer) return hipErrorInvalidValue;
  hipError_t result = attribute_of(pointer, attribute, &value);
  if (result != hipSuccess) return result;
  answer_data(&record_hipPointerGetAttribute, 0, value.bytes, value.size);
  memcpy(data, value.bytes, value.size);
  return hipSuccess;
}

/* All of them or none: an attribute that is not known leaves the others alone. */
HIP(hipDrvPointerGetAttributes, (in, unsigned, count), (raw, unsigned *, attributes),
    (data, void **, data), (in, hipDeviceptr_t, pointer)) {
  struct value value;
  if (count == 0 || !attributes || !data || !pointer) return hipErrorInvalidValue;
  given_array(1, attributes, count, sizeof *attributes);
  for (unsigned i = 0; i < count; i++) {
    hipError_t result = data[i] ? attribute_of(pointer, attributes[i], &value)
                                : hipErrorInvalidValue;
    if (result != hipSuccess) return result;
  }
  for (unsigned i = 0; i < count; i++) {
    attribute_of(pointer, attributes[i], &value);
    answer_data(&record_hipDrvPointerGetAttributes, POINTED_TO + i, value.bytes, value.size);
    memcpy(data[i], value.bytes, value.size);
  }
  return hipSuccess;
}
