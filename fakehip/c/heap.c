#define _GNU_SOURCE /* MAP_ANONYMOUS, MAP_NORESERVE */
#include "heap.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

/* How many blocks move between a thread and the common lists at once: at most
 * this many, and at most this many bytes. */
#define BATCH_BLOCKS 32u
#define BATCH_BYTES ((size_t)1 << 20)

struct leaf *_Atomic heap_table[TABLE_SIZE];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct chunk *carving[CLASSES];     /* the chunk that new blocks come from */
static struct block *common_free[CLASSES]; /* blocks that threads gave back */
static struct chunk *spare_chunks;         /* descriptions of unmapped large blocks */
static struct heap_cache *caches;
static int64_t ended_live[BLOCK_KINDS], ended_used[MAX_DEVICES]; /* of ended threads */
static pthread_key_t thread_key;
static bool have_thread_key;

void heap_lock(void) { pthread_mutex_lock(&lock); }
void heap_unlock(void) { pthread_mutex_unlock(&lock); }

static unsigned batch(unsigned class) {
  size_t blocks = BATCH_BYTES >> (SMALLEST_SHIFT + class);
  return blocks < 1 ? 1 : blocks > BATCH_BLOCKS ? BATCH_BLOCKS : (unsigned)blocks;
}

/* Everything of an ended thread goes to the common lists. */
static void give_back(void *argument) {
  struct heap_cache *cache = argument;
  heap_lock();
  for (unsigned class = 0; class < CLASSES; class++) {
    while (cache->free[class]) {
      struct block *block = cache->free[class];
      cache->free[class] = block->next;
      block->next = common_free[class];
      common_free[class] = block;
    }
  }
  for (int kind = 0; kind < BLOCK_KINDS; kind++) ended_live[kind] += cache->live[kind];
  for (int device = 0; device < MAX_DEVICES; device++) ended_used[device] += cache->used[device];
  if (cache->previous)
    cache->previous->next = cache->next;
  else
    caches = cache->next;
  if (cache->next) cache->next->previous = cache->previous;
  heap_unlock();
  fake_thread.heap = NULL;
  free(cache);
}

struct heap_cache *heap_cache_create(void) {
  struct heap_cache *cache = calloc(1, sizeof *cache);
  if (!cache) return NULL;
  heap_lock();
  if (!have_thread_key) have_thread_key = pthread_key_create(&thread_key, give_back) == 0;
  if (have_thread_key) pthread_setspecific(thread_key, cache);
  cache->next = caches;
  if (caches) caches->previous = cache;
  caches = cache;
  heap_unlock();
  fake_thread.heap = cache;
  return cache;
}

/* Address space aligned to chunks, so that the table needs one entry per chunk. */
static void *map_chunks(size_t length) {
  char *mapped = mmap(NULL, length + CHUNK_BYTES, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) return NULL;
  size_t skipped = -(uintptr_t)mapped & (CHUNK_BYTES - 1);
  if (skipped) munmap(mapped, skipped);
  if (CHUNK_BYTES - skipped) munmap(mapped + skipped + length, CHUNK_BYTES - skipped);
  return mapped + skipped;
}

/* Enters or removes (NULL) a chunk. Lock held. */
static bool set_table(uintptr_t base, size_t length, struct chunk *chunk) {
  for (size_t offset = 0; offset < length; offset += CHUNK_BYTES) {
    uintptr_t number = (base + offset) >> CHUNK_SHIFT;
    struct leaf *_Atomic *slot = &heap_table[(number >> TABLE_BITS) & (TABLE_SIZE - 1)];
    struct leaf *leaf = atomic_load_explicit(slot, memory_order_relaxed);
    if (!leaf) {
      leaf = calloc(1, sizeof *leaf);
      if (!leaf) return false;
      atomic_store_explicit(slot, leaf, memory_order_release);
    }
    atomic_store_explicit(&leaf->chunks[number & (TABLE_SIZE - 1)], chunk, memory_order_release);
  }
  return true;
}

/* A mapped and entered chunk with `count` undescribed blocks. Lock held. */
static struct chunk *new_chunk(size_t length, unsigned block_shift, size_t count) {
  struct chunk *chunk = spare_chunks;
  if (chunk && count == 1) {
    spare_chunks = (struct chunk *)chunk->length;
  } else {
    chunk = calloc(1, sizeof *chunk);
    if (!chunk) return NULL;
    chunk->blocks = calloc(count, sizeof *chunk->blocks);
    if (!chunk->blocks) {
      free(chunk);
      return NULL;
    }
  }
  void *mapped = map_chunks(length);
  chunk->base = (uintptr_t)mapped;
  chunk->block_shift = block_shift;
  chunk->length = length;
  chunk->carved = 0;
  if (mapped && set_table(chunk->base, length, chunk)) return chunk;
  /* The description may be visible to other threads already: keep it. */
  if (mapped) {
    set_table(chunk->base, length, NULL);
    munmap(mapped, length);
  }
  if (count == 1) {
    chunk->length = (size_t)spare_chunks;
    spare_chunks = chunk;
  }
  return NULL;
}

static struct block *allocate_large(size_t size) {
  if (size > (size_t)1 << 46) return NULL;
  size_t length = (size + CHUNK_BYTES - 1) & ~(CHUNK_BYTES - 1);
  heap_lock();
  struct chunk *chunk = new_chunk(length, 63, 1);
  heap_unlock();
  if (!chunk) return NULL;
  chunk->blocks->address = (char *)chunk->base;
  chunk->blocks->class = LARGE;
  return chunk->blocks;
}

/* A block for the caller and a batch for its cache. Lock held. */
static struct block *refill(struct heap_cache *cache, unsigned class) {
  struct block *first = NULL;
  for (unsigned wanted = batch(class); wanted > 0; wanted--) {
    struct block *block = common_free[class];
    if (block) {
      common_free[class] = block->next;
    } else {
      unsigned shift = SMALLEST_SHIFT + class;
      size_t count = CHUNK_BYTES >> shift;
      struct chunk *chunk = carving[class];
      if (!chunk || chunk->carved == count) {
        if (first) break;
        chunk = carving[class] = new_chunk(CHUNK_BYTES, shift, count);
        if (!chunk) break;
      }
      block = &chunk->blocks[chunk->carved];
      block->address = (char *)chunk->base + (chunk->carved << shift);
      block->class = (uint8_t)class;
      chunk->carved++;
    }
    if (!first) {
      first = block;
    } else {
      block->next = cache->free[class];
      cache->free[class] = block;
      cache->count[class]++;
    }
  }
  return first;
}

struct block *heap_allocate_slow(size_t size, unsigned class) {
  struct heap_cache *cache = fake_thread.heap ? fake_thread.heap : heap_cache_create();
  if (!cache) return NULL;
  if (class >= LARGE) return allocate_large(size);
  heap_lock();
  struct block *block = refill(cache, class);
  heap_unlock();
  return block;
}

void heap_release_slow(struct block *block) {
  heap_lock();
  if (block->class < LARGE) {
    block->next = common_free[block->class];
    common_free[block->class] = block;
  } else {
    struct chunk *chunk = heap_chunk(block->address);
    set_table(chunk->base, chunk->length, NULL);
    munmap((void *)chunk->base, chunk->length);
    chunk->length = (size_t)spare_chunks;
    spare_chunks = chunk;
  }
  heap_unlock();
}

int64_t heap_live(enum block_kind kind) {
  heap_lock();
  int64_t live = ended_live[kind];
  for (struct heap_cache *cache = caches; cache; cache = cache->next)
    live += atomic_load_explicit(&cache->live[kind], memory_order_relaxed);
  heap_unlock();
  return live;
}

int64_t heap_used(int device) {
  heap_lock();
  int64_t used = ended_used[device];
  for (struct heap_cache *cache = caches; cache; cache = cache->next)
    used += atomic_load_explicit(&cache->used[device], memory_order_relaxed);
  heap_unlock();
  return used;
}
