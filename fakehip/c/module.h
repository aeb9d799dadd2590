/* Modules, their kernels and variables. */
#ifndef FAKEHIP_MODULE_H
#define FAKEHIP_MODULE_H

#include "heap.h"

struct kernel_argument {
  uint32_t size, offset; /* offset: in the packed argument buffer */
};

struct function {
  struct module *module;
  int argument_count; /* -1: the module does not tell */
  uint32_t argument_bytes;
  struct kernel_argument *arguments;
  struct function *next;
  int max_dynamic_shared; /* set by hipFuncSetAttribute */
  char name[];
};

struct global {
  struct global *next;
  struct block *block;
  char *name;
};

struct module {
  bool opaque; /* not in the fake's text format: every kernel name exists */
  struct function *functions;
  struct global *globals;
};

/* Fills a module from an image; what is wrong with one goes to the log. The
 * module is to be cleared after a failure as well. */
hipError_t module_read(struct module *module, const void *image);
void module_clear(struct module *module);

/* NULL: no such kernel. */
struct function *module_function(struct module *module, const char *name);
/* A kernel with `count` arguments, or -1. NULL: out of memory. */
struct function *module_add_function(struct module *module, const char *name, int count,
                                     const struct kernel_argument *arguments, uint32_t bytes);
struct block *module_global(struct module *module, const char *name);
struct block *module_add_global(struct module *module, const char *name, size_t size);

/* The text format (module_text.c). */
bool module_is_text(const void *image);
hipError_t module_read_text(struct module *module, const char *text);

#endif
