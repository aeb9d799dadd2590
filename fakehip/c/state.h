/* Process-wide and per-thread state that every file needs. */
#ifndef FAKEHIP_STATE_H
#define FAKEHIP_STATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "abi.h"

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#define EXPORT __attribute__((visibility("default")))
#define ALWAYS_INLINE __attribute__((always_inline))
#define COLD __attribute__((cold, noinline))
#define MAX_DEVICES 64

/* What kind of runtime this library is; written by the builder (version.c). */
struct model {
  int major;           /* 5, 6, 7: chooses behaviour and enum values */
  bool is_rtc;         /* libhiprtc, not libamdhip64 */
  int version;         /* of what it does, as hipRuntimeGetVersion has it */
  int runtime_version; /* what hipRuntimeGetVersion answers */
  unsigned exported_count;
  const char *const *exported; /* sorted, without fakehip_* */
};
extern const struct model fake_model;

bool fake_exports(const char *name);

/* Reasons for calls to leave the fast path. */
enum {
  ACTIVE_ENVIRONMENT_UNREAD = 1,
  ACTIVE_RECORD = 2,
  ACTIVE_FORCED_ERRORS = 4,
  ACTIVE_NO_DEVICE = 8,
  ACTIVE_ANSWERS = 16,
};

/* 0 in normal use: then a call costs one relaxed load and one branch more. */
extern atomic_uint fake_active;
extern atomic_int fake_devices;
/* Changes whenever function handles become invalid. */
extern atomic_uint fake_unloads;

static inline bool is_active(void) {
  return unlikely(atomic_load_explicit(&fake_active, memory_order_relaxed) != 0);
}

static inline int device_count(void) {
  return atomic_load_explicit(&fake_devices, memory_order_relaxed);
}

static inline bool is_device(int device) {
  return device >= 0 && device < device_count();
}

struct heap_cache;
struct call;
struct launch_configuration;

struct thread_state {
  int device;
  hipError_t last_command; /* result of the last call */
  hipError_t last_error;   /* last result that was a failure */
  struct heap_cache *heap;
  const void *launched;    /* the last function handle found valid */
  unsigned launched_at;    /* fake_unloads at that time */
  struct call *call;       /* the call being recorded, for notes */
  struct launch_configuration *configurations; /* of <<<...>>> */
};

/* Initial-exec keeps the access at one instruction. The few bytes fit into the
 * reserve that glibc keeps for libraries opened later. */
extern _Thread_local struct thread_state fake_thread __attribute__((tls_model("initial-exec")));

/* Flags of hipSetDeviceFlags and its relatives, by device. */
extern atomic_uint fake_device_flags[MAX_DEVICES];

/* A handle or device address for an object that is not modelled: never given
 * twice, and no address that a program could read by mistake. */
void *fake_opaque(void);

/* One lock for everything that is not on the fast path. Held across fork. */
void fake_lock(void);
void fake_unlock(void);

/* Reads the environment once. Every control and every slow path starts here. */
void fake_read_environment(void);

/* Current value of a monotonic clock in nanoseconds. */
uint64_t fake_now(void);

const char *fake_error_name(int code);
const char *fake_error_text(int code);
const char *fake_rtc_error_name(int code);
const char *fake_rtc_error_text(int code); /* NULL for unknown codes, as the real one */
int fake_error_code(const char *name, int *code);     /* 0 if found */
int fake_rtc_error_code(const char *name, int *code); /* 0 if found */

#endif
