/*
 * What a program compiled by hipcc registers from its constructors: fat
 * binaries, and the host addresses that stand for kernels and variables.
 */
#include "registered.h"

#include <stdlib.h>
#include <string.h>

#include "call.h"

struct fat_binary {
  struct module module;
  struct fat_binary *next;
};

/* As clang emits it: magic "HIPF", version, the bundle. */
struct fat_binary_wrapper {
  uint32_t magic, version;
  const void *binary;
  void *unused;
};
#define WRAPPER_MAGIC 0x48495046u

struct entry {
  const void *host;
  struct fat_binary *binary;
  char *name;            /* kernels */
  struct block *memory;  /* variables */
  struct entry *next;
};

#define BUCKETS 1024
static struct entry *entries[BUCKETS];
static struct fat_binary *binaries;

static struct entry **bucket(const void *host) {
  return &entries[((uintptr_t)host >> 4) * 0x9E3779B97F4A7C15u >> 54];
}

static void add(const struct entry *entry) {
  struct entry *added = malloc(sizeof *added);
  if (!added) {
    free(entry->name);
    return;
  }
  *added = *entry;
  fake_lock();
  struct entry **first = bucket(entry->host);
  added->next = *first;
  *first = added;
  fake_unlock();
}

static bool find(const void *host, struct entry *found) {
  fake_lock();
  struct entry *entry = *bucket(host);
  while (entry && entry->host != host) entry = entry->next;
  if (entry) *found = *entry;
  fake_unlock();
  return entry != NULL;
}

hipFunction_t registered_function(const void *host_function) {
  struct entry found;
  if (!find(host_function, &found) || !found.name) return NULL;
  return module_function(&found.binary->module, found.name);
}

bool registered_variable(const void *host_variable, void **address, size_t *size) {
  struct entry found;
  if (!find(host_variable, &found) || !found.memory) return false;
  *address = found.memory->address;
  *size = found.memory->size;
  return true;
}

/* The handle that the compiler passes back: a pointer to a fat binary. */
static struct fat_binary *known_binary(void *modules) {
  fake_lock();
  struct fat_binary *binary = binaries;
  while (binary && (void *)binary != modules) binary = binary->next;
  fake_unlock();
  return binary;
}

VALUE(void **, __hipRegisterFatBinary, (in, const void *, data)) {
  const struct fat_binary_wrapper *wrapper = data;
  if (!wrapper || wrapper->magic != WRAPPER_MAGIC || !wrapper->binary) return NULL;
  struct fat_binary *binary = calloc(1, sizeof *binary);
  if (!binary) return NULL;
  /* A bad image shows when a kernel is asked for, as in the real runtime. */
  module_read(&binary->module, wrapper->binary);
  fake_lock();
  binary->next = binaries;
  binaries = binary;
  fake_unlock();
  return (void **)binary;
}

VOID(__hipUnregisterFatBinary, (in, void **, modules)) {
  struct fat_binary *binary = known_binary(modules);
  if (!binary) return;
  struct entry *removed = NULL;
  fake_lock();
  for (size_t i = 0; i < BUCKETS; i++) {
    for (struct entry **place = &entries[i]; *place;) {
      struct entry *entry = *place;
      if (entry->binary != binary) {
        place = &entry->next;
        continue;
      }
      *place = entry->next;
      entry->next = removed;
      removed = entry;
    }
  }
  for (struct fat_binary **place = &binaries; *place; place = &(*place)->next) {
    if (*place == binary) {
      *place = binary->next;
      break;
    }
  }
  fake_unlock();
  while (removed) {
    struct entry *next = removed->next;
    free(removed->name);
    free(removed);
    removed = next;
  }
  module_clear(&binary->module);
  free(binary);
}

VOID(__hipRegisterFunction, (in, void **, modules), (in, const void *, host_function),
     (raw, char *, device_function), (in, const char *, device_name), (in, unsigned, thread_limit),
     (in, void *, thread_id), (in, void *, block_id), (in, dim3 *, block), (in, dim3 *, grid),
     (in, int *, warp_size)) {
  (void)device_function, (void)thread_limit, (void)thread_id, (void)block_id, (void)block;
  (void)grid, (void)warp_size;
  struct fat_binary *binary = known_binary(modules);
  if (!binary || !host_function || !device_name) return;
  char *name = strdup(device_name);
  if (name) add(&(struct entry){.host = host_function, .binary = binary, .name = name});
}

static struct block *add_variable(void *modules, const void *host, const char *name, size_t size) {
  struct fat_binary *binary = known_binary(modules);
  if (!binary || !host || !name || size == 0) return NULL;
  struct block *memory = module_global(&binary->module, name);
  if (!memory) memory = module_add_global(&binary->module, name, size);
  if (memory) add(&(struct entry){.host = host, .binary = binary, .memory = memory});
  return memory;
}

VOID(__hipRegisterVar, (in, void **, modules), (in, void *, variable), (raw, char *, host_name),
     (raw, char *, device_name), (in, int, external), (in, size_t, size), (in, int, constant),
     (in, int, global)) {
  (void)host_name, (void)external, (void)constant, (void)global;
  add_variable(modules, variable, device_name, size);
}

VOID(__hipRegisterManagedVar, (in, void **, modules), (in, void **, pointer),
     (in, const void *, initial), (in, const char *, name), (in, size_t, size),
     (in, unsigned, alignment)) {
  (void)alignment;
  struct block *memory = pointer ? add_variable(modules, pointer, name, size) : NULL;
  if (!memory) return;
  /* Managed: the host reaches the variable through this pointer. */
  if (initial) memcpy(memory->address, initial, size);
  *pointer = memory->address;
}
