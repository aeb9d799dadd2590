#ifndef FAKEHIP_MEMORY_H
#define FAKEHIP_MEMORY_H

#include "heap.h"

struct registration {
  char *start;
  size_t size;
  unsigned flags;
  int device;
  struct registration *next;
};

/* The registered range that contains an address; false: none. */
bool registration(const void *pointer, struct registration *copy);

/* Host memory that hipHostRegister made known: true if the range lies in one. */
bool is_registered_host(const void *pointer, size_t size);

/* Memory that kernels and copies may treat as the device's: allocated, a
 * module's variable, or registered. */
static inline bool is_device_accessible(const void *pointer) {
  struct block *block = heap_live_block(pointer);
  if (block) {
    enum block_kind kind = block_kind(block);
    return is_device_memory(kind) || kind == BLOCK_HOST || kind == BLOCK_GLOBAL;
  }
  return is_registered_host(pointer, 1);
}

#endif
