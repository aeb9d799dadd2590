#include "given.h"

#include <stdlib.h>
#include <string.h>

struct given {
  unsigned argument;
  size_t size; /* 0: not in the last call */
  size_t room;
  unsigned char *bytes;
  struct given *next;
};

/* Program sources are texts as well. */
#define LONGEST_TEXT 4096

/* The largest thing that a pointer of kind `data` points to. */
#define LONGEST_DATA 8

static struct given *find(struct given *list, unsigned argument) {
  while (list && list->argument != argument) list = list->next;
  return list;
}

/* Lock held. Room for `size` bytes of an argument; NULL: out of memory. */
static struct given *place(struct given **list, unsigned argument, size_t size) {
  struct given *given = find(*list, argument);
  if (!given) {
    given = calloc(1, sizeof *given);
    if (!given) return NULL;
    given->argument = argument;
    given->next = *list;
    *list = given;
  }
  given->size = 0;
  if (given->room < size) {
    unsigned char *larger = realloc(given->bytes, size);
    if (!larger) return NULL;
    given->bytes = larger;
    given->room = size;
  }
  return given;
}

static bool keep(struct given **list, unsigned argument, const void *bytes, size_t size) {
  struct given *given = place(list, argument, size);
  if (!given) return false;
  memcpy(given->bytes, bytes, size);
  given->size = size;
  return true;
}

static void keep_text(struct given **list, unsigned argument, const char *text) {
  size_t length = strnlen(text, LONGEST_TEXT - 1);
  struct given *given = place(list, argument, length + 1);
  if (!given) return;
  memcpy(given->bytes, text, length);
  given->bytes[length] = 0;
  given->size = length + 1;
}

void given_keep(struct function_record *function, const void *const *values) {
  fake_lock();
  for (struct given *given = function->given; given; given = given->next) given->size = 0;
  for (unsigned i = 0; values && i < function->parameter_count; i++) {
    const struct parameter *parameter = &function->parameters[i];
    const void *pointer;
    switch (parameter->kind) {
      case KIND_out:
      case KIND_fill:
      case KIND_data: break;
      case KIND_given:
      case KIND_both:
        memcpy(&pointer, values[i], sizeof pointer);
        if (pointer) keep(&function->given, i, pointer, parameter->size);
        break;
      case KIND_in:
        if (parameter->type == 's') {
          memcpy(&pointer, values[i], sizeof pointer);
          if (pointer) keep_text(&function->given, i, pointer);
          break;
        }
        /* fall through */
      default: keep(&function->given, i, values[i], parameter->size); break;
    }
  }
  fake_unlock();
}

void given_array(unsigned argument, const void *array, size_t count, size_t element) {
  size_t size;
  if (!call_recorded() || !array || count == 0) return;
  if (__builtin_mul_overflow(count, element, &size)) return;
  fake_lock();
  keep(&fake_thread.call->function->given, argument, array, size);
  fake_unlock();
}

size_t given_copy(const struct function_record *function, unsigned argument, void *bytes,
                  size_t size) {
  fake_lock();
  const struct given *given = find(function->given, argument);
  size_t kept = given ? given->size : 0;
  if (bytes && kept) memcpy(bytes, given->bytes, kept < size ? kept : size);
  fake_unlock();
  return kept;
}

/* Whether this version's function writes `size` bytes through an argument. */
static bool is_answer(const struct function_record *function, unsigned argument, size_t size) {
  bool has_data = false;
  for (unsigned i = 0; i < function->parameter_count; i++) {
    const struct parameter *parameter = &function->parameters[i];
    if (parameter->kind == KIND_data) has_data = true;
    if (i != argument) continue;
    if (parameter->kind == KIND_out || parameter->kind == KIND_fill ||
        parameter->kind == KIND_both)
      return size == parameter->size || size == 0;
    if (parameter->kind != KIND_data) return false;
  }
  /* An argument of kind `data`, or an element of one. */
  return has_data && size <= LONGEST_DATA &&
         (argument < function->parameter_count || argument >= POINTED_TO);
}

bool answer_set(struct function_record *function, unsigned argument, const void *bytes,
                size_t size) {
  if (!bytes) size = 0;
  if (!is_answer(function, argument, size)) return false;
  fake_lock();
  bool kept = keep(&function->answers, argument, bytes ? bytes : "", size);
  fake_unlock();
  return kept;
}

void answers_apply(struct function_record *function, const void *const *values) {
  fake_lock();
  for (unsigned i = 0; i < function->parameter_count; i++) {
    int kind = function->parameters[i].kind;
    if (kind != KIND_out && kind != KIND_fill && kind != KIND_both) continue;
    const struct given *answer = find(function->answers, i);
    void *target;
    memcpy(&target, values[i], sizeof target);
    if (answer && answer->size && target) memcpy(target, answer->bytes, answer->size);
  }
  fake_unlock();
}

void answer_data(struct function_record *function, unsigned argument, void *data, size_t size) {
  if (!has_answers()) return;
  fake_lock();
  const struct given *answer = find(function->answers, argument);
  if (answer && answer->size == size) memcpy(data, answer->bytes, size);
  fake_unlock();
}

static void clear(struct given **list) {
  while (*list) {
    struct given *next = (*list)->next;
    free((*list)->bytes);
    free(*list);
    *list = next;
  }
}

void given_clear(void) {
  for (struct function_record *const *entry = __start_fakehip_functions;
       entry < __stop_fakehip_functions; entry++) {
    clear(&(*entry)->given);
    clear(&(*entry)->answers);
  }
}
