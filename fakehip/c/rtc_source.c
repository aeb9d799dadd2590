#include "rtc_source.h"

#include <ctype.h>
#include <string.h>

struct word {
  const char *start;
  size_t length;
};

static bool is(struct word word, const char *text) {
  return word.length == strlen(text) && memcmp(word.start, text, word.length) == 0;
}

static bool is_identifier(struct word word) {
  return word.length && (isalpha((unsigned char)*word.start) || *word.start == '_');
}

/* A word is an identifier, a number or one other character. Comments, literals
 * and preprocessor lines are skipped. Empty at the end. */
static struct word next_word(const char **place) {
  const char *at = *place;
  for (;;) {
    while (isspace((unsigned char)*at)) at++;
    if (at[0] == '/' && at[1] == '/') {
      while (*at && *at != '\n') at++;
    } else if (at[0] == '/' && at[1] == '*') {
      const char *end = strstr(at + 2, "*/");
      at = end ? end + 2 : at + strlen(at);
    } else if (*at == '#') {
      while (*at && *at != '\n') at += at[0] == '\\' && at[1] ? 2 : 1;
    } else if (*at == '"' || *at == '\'') {
      char quote = *at++;
      while (*at && *at != quote) at += at[0] == '\\' && at[1] ? 2 : 1;
      if (*at) at++;
    } else {
      break;
    }
  }
  struct word word = {at, 0};
  if (isalnum((unsigned char)*at) || *at == '_')
    while (isalnum((unsigned char)at[word.length]) || at[word.length] == '_') word.length++;
  else if (*at)
    word.length = 1;
  *place = at + word.length;
  return word;
}

static void skip_parentheses(const char **place) {
  for (int depth = 1; depth;) {
    struct word word = next_word(place);
    if (!word.length) return;
    depth += is(word, "(") - is(word, ")");
  }
}

/* Types by their size; a parameter's size is that of the first row with a word
 * that it contains, so that "long int" is 8 and "unsigned char" 1. */
static const struct {
  unsigned size;
  const char *const words[16];
} types[] = {
    {8, {"long", "double", "int64_t", "uint64_t", "size_t", "ptrdiff_t", "intptr_t", "uintptr_t",
         "float2", "int2", "uint2", NULL}},
    {16, {"float4", "int4", "uint4", "double2", "longlong2", "ulonglong2", NULL}},
    {1, {"char", "bool", "int8_t", "uint8_t", NULL}},
    {2, {"short", "int16_t", "uint16_t", "half", "__half", "_Float16", "__hip_bfloat16", "bfloat16",
         "hip_bfloat16", NULL}},
    {4, {"int", "unsigned", "signed", "float", "int32_t", "uint32_t", "half2", "__half2", NULL}},
};

/* 0: unknown. */
static unsigned size_of(const struct word *words, size_t count) {
  for (size_t row = 0; row < sizeof types / sizeof *types; row++)
    for (size_t i = 0; i < count; i++)
      for (const char *const *type = types[row].words; *type; type++)
        if (is(words[i], *type)) return types[row].size;
  return 0;
}

#define MAX_WORDS 32

static void read_parameters(const char **place, struct rtc_kernel *kernel) {
  struct word words[MAX_WORDS];
  size_t count = 0;
  bool pointer = false, known = true;
  int depth = 0;
  kernel->argument_count = 0;
  for (;;) {
    struct word word = next_word(place);
    bool end = !word.length || (depth == 0 && is(word, ")"));
    if (end || (depth == 0 && is(word, ","))) {
      bool nothing = count == 0 || (count == 1 && is(words[0], "void") && !pointer);
      if (!(end && kernel->argument_count == 0 && nothing)) {
        unsigned size = pointer ? 8 : size_of(words, count);
        if (size == 0 || kernel->argument_count == RTC_MAX_ARGUMENTS)
          known = false;
        else
          kernel->sizes[kernel->argument_count++] = size;
      }
      count = 0;
      pointer = false;
      if (end) break;
      continue;
    }
    if (is(word, "(") || is(word, "<") || is(word, "[") || is(word, "{")) depth++;
    if (is(word, ")") || is(word, ">") || is(word, "]") || is(word, "}")) depth--;
    if (is(word, "*") || is(word, "&") || is(word, "[")) pointer = true;
    if (depth == 0 && is_identifier(word) && count < MAX_WORDS) words[count++] = word;
  }
  if (!known) kernel->argument_count = -1;
}

bool rtc_next_kernel(const char **place, struct rtc_kernel *kernel) {
  for (;;) {
    struct word word = next_word(place);
    if (!word.length) return false;
    if (!is(word, "__global__")) continue;
    struct word name = {0};
    for (;;) {
      word = next_word(place);
      if (!word.length) return false;
      if (is(word, ";") || is(word, "{")) break;
      if (is_identifier(word)) {
        name = word;
        continue;
      }
      if (!is(word, "(")) continue;
      if (is(name, "__launch_bounds__") || is(name, "__attribute__") || !name.length) {
        skip_parentheses(place);
        continue;
      }
      size_t length = name.length < sizeof kernel->name ? name.length : sizeof kernel->name - 1;
      memcpy(kernel->name, name.start, length);
      kernel->name[length] = 0;
      read_parameters(place, kernel);
      return true;
    }
  }
}

const char *rtc_error_directive(const char *source, size_t *length) {
  while (source) {
    const char *at = source;
    while (*at == ' ' || *at == '\t') at++;
    if (*at == '#') {
      at++;
      while (*at == ' ' || *at == '\t') at++;
      if (strncmp(at, "error", 5) == 0) {
        at += 5;
        while (*at == ' ' || *at == '\t') at++;
        *length = strcspn(at, "\r\n");
        return at;
      }
    }
    source = strchr(source, '\n');
    if (source) source++;
  }
  return NULL;
}
