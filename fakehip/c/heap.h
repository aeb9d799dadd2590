/*
 * The fake's own heap: device, host and managed memory, and every handle that
 * the API gives out. Any address can be looked up, so that a wild pointer, a
 * freed block or a stream passed as an event is an error and not a crash.
 *
 * Memory comes in chunks of 4 MiB, each with blocks of one size class (256
 * bytes times a power of two, up to 1 MiB) described in an array beside the
 * chunk. Larger blocks have chunks of their own. A two-level table leads from
 * an address to its chunk without a lock. Every thread keeps free blocks per
 * class, so that allocation and release are a few instructions.
 */
#ifndef FAKEHIP_HEAP_H
#define FAKEHIP_HEAP_H

#include <stddef.h>

#include "state.h"

enum block_kind {
  BLOCK_FREE = 0,
  BLOCK_DEVICE,
  BLOCK_HOST,
  BLOCK_MANAGED,
  BLOCK_STREAM,
  BLOCK_EVENT,
  BLOCK_MODULE,
  BLOCK_FUNCTION,
  BLOCK_CONTEXT,
  BLOCK_PROGRAM,
  BLOCK_GLOBAL, /* a module's variable: device memory that hipFree refuses */
  BLOCK_KINDS,
};

struct block {
  char *address;
  size_t size;        /* as asked for */
  struct block *next; /* while free */
  _Atomic uint8_t kind;
  uint8_t class;
  uint8_t device;
  uint32_t flags;
};

#define CHUNK_SHIFT 22
#define CHUNK_BYTES ((size_t)1 << CHUNK_SHIFT)
#define SMALLEST_SHIFT 8
#define CLASSES 13
#define LARGE CLASSES /* the class number of blocks above 1 MiB */
#define LARGEST_SMALL ((size_t)1 << (SMALLEST_SHIFT + CLASSES - 1))
#define TABLE_BITS 13
#define TABLE_SIZE (1u << TABLE_BITS)

struct chunk {
  uintptr_t base;
  unsigned block_shift; /* 63 for a large block: index 0 */
  size_t length;
  struct block *blocks;
  size_t carved; /* blocks handed out at least once */
};

struct leaf {
  struct chunk *_Atomic chunks[TABLE_SIZE];
};

extern struct leaf *_Atomic heap_table[TABLE_SIZE] __attribute__((visibility("hidden")));

struct heap_cache {
  struct block *free[CLASSES];
  unsigned count[CLASSES];
  /* Created minus destroyed by this thread. Written by it alone. */
  _Atomic int64_t live[BLOCK_KINDS];
  _Atomic int64_t used[MAX_DEVICES];
  struct heap_cache *next, *previous;
};

/* Slow paths; NULL: out of memory. */
struct block *heap_allocate_slow(size_t size, unsigned class);
void heap_release_slow(struct block *block);
struct heap_cache *heap_cache_create(void);

int64_t heap_live(enum block_kind kind);
/* Device and managed memory in use. */
int64_t heap_used(int device);
/* Own lock, taken inside fake_lock if both are needed, and across fork. */
void heap_lock(void);
void heap_unlock(void);

static inline struct chunk *heap_chunk(const void *pointer) {
  uintptr_t address = (uintptr_t)pointer;
  if (unlikely(address >> (CHUNK_SHIFT + 2 * TABLE_BITS))) return NULL;
  struct leaf *leaf = atomic_load_explicit(&heap_table[address >> (CHUNK_SHIFT + TABLE_BITS)],
                                           memory_order_acquire);
  if (unlikely(!leaf)) return NULL;
  return atomic_load_explicit(&leaf->chunks[(address >> CHUNK_SHIFT) & (TABLE_SIZE - 1)],
                              memory_order_acquire);
}

static inline enum block_kind block_kind(const struct block *block) {
  return (enum block_kind)atomic_load_explicit(&block->kind, memory_order_acquire);
}

/* The block that contains an address, free or not; NULL for foreign addresses. */
static inline struct block *heap_block(const void *pointer) {
  struct chunk *chunk = heap_chunk(pointer);
  if (unlikely(!chunk)) return NULL;
  return &chunk->blocks[((uintptr_t)pointer - chunk->base) >> chunk->block_shift];
}

/* The live block that contains an address, within the size asked for. */
static inline struct block *heap_live_block(const void *pointer) {
  struct block *block = heap_block(pointer);
  if (!block || block_kind(block) == BLOCK_FREE) return NULL;
  size_t offset = (size_t)((const char *)pointer - block->address);
  return offset < block->size ? block : NULL;
}

/* The live block of this kind that starts at a pointer. */
static inline struct block *heap_handle(const void *pointer, enum block_kind kind) {
  struct block *block = heap_block(pointer);
  if (unlikely(!block || block_kind(block) != kind || block->address != (const char *)pointer))
    return NULL;
  return block;
}

static inline bool is_device_memory(enum block_kind kind) {
  return kind == BLOCK_DEVICE || kind == BLOCK_MANAGED;
}

static inline unsigned heap_class(size_t size) {
  if (size <= (1u << SMALLEST_SHIFT)) return 0;
  return 64 - SMALLEST_SHIFT - (unsigned)__builtin_clzl(size - 1);
}

static inline void heap_count(struct heap_cache *cache, enum block_kind kind, int device,
                              int64_t blocks, int64_t bytes) {
  /* Not read-modify-write: only this thread writes them, others only read. */
  atomic_store_explicit(&cache->live[kind],
                        atomic_load_explicit(&cache->live[kind], memory_order_relaxed) + blocks,
                        memory_order_relaxed);
  if (is_device_memory(kind))
    atomic_store_explicit(&cache->used[device],
                          atomic_load_explicit(&cache->used[device], memory_order_relaxed) + bytes,
                          memory_order_relaxed);
}

static inline struct block *heap_allocate(size_t size, enum block_kind kind, int device,
                                          uint32_t flags) {
  struct heap_cache *cache = fake_thread.heap;
  struct block *block;
  if (likely(cache && size <= LARGEST_SMALL)) {
    unsigned class = heap_class(size);
    block = cache->free[class];
    if (likely(block)) {
      cache->free[class] = block->next;
      cache->count[class]--;
    } else {
      block = heap_allocate_slow(size, class);
    }
  } else {
    block = heap_allocate_slow(size, size <= LARGEST_SMALL ? heap_class(size) : LARGE);
  }
  if (unlikely(!block)) return NULL;
  block->size = size;
  block->device = (uint8_t)device;
  block->flags = flags;
  atomic_store_explicit(&block->kind, (uint8_t)kind, memory_order_release);
  heap_count(fake_thread.heap, kind, device, 1, (int64_t)size);
  return block;
}

/* False if the block is not of this kind any more (released twice). */
static inline bool heap_release(struct block *block, enum block_kind kind) {
  if (is_active()) {
    uint8_t expected = (uint8_t)kind;
    if (!atomic_compare_exchange_strong(&block->kind, &expected, BLOCK_FREE)) return false;
  } else {
    /* An atomic exchange would cost more than all the rest. Without it, two
     * threads that free the same block at the same instant go unnoticed. */
    if (block_kind(block) != kind) return false;
    atomic_store_explicit(&block->kind, BLOCK_FREE, memory_order_release);
  }
  struct heap_cache *cache = fake_thread.heap;
  if (unlikely(!cache)) cache = heap_cache_create();
  if (unlikely(!cache)) return true; /* no memory even for the cache: not counted */
  heap_count(cache, kind, block->device, -1, -(int64_t)block->size);
  unsigned class = block->class;
  if (likely(class < LARGE && cache->count[class] < (4096u >> class) + 4)) {
    block->next = cache->free[class];
    cache->free[class] = block;
    cache->count[class]++;
  } else {
    heap_release_slow(block);
  }
  return true;
}

#endif
