#include "state.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

atomic_uint fake_active = ACTIVE_ENVIRONMENT_UNREAD;
atomic_int fake_devices = 1;
atomic_uint fake_unloads;
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

uint64_t fake_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}
