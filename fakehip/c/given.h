/*
 * What functions were given, byte for byte, and what tests want them to answer.
 *
 * Every recorded call keeps its arguments under their positions, counted from 0:
 * values as they are, texts with their NUL, structs as the bytes of this version's
 * struct. The positions from POINTED_TO on are for what a struct points to.
 */
#ifndef FAKEHIP_GIVEN_H
#define FAKEHIP_GIVEN_H

#include <stddef.h>

#include "call.h"

#define POINTED_TO 100

/* All decoded arguments of a call that begins, instead of those of the last. */
void given_keep(struct function_record *function, const void *const *values);

/* An array argument of the call that this thread is in, in place of its address;
 * nothing happens unless the call is recorded, or if there are no bytes. */
void given_array(unsigned argument, const void *array, size_t count, size_t element);

/* Copies up to `size` bytes of an argument and tells how many there are. */
size_t given_copy(const struct function_record *function, unsigned argument, void *bytes,
                  size_t size);

/* False if the argument cannot be answered with that many bytes. No bytes: the
 * function's own answer again. */
bool answer_set(struct function_record *function, unsigned argument, const void *bytes,
                size_t size);

static inline bool has_answers(void) {
  return (atomic_load_explicit(&fake_active, memory_order_relaxed) & ACTIVE_ANSWERS) != 0;
}

/* Writes what was set through the out pointers of a call that succeeded. */
void answers_apply(struct function_record *function, const void *const *values);

/* The same for an out pointer of kind `data`, which holds `size` bytes. */
void answer_data(struct function_record *function, unsigned argument, void *data, size_t size);

/* Lock held. */
void given_clear(void);

#endif
