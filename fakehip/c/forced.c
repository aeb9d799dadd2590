#include "forced.h"

#include <stdlib.h>

struct rule {
  const struct function_record *function;
  int code;
  unsigned from_call, times, seen, fired;
  struct rule *next;
};

static struct rule *rules;

bool forced_add(struct function_record *function, int code, unsigned from_call, unsigned times) {
  struct rule *rule = malloc(sizeof *rule);
  if (!rule) return false;
  *rule = (struct rule){function, code, from_call, times, 0, 0, NULL};
  struct rule **end = &rules;
  while (*end) end = &(*end)->next;
  *end = rule;
  return true;
}

void forced_clear(void) {
  while (rules) {
    struct rule *next = rules->next;
    free(rules);
    rules = next;
  }
}

bool forced_any(void) { return rules != NULL; }

bool forced_applies(const struct function_record *function, int *code) {
  bool applies = false;
  for (struct rule *rule = rules; rule; rule = rule->next) {
    if (rule->function != function) continue;
    rule->seen++;
    if (applies || rule->seen < rule->from_call) continue;
    if (rule->times && rule->fired >= rule->times) continue;
    rule->fired++;
    *code = rule->code;
    applies = true;
  }
  return applies;
}
