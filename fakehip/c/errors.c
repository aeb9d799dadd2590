/* The error functions. The tables come from the builder (error_table.c). */
#include <string.h>

#include "call.h"
#include "error_table.h"

static const struct error_entry *find(const struct error_entry *table, unsigned count, int code) {
  for (unsigned i = 0; i < count; i++)
    if (table[i].code == code) return &table[i];
  return NULL;
}

static int code_of(const struct error_entry *table, unsigned count, const char *name, int *code) {
  for (unsigned i = 0; i < count; i++) {
    if (strcmp(table[i].name, name) == 0) {
      *code = table[i].code;
      return 0;
    }
  }
  return -1;
}

const char *fake_error_name(int code) {
  const struct error_entry *entry = find(hip_errors, hip_error_count, code);
  return entry ? entry->name : hip_error_unknown.name;
}

const char *fake_error_text(int code) {
  const struct error_entry *entry = find(hip_errors, hip_error_count, code);
  return entry ? entry->text : hip_error_unknown.text;
}

const char *fake_rtc_error_name(int code) {
  const struct error_entry *entry = find(rtc_errors, rtc_error_count, code);
  return entry ? entry->name : "unknown hiprtcResult";
}

const char *fake_rtc_error_text(int code) {
  const struct error_entry *entry = find(rtc_errors, rtc_error_count, code);
  return entry ? entry->text : NULL;
}

int fake_error_code(const char *name, int *code) {
  return code_of(hip_errors, hip_error_count, name, code);
}

int fake_rtc_error_code(const char *name, int *code) {
  return code_of(rtc_errors, rtc_error_count, name, code);
}
