/* The exported controls; contract in fakehip.h. */
#include "../include/fakehip.h"

#include <errno.h>

#include "call.h"
#include "environment.h"
#include "forced.h"
#include "given.h"
#include "heap.h"
#include "launch_record.h"
#include "log.h"

_Static_assert(FAKEHIP_MAX_DEVICES == MAX_DEVICES, "one limit");

static void set_active(unsigned bit, bool on) {
  if (on)
    atomic_fetch_or(&fake_active, bit);
  else
    atomic_fetch_and(&fake_active, ~bit);
}

EXPORT int fakehip_set_device_count(int count) {
  if (count < 0 || count > MAX_DEVICES) return -1;
  fake_read_environment();
  atomic_store(&fake_devices, count);
  set_active(ACTIVE_NO_DEVICE, count == 0);
  return 0;
}

EXPORT int fakehip_device_count(void) {
  fake_read_environment();
  return device_count();
}

EXPORT int fakehip_runtime_version(void) { return fake_model.runtime_version; }

EXPORT int fakehip_modelled(const char *name) {
  const struct function_record *function = fake_function(name);
  return function ? (function->flags & FUNCTION_MODELLED) != 0 : -1;
}

EXPORT void fakehip_record(int on) {
  fake_read_environment();
  set_active(ACTIVE_RECORD, on != 0);
}

EXPORT uint64_t fakehip_calls(const char *name) {
  if (name) {
    const struct function_record *function = fake_function(name);
    return function ? atomic_load(&function->calls) : 0;
  }
  uint64_t calls = 0;
  for (struct function_record *const *entry = __start_fakehip_functions;
       entry < __stop_fakehip_functions; entry++)
    calls += atomic_load(&(*entry)->calls);
  return calls;
}

EXPORT size_t fakehip_log(char *buffer, size_t size) {
  fake_lock();
  size_t length = log_copy(buffer, size);
  fake_unlock();
  return length;
}

EXPORT int fakehip_log_to(const char *path) {
  fake_read_environment();
  fake_lock();
  int failed = log_open(path);
  fake_unlock();
  if (failed) return -1;
  if (path) set_active(ACTIVE_RECORD, true);
  return 0;
}

EXPORT int fakehip_fail(const char *name, int code, unsigned from_call, unsigned times) {
  fake_read_environment();
  struct function_record *function = fake_function(name);
  if (!function || (function->flags & FUNCTION_VALUE)) return -1;
  fake_lock();
  bool added = forced_add(function, code, from_call ? from_call : 1, times);
  fake_unlock();
  if (!added) return -1;
  set_active(ACTIVE_FORCED_ERRORS, true);
  return 0;
}

EXPORT void fakehip_fail_clear(void) {
  fake_read_environment();
  fake_lock();
  forced_clear();
  fake_unlock();
  set_active(ACTIVE_FORCED_ERRORS, false);
}

EXPORT size_t fakehip_given(const char *name, unsigned argument, void *bytes, size_t size) {
  const struct function_record *function = fake_function(name);
  return function ? given_copy(function, argument, bytes, size) : 0;
}

EXPORT int fakehip_answer(const char *name, unsigned argument, const void *bytes, size_t size) {
  fake_read_environment();
  struct function_record *function = fake_function(name);
  if (!function || !answer_set(function, argument, bytes, size)) return -1;
  set_active(ACTIVE_ANSWERS, true);
  return 0;
}

EXPORT int fakehip_last_launch(struct fakehip_launch *launch) {
  return launch ? launch_record_copy(launch) : 0;
}

EXPORT int64_t fakehip_live(int object) {
  static const enum block_kind kinds[] = {
      [FAKEHIP_DEVICE_MEMORY] = BLOCK_DEVICE,   [FAKEHIP_HOST_MEMORY] = BLOCK_HOST,
      [FAKEHIP_MANAGED_MEMORY] = BLOCK_MANAGED, [FAKEHIP_STREAM] = BLOCK_STREAM,
      [FAKEHIP_EVENT] = BLOCK_EVENT,            [FAKEHIP_MODULE] = BLOCK_MODULE,
      [FAKEHIP_RTC_PROGRAM] = BLOCK_PROGRAM,
  };
  if (object < 0 || (size_t)object >= sizeof kinds / sizeof *kinds) return -1;
  return heap_live(kinds[object]);
}

EXPORT uint64_t fakehip_used_bytes(int device) {
  if (device < 0 || device >= MAX_DEVICES) return 0;
  return (uint64_t)heap_used(device);
}

EXPORT void fakehip_reset(void) {
  fake_read_environment();
  fake_lock();
  log_clear();
  launch_record_clear();
  given_clear();
  for (struct function_record *const *entry = __start_fakehip_functions;
       entry < __stop_fakehip_functions; entry++)
    atomic_store(&(*entry)->calls, 0);
  environment_reset();
  fake_unlock();
}
