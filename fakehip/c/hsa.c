/* The two functions of the HSA runtime that HIP clients call themselves. */
#include <stdatomic.h>

#define EXPORT __attribute__((visibility("default")))

enum {
  HSA_STATUS_SUCCESS = 0x0,
  HSA_STATUS_ERROR_NOT_INITIALIZED = 0x100B,
};

static atomic_int initialised;

EXPORT int hsa_init(void);
EXPORT int hsa_shut_down(void);

/* Counted: as many shut-downs as initialisations are valid. */
int hsa_init(void) {
  atomic_fetch_add(&initialised, 1);
  return HSA_STATUS_SUCCESS;
}

int hsa_shut_down(void) {
  int count = atomic_load(&initialised);
  do {
    if (count == 0) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  } while (!atomic_compare_exchange_weak(&initialised, &count, count - 1));
  return HSA_STATUS_SUCCESS;
}
