/* Forced errors. Lock held by callers. */
#ifndef FAKEHIP_FORCED_H
#define FAKEHIP_FORCED_H

#include <stdbool.h>

struct function_record;

bool forced_add(struct function_record *function, int code, unsigned from_call, unsigned times);
void forced_clear(void);
bool forced_any(void);
/* Counts a call; true if it shall fail with *code. */
bool forced_applies(const struct function_record *function, int *code);

#endif
