/*
 * hiprtc: a program is compiled to a module in the fake's text format, with
 * the kernels that rtc_source.c finds. A line "#error" in the source fails the
 * compilation, with its text in the log.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "call.h"
#include "heap.h"
#include "rtc_source.h"
#include "text.h"

struct expression {
  char *text, *lowered;
  struct expression *next;
};

struct program {
  char *source, *name;
  struct expression *expressions;
  struct text log, code;
  bool compiled; /* hiprtcCompileProgram was called, with any result */
};

VALUE(const char *, hiprtcGetErrorString, (in, hiprtcResult, code)) {
  return fake_rtc_error_text(code);
}

/* The answer of every release so far; measured on 7.14. */
RTC(hiprtcVersion, (out, int, major), (out, int, minor)) {
  if (!major || !minor) return HIPRTC_ERROR_INVALID_INPUT;
  *major = 9;
  *minor = 0;
  return HIPRTC_SUCCESS;
}

static bool is_program(hiprtcProgram program) {
  return heap_handle(program, BLOCK_PROGRAM) != NULL;
}

static void clear(struct program *program) {
  free(program->source);
  free(program->name);
  while (program->expressions) {
    struct expression *expression = program->expressions;
    program->expressions = expression->next;
    free(expression->text);
    free(expression->lowered);
    free(expression);
  }
  text_clear(&program->log);
  text_clear(&program->code);
}

RTC(hiprtcCreateProgram, (out, hiprtcProgram, program), (in, const char *, source),
    (in, const char *, name), (in, int, header_count), (in, const char **, headers),
    (in, const char **, include_names)) {
  if (!program || !source || header_count < 0) return HIPRTC_ERROR_INVALID_INPUT;
  if (header_count && (!headers || !include_names)) return HIPRTC_ERROR_INVALID_INPUT;
  struct block *block = heap_allocate(sizeof(struct program), BLOCK_PROGRAM, 0, 0);
  if (!block) return HIPRTC_ERROR_OUT_OF_MEMORY;
  struct program *created = (struct program *)block->address;
  *created = (struct program){.source = strdup(source), .name = strdup(name ? name : "CompileSourceXXXXXX")};
  if (!created->source || !created->name) {
    clear(created);
    heap_release(block, BLOCK_PROGRAM);
    return HIPRTC_ERROR_OUT_OF_MEMORY;
  }
  *program = created;
  return HIPRTC_SUCCESS;
}

RTC(hiprtcDestroyProgram, (raw, hiprtcProgram *, program)) {
  if (!program) return HIPRTC_ERROR_INVALID_INPUT;
  struct block *block = heap_handle(*program, BLOCK_PROGRAM);
  if (!block) return HIPRTC_ERROR_INVALID_PROGRAM;
  struct program contents = **program;
  if (!heap_release(block, BLOCK_PROGRAM)) return HIPRTC_ERROR_INVALID_PROGRAM;
  clear(&contents);
  *program = NULL;
  return HIPRTC_SUCCESS;
}

RTC(hiprtcAddNameExpression, (in, hiprtcProgram, program), (in, const char *, expression)) {
  if (!expression) return HIPRTC_ERROR_INVALID_INPUT;
  if (!is_program(program)) return HIPRTC_ERROR_INVALID_PROGRAM;
  if (program->compiled) return HIPRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION;
  struct expression *added = calloc(1, sizeof *added);
  if (added) added->text = strdup(expression);
  if (!added || !added->text) {
    free(added);
    return HIPRTC_ERROR_OUT_OF_MEMORY;
  }
  added->next = program->expressions;
  program->expressions = added;
  return HIPRTC_SUCCESS;
}

/* An identifier stays itself; every other character becomes _ and two hex
 * digits, so that any expression gives one word of a text module. */
static char *lower(const char *expression) {
  while (*expression == '&' || isspace((unsigned char)*expression)) expression++;
  struct text lowered = {0};
  for (; *expression; expression++) {
    unsigned char c = (unsigned char)*expression;
    text_add(&lowered, isalnum(c) || c == '_' ? "%c" : "_%02x", c);
  }
  if (!lowered.bytes) text_add(&lowered, "_");
  return lowered.failed ? NULL : lowered.bytes;
}

/* The name of the kernel that an expression like &ns::kernel<float> names. */
static bool names_kernel(const char *expression, const char *kernel) {
  const char *end = strchr(expression, '<');
  if (!end) end = expression + strlen(expression);
  while (end > expression && isspace((unsigned char)end[-1])) end--;
  const char *start = end;
  while (start > expression && (isalnum((unsigned char)start[-1]) || start[-1] == '_')) start--;
  return (size_t)(end - start) == strlen(kernel) && memcmp(start, kernel, strlen(kernel)) == 0;
}

static void add_kernel(struct text *code, const char *name, const struct rtc_kernel *kernel) {
  text_add(code, "kernel %s", name);
  if (kernel->argument_count < 0) text_add(code, " ?");
  for (int i = 0; i < kernel->argument_count; i++) text_add(code, " %u", kernel->sizes[i]);
  text_add(code, "\n");
}

static void generate(struct program *program) {
  struct text *code = &program->code;
  const char *place = program->source;
  struct rtc_kernel kernel;
  while (rtc_next_kernel(&place, &kernel)) {
    add_kernel(code, kernel.name, &kernel);
    for (struct expression *expression = program->expressions; expression;
         expression = expression->next) {
      if (expression->lowered || !names_kernel(expression->text, kernel.name)) continue;
      expression->lowered = lower(expression->text);
      if (!expression->lowered)
        code->failed = true;
      else if (strcmp(expression->lowered, kernel.name) != 0)
        add_kernel(code, expression->lowered, &kernel);
    }
  }
  text_add(code, "end\n");
}

RTC(hiprtcCompileProgram, (in, hiprtcProgram, program), (in, int, option_count),
    (in, const char **, options)) {
  if (!is_program(program)) return HIPRTC_ERROR_INVALID_PROGRAM;
  if (option_count < 0 || (option_count && !options)) return HIPRTC_ERROR_INVALID_INPUT;
  text_clear(&program->log);
  text_clear(&program->code);
  program->compiled = true;
  text_add(&program->code, "FAKEHIP MODULE 1\n# %s, %zu bytes of source\n",
           program->name, strlen(program->source));
  for (int i = 0; i < option_count; i++) {
    const char *option = options[i] ? options[i] : "(NULL)";
    call_note("%s%s", i ? " " : "options ", option);
    /* A line break would end the comment. */
    text_add(&program->code, "# option %.*s\n", (int)strcspn(option, "\r\n"), option);
  }

  size_t length;
  const char *error = rtc_error_directive(program->source, &length);
  if (error) {
    text_add(&program->log, "%s: error: %.*s\n", program->name, (int)length, error);
    text_clear(&program->code);
    return HIPRTC_ERROR_COMPILATION;
  }
  generate(program);
  for (struct expression *expression = program->expressions; expression;
       expression = expression->next) {
    if (expression->lowered) continue;
    text_add(&program->log, "%s: error: name expression '%s' names no kernel\n", program->name,
             expression->text);
    text_clear(&program->code);
    return HIPRTC_ERROR_COMPILATION;
  }
  if (program->code.failed) {
    text_clear(&program->code);
    return HIPRTC_ERROR_OUT_OF_MEMORY;
  }
  return HIPRTC_SUCCESS;
}

/* Sizes and contents include the terminating NUL. */
static size_t whole(const struct text *text) { return text->bytes ? text->length + 1 : 0; }

RTC(hiprtcGetProgramLogSize, (in, hiprtcProgram, program), (out, size_t, size)) {
  if (!size) return HIPRTC_ERROR_INVALID_INPUT;
  if (!is_program(program)) return HIPRTC_ERROR_INVALID_PROGRAM;
  *size = whole(&program->log);
  return HIPRTC_SUCCESS;
}

RTC(hiprtcGetProgramLog, (in, hiprtcProgram, program), (raw, char *, log)) {
  if (!log) return HIPRTC_ERROR_INVALID_INPUT;
  if (!is_program(program)) return HIPRTC_ERROR_INVALID_PROGRAM;
  if (program->log.bytes) memcpy(log, program->log.bytes, whole(&program->log));
  return HIPRTC_SUCCESS;
}

RTC(hiprtcGetCodeSize, (in, hiprtcProgram, program), (out, size_t, size)) {
  if (!size) return HIPRTC_ERROR_INVALID_INPUT;
  if (!is_program(program)) return HIPRTC_ERROR_INVALID_PROGRAM;
  if (!program->code.bytes) return HIPRTC_ERROR_INVALID_PROGRAM;
  *size = whole(&program->code);
  return HIPRTC_SUCCESS;
}

RTC(hiprtcGetCode, (in, hiprtcProgram, program), (raw, char *, code)) {
  if (!code) return HIPRTC_ERROR_INVALID_INPUT;
  if (!is_program(program)) return HIPRTC_ERROR_INVALID_PROGRAM;
  if (!program->code.bytes) return HIPRTC_ERROR_INVALID_PROGRAM;
  memcpy(code, program->code.bytes, whole(&program->code));
  return HIPRTC_SUCCESS;
}

RTC(hiprtcGetLoweredName, (in, hiprtcProgram, program), (in, const char *, expression),
    (out, const char *, lowered)) {
  if (!expression || !lowered) return HIPRTC_ERROR_INVALID_INPUT;
  if (!is_program(program)) return HIPRTC_ERROR_INVALID_PROGRAM;
  if (!program->compiled) return HIPRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION;
  for (struct expression *known = program->expressions; known; known = known->next) {
    if (known->lowered && strcmp(known->text, expression) == 0) {
      *lowered = known->lowered;
      return HIPRTC_SUCCESS;
    }
  }
  return HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID;
}
