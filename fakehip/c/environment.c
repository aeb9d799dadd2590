/*
 * The environment, read once, at the first call that finds it unread: a
 * library that does nothing when it is loaded has no constructor to do it.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "call.h"
#include "environment.h"
#include "forced.h"
#include "heap.h"
#include "log.h"

static bool starts_with(const char *text, const char *prefix) {
  return strncmp(text, prefix, strlen(prefix)) == 0;
}

static int number(const char *text, unsigned *value) {
  char *end;
  errno = 0;
  unsigned long parsed = strtoul(text, &end, 10);
  if (errno || end == text || *end || parsed > 0x7fffffff) return -1;
  *value = (unsigned)parsed;
  return 0;
}

/* function=code[@from][xtimes] */
static const char *read_rule(char *rule) {
  char *code_text = strchr(rule, '=');
  if (!code_text) return "has no '='";
  *code_text++ = 0;
  char *times_text = NULL, *from_text = strchr(code_text, '@');
  unsigned from = 1, times = 0;
  if (from_text) {
    *from_text++ = 0;
    times_text = strchr(from_text, 'x');
  } else if (*code_text >= '0' && *code_text <= '9') {
    times_text = strchr(code_text, 'x');
  }
  if (times_text) {
    *times_text++ = 0;
    if (number(times_text, &times)) return "has no number behind 'x'";
  }
  if (from_text && (number(from_text, &from) || from == 0)) return "has no number behind '@'";

  struct function_record *function = fake_function(rule);
  if (!function) {
    /* Both libraries read the same variable: the other one's functions are not
     * an error here, only names that belong to this one. */
    if (starts_with(rule, "hiprtc") != fake_model.is_rtc) return NULL;
    return "names a function that this runtime does not export";
  }
  if (function->flags & FUNCTION_VALUE) return "names a function without a result code";
  unsigned code;
  if (number(code_text, &code)) {
    int named;
    int unknown = function->flags & FUNCTION_RTC ? fake_rtc_error_code(code_text, &named)
                                                 : fake_error_code(code_text, &named);
    if (unknown) return "has an unknown error code";
    code = (unsigned)named;
  }
  return forced_add(function, (int)code, from, times) ? NULL : "is one too many for the memory left";
}

static void complain(const char *variable, const char *value, const char *problem) {
  fprintf(stderr, "fakehip: %s: '%s' %s; ignored\n", variable, value, problem);
}

static unsigned apply_environment(void) {
  unsigned active = 0;
  unsigned devices = 1;
  const char *value = getenv("FAKEHIP_DEVICES");
  if (value && *value && (number(value, &devices) || devices > MAX_DEVICES)) {
    complain("FAKEHIP_DEVICES", value, "is not a number from 0 to 64");
    devices = 1;
  }
  atomic_store(&fake_devices, (int)devices);
  if (devices == 0) active |= ACTIVE_NO_DEVICE;

  value = getenv("FAKEHIP_RECORD");
  if (value && *value && strcmp(value, "0") != 0) active |= ACTIVE_RECORD;

  value = getenv("FAKEHIP_LOG");
  if (value && *value) {
    if (log_open(value) == 0)
      active |= ACTIVE_RECORD;
    else
      complain("FAKEHIP_LOG", value, strerror(errno));
  }

  value = getenv("FAKEHIP_ERRORS");
  char *rules = value && *value ? strdup(value) : NULL;
  if (rules) {
    char *rest = NULL;
    for (char *rule = strtok_r(rules, ",", &rest); rule; rule = strtok_r(NULL, ",", &rest)) {
      char *shown = strdup(rule);
      const char *problem = read_rule(rule);
      if (problem) complain("FAKEHIP_ERRORS", shown ? shown : rule, problem);
      free(shown);
    }
    free(rules);
  }
  if (forced_any()) active |= ACTIVE_FORCED_ERRORS;
  return active;
}

void environment_reset(void) {
  forced_clear();
  log_open(NULL);
  atomic_store(&fake_active, apply_environment());
}

static void before_fork(void) {
  fake_lock();
  heap_lock();
}

static void after_fork(void) {
  heap_unlock();
  fake_unlock();
}

static void read_once(void) {
  /* A child of fork must not inherit a lock that another thread held. */
  pthread_atfork(before_fork, after_fork, after_fork);
  fake_lock();
  atomic_store(&fake_active, apply_environment());
  fake_unlock();
}

void fake_read_environment(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  if (atomic_load_explicit(&fake_active, memory_order_relaxed) & ACTIVE_ENVIRONMENT_UNREAD)
    pthread_once(&once, read_once);
}
