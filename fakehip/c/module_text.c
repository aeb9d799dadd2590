/*
 * The text format of modules:
 *
 *   FAKEHIP MODULE 1
 *   kernel vector_add 8 8 8 4      argument sizes in bytes, SIZE:ALIGN if the
 *                                  alignment is not the size's
 *   kernel unknown_arguments ?
 *   global counter 4
 *   end
 *
 * A '#' starts a comment. Text behind `end` is not read, so that an image
 * needs no terminator; without `end` it ends with a NUL.
 */
#include <stdlib.h>
#include <string.h>

#include "../include/fakehip.h"
#include "call.h"
#include "module.h"

static const char magic[] = "FAKEHIP MODULE 1";

bool module_is_text(const void *image) {
  /* Byte by byte: nobody promises that an image is as long as the magic. */
  const char *text = image;
  for (size_t i = 0; i < sizeof magic - 1; i++)
    if (text[i] != magic[i]) return false;
  return true;
}

/* Largest power of two that divides the size, at most 16: what a compiler
 * gives to scalars, pointers and vectors. */
static uint32_t natural_alignment(uint32_t size) {
  uint32_t alignment = size & -size;
  return alignment > 16 ? 16 : alignment;
}

static bool read_number(char **text, uint32_t limit, uint32_t *value) {
  char *end;
  if (**text < '0' || **text > '9') return false;
  unsigned long parsed = strtoul(*text, &end, 10);
  if (parsed == 0 || parsed > limit) return false;
  *text = end;
  *value = (uint32_t)parsed;
  return true;
}

static const char *read_kernel(struct module *module, char **rest) {
  char *name = strtok_r(NULL, " \t", rest);
  if (!name) return "kernel without a name";
  struct kernel_argument arguments[FAKEHIP_MAX_ARGS];
  uint32_t bytes = 0;
  int count = 0;
  for (char *word; (word = strtok_r(NULL, " \t", rest));) {
    if (strcmp(word, "?") == 0 && count == 0) {
      count = -1;
      break;
    }
    uint32_t size, alignment;
    if (count == FAKEHIP_MAX_ARGS) return "more than 128 arguments";
    if (!read_number(&word, FAKEHIP_MAX_ARG_BYTES, &size)) return "argument size is not 1..4096";
    alignment = natural_alignment(size);
    if (*word == ':') {
      word++;
      if (!read_number(&word, 4096, &alignment) || (alignment & (alignment - 1)))
        return "argument alignment is not a power of two";
    }
    if (*word) return "argument is not SIZE or SIZE:ALIGN";
    bytes = (bytes + alignment - 1) & ~(alignment - 1);
    arguments[count++] = (struct kernel_argument){size, bytes};
    bytes += size;
  }
  return module_add_function(module, name, count, arguments, bytes) ? NULL : "out of memory";
}

static const char *read_global(struct module *module, char **rest) {
  char *name = strtok_r(NULL, " \t", rest);
  char *size_text = strtok_r(NULL, " \t", rest);
  uint32_t size;
  if (!name || !size_text || !read_number(&size_text, 1u << 30, &size) || *size_text)
    return "global is not NAME SIZE";
  return module_add_global(module, name, size) ? NULL : "out of memory";
}

/* One line, which may be changed. */
static const char *read_line(struct module *module, char *line, bool *end) {
  char *comment = strchr(line, '#');
  if (comment) *comment = 0;
  char *rest = NULL, *word = strtok_r(line, " \t\r", &rest);
  if (!word) return NULL;
  if (strcmp(word, "kernel") == 0) return read_kernel(module, &rest);
  if (strcmp(word, "global") == 0) return read_global(module, &rest);
  if (strcmp(word, "end") == 0) {
    *end = true;
    return NULL;
  }
  return "line is none of kernel, global, end";
}

hipError_t module_read_text(struct module *module, const char *text) {
  bool end = false;
  for (unsigned number = 1; !end && *text; number++) {
    size_t length = 0;
    while (text[length] && text[length] != '\n') length++;
    char *line = strndup(text, length);
    if (!line) return hipErrorOutOfMemory;
    const char *problem = number == 1 ? NULL : read_line(module, line, &end);
    free(line);
    if (problem) {
      call_note("module line %u: %s", number, problem);
      return hipErrorInvalidImage;
    }
    text += length;
    if (*text == '\n') text++;
  }
  return hipSuccess;
}
