/* One check macro, and one for result codes. */
#ifndef ASSERT_THAT_H
#define ASSERT_THAT_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fakehip.h"

#define CHECK(condition)                                                     \
  do {                                                                       \
    if (!(condition)) {                                                      \
      fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition); \
      exit(1);                                                               \
    }                                                                        \
  } while (0)

#define IS(expected, call)                                                          \
  do {                                                                              \
    int got_ = (call), expected_ = (expected);                                      \
    if (got_ != expected_) {                                                        \
      fprintf(stderr, "%s:%d: %s = %d, not %d\n", __FILE__, __LINE__, #call, got_, expected_); \
      exit(1);                                                                      \
    }                                                                               \
  } while (0)

#endif
