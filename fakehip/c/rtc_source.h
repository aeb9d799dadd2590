/* Finds kernels in HIP source, well enough to know their arguments. */
#ifndef FAKEHIP_RTC_SOURCE_H
#define FAKEHIP_RTC_SOURCE_H

#include <stdbool.h>
#include <stddef.h>

#define RTC_MAX_ARGUMENTS 128

struct rtc_kernel {
  char name[256];
  int argument_count; /* -1: not all types are understood */
  unsigned sizes[RTC_MAX_ARGUMENTS];
};

/* The next kernel from *place on, which moves behind it. */
bool rtc_next_kernel(const char **place, struct rtc_kernel *kernel);

/* The text behind the first #error, as its length in *length; NULL: none. */
const char *rtc_error_directive(const char *source, size_t *length);

#endif
