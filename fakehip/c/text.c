#include "text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void text_add(struct text *text, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int added = vsnprintf(NULL, 0, format, arguments);
  va_end(arguments);
  if (added < 0) return;
  size_t needed = text->length + (size_t)added + 1;
  if (needed > text->room) {
    size_t room = needed * 2;
    char *larger = realloc(text->bytes, room);
    if (!larger) {
      text->failed = true;
      return;
    }
    text->bytes = larger;
    text->room = room;
  }
  va_start(arguments, format);
  vsnprintf(text->bytes + text->length, text->room - text->length, format, arguments);
  va_end(arguments);
  text->length += (size_t)added;
}

void text_clear(struct text *text) {
  free(text->bytes);
  *text = (struct text){0};
}
