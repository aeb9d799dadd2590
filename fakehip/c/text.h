/* A growing text. */
#ifndef FAKEHIP_TEXT_H
#define FAKEHIP_TEXT_H

#include <stdbool.h>
#include <stddef.h>

struct text {
  char *bytes; /* NUL-terminated, NULL while empty */
  size_t length, room;
  bool failed; /* out of memory at some point */
};

void text_add(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_clear(struct text *text);

#endif
