/* Modules as objects: what they contain, and who owns it. */
#include "module.h"

#include <stdlib.h>
#include <string.h>

#include "call.h"

struct function *module_add_function(struct module *module, const char *name, int count,
                                     const struct kernel_argument *arguments, uint32_t bytes) {
  struct block *block = heap_allocate(sizeof(struct function) + strlen(name) + 1, BLOCK_FUNCTION,
                                      fake_thread.device, 0);
  if (!block) return NULL;
  struct function *function = (struct function *)block->address;
  function->module = module;
  function->argument_count = count;
  function->argument_bytes = bytes;
  function->arguments = NULL;
  function->max_dynamic_shared = 0;
  strcpy(function->name, name);
  if (count > 0) {
    size_t size = (size_t)count * sizeof *arguments;
    function->arguments = malloc(size);
    if (!function->arguments) {
      heap_release(block, BLOCK_FUNCTION);
      return NULL;
    }
    memcpy(function->arguments, arguments, size);
  }
  function->next = module->functions;
  module->functions = function;
  return function;
}

struct function *module_function(struct module *module, const char *name) {
  fake_lock();
  struct function *function = module->functions;
  while (function && strcmp(function->name, name) != 0) function = function->next;
  if (!function && module->opaque) function = module_add_function(module, name, -1, NULL, 0);
  fake_unlock();
  return function;
}

struct block *module_global(struct module *module, const char *name) {
  fake_lock();
  struct global *global = module->globals;
  while (global && strcmp(global->name, name) != 0) global = global->next;
  fake_unlock();
  return global ? global->block : NULL;
}

struct block *module_add_global(struct module *module, const char *name, size_t size) {
  struct global *global = malloc(sizeof *global);
  char *copy = strdup(name);
  struct block *block =
      global && copy && size ? heap_allocate(size, BLOCK_GLOBAL, fake_thread.device, 0) : NULL;
  if (!block) {
    free(global);
    free(copy);
    return NULL;
  }
  memset(block->address, 0, size);
  global->block = block;
  global->name = copy;
  fake_lock();
  global->next = module->globals;
  module->globals = global;
  fake_unlock();
  return block;
}

hipError_t module_read(struct module *module, const void *image) {
  *module = (struct module){0};
  if (module_is_text(image)) return module_read_text(module, image);
  module->opaque = true;
  return hipSuccess;
}

void module_clear(struct module *module) {
  atomic_fetch_add(&fake_unloads, 1);
  while (module->functions) {
    struct function *function = module->functions;
    module->functions = function->next;
    free(function->arguments);
    struct block *block = heap_handle(function, BLOCK_FUNCTION);
    if (block) heap_release(block, BLOCK_FUNCTION);
  }
  while (module->globals) {
    struct global *global = module->globals;
    module->globals = global->next;
    heap_release(global->block, BLOCK_GLOBAL);
    free(global->name);
    free(global);
  }
}
