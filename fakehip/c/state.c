#include "state.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

atomic_uint fake_active = ACTIVE_ENVIRONMENT_UNREAD;
atomic_int fake_devices = 1;
atomic_uint fake_unloads;
atomic_uint fake_device_flags[MAX_DEVICES];
_Thread_local struct thread_state fake_thread __attribute__((tls_model("initial-exec")));

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void fake_lock(void) { pthread_mutex_lock(&lock); }
void fake_unlock(void) { pthread_mutex_unlock(&lock); }

bool fake_exports(const char *name) {
  unsigned low = 0, high = fake_model.exported_count;
  while (low < high) {
    unsigned middle = (low + high) / 2;
    int order = strcmp(name, fake_model.exported[middle]);
    if (order == 0) return true;
    if (order < 0)
      high = middle;
    else
      low = middle + 1;
  }
  return false;
}

void *fake_opaque(void) {
  static atomic_uint given;
  /* Not canonical on x86-64: a dereference faults. */
  return (void *)((uintptr_t)0xfa4e000000000000 + 0x1000 * (atomic_fetch_add(&given, 1) + 1));
}

uint64_t fake_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}
