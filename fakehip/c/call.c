#include "call.h"

#include <stdio.h>
#include <string.h>

#include "forced.h"
#include "given.h"
#include "log.h"

struct function_record *fake_function(const char *name) {
  if (!name || !fake_exports(name)) return NULL;
  for (struct function_record *const *entry = __start_fakehip_functions;
       entry < __stop_fakehip_functions; entry++)
    if (strcmp((*entry)->name, name) == 0) return *entry;
  return NULL;
}

static void append_arguments(char *text, unsigned *length, const char *format, va_list arguments) {
  if (*length >= CALL_LINE - 1) return;
  int added = vsnprintf(text + *length, CALL_LINE - *length, format, arguments);
  if (added <= 0) return;
  *length += (unsigned)added;
  if (*length > CALL_LINE - 1) *length = CALL_LINE - 1;
}

static void append(struct call *call, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void append(struct call *call, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  append_arguments(call->line, &call->length, format, arguments);
  va_end(arguments);
}

void call_note(const char *format, ...) {
  struct call *call = fake_thread.call;
  if (!call) return;
  va_list arguments;
  va_start(arguments, format);
  append_arguments(call->note, &call->note_length, format, arguments);
  va_end(arguments);
}

bool call_begin(struct call *call, struct function_record *function, int *result,
                const void *const *values) {
  fake_read_environment();
  unsigned active = atomic_load_explicit(&fake_active, memory_order_relaxed);
  call->function = function;
  call->outer = fake_thread.call;
  call->forced = false;
  call->length = call->note_length = 0;
  call->line[0] = call->note[0] = 0;
  fake_thread.call = NULL;
  if (active & ACTIVE_RECORD) {
    atomic_fetch_add_explicit(&function->calls, 1, memory_order_relaxed);
    append(call, "%s(", function->name);
    fake_thread.call = call;
    given_keep(function, values);
  }
  if ((active & ACTIVE_FORCED_ERRORS) && !(function->flags & FUNCTION_VALUE)) {
    fake_lock();
    call->forced = forced_applies(function, result);
    fake_unlock();
    if (call->forced) return true;
  }
  if ((active & ACTIVE_NO_DEVICE) && (function->flags & FUNCTION_NEEDS_DEVICE)) {
    /* HIP 5 has its own answer here; measured on 5.2.3 and 5.7.1. */
    *result = fake_model.major <= 5 && strcmp(function->name, "hipInit") == 0
                  ? hipErrorInvalidDevice
                  : hipErrorNoDevice;
    return true;
  }
  return false;
}

static void write_line(struct call *call) {
  char line[2 * CALL_LINE + 8];
  int length = snprintf(line, sizeof line, call->note_length ? "%s  {%s}\n" : "%s\n", call->line,
                        call->note);
  fake_lock();
  log_line(line, (size_t)length);
  fake_unlock();
}

/* Program sources arrive here as well: cut, and kept on one line. */
#define SHOWN_CHARACTERS 80

static void show_text(struct call *call, const char *value) {
  if (!value) {
    append(call, "NULL");
    return;
  }
  append(call, "\"");
  for (unsigned shown = 0; *value && shown < SHOWN_CHARACTERS; value++, shown++) {
    unsigned char c = (unsigned char)*value;
    if (c == '"' || c == '\\')
      append(call, "\\%c", c);
    else if (c == '\n')
      append(call, "\\n");
    else if (c < 32 || c == 127)
      append(call, "\\x%02x", c);
    else
      append(call, "%c", c);
  }
  append(call, *value ? "\"..." : "\"");
}

static void show_copy_kind(struct call *call, hipMemcpyKind kind) {
  static const char *const names[] = {"hipMemcpyHostToHost", "hipMemcpyHostToDevice",
                                      "hipMemcpyDeviceToHost", "hipMemcpyDeviceToDevice",
                                      "hipMemcpyDefault"};
  if (kind < sizeof names / sizeof *names)
    append(call, "%s", names[kind]);
  else if (kind == hipMemcpyDeviceToDeviceNoCU)
    append(call, "hipMemcpyDeviceToDeviceNoCU");
  else
    append(call, "%u", kind);
}

static void show_pointer(struct call *call, const void *pointer) {
  if (pointer)
    append(call, "%p", pointer);
  else
    append(call, "NULL");
}

#define AS(type) (*(const type *)value)

/* A value of a type as call.h's TYPE names it. */
static void show(struct call *call, char type, const void *value) {
  switch (type) {
    case 'c': append(call, "%d", AS(signed char)); break;
    case 'C': append(call, "%u", AS(unsigned char)); break;
    case 'h': append(call, "%d", AS(short)); break;
    case 'H': append(call, "%u", AS(unsigned short)); break;
    case 'i': append(call, "%d", AS(int)); break;
    case 'I': append(call, "%u", AS(unsigned)); break;
    case 'l': append(call, "%lld", AS(long long)); break;
    case 'L': append(call, "%llu", AS(unsigned long long)); break;
    case 'f': append(call, "%g", (double)AS(float)); break;
    case 's': show_text(call, AS(char *)); break;
    case 'd': append(call, "(%u, %u, %u)", AS(dim3).x, AS(dim3).y, AS(dim3).z); break;
    case 'u': append(call, "\"%.16s\"", AS(hipUUID).bytes); break;
    case 'n': {
      const hipChannelFormatDesc *channel = value;
      append(call, "(%d, %d, %d, %d, %u)", channel->x, channel->y, channel->z, channel->w,
             channel->f);
      break;
    }
    case 'm': append(call, "(%d, %d)", AS(hipMemLocation).type, AS(hipMemLocation).id); break;
    case 'b': append(call, "(%zu bytes)", sizeof(hipIpcMemHandle_t)); break;
    default: show_pointer(call, AS(void *)); break;
  }
}

static void show_parameters(struct call *call, bool succeeded, const struct parameter *parameters,
                            const void *const *values, unsigned count) {
  for (unsigned i = 0; i < count; i++) {
    const struct parameter *parameter = &parameters[i];
    const void *value = values[i];
    const void *target = parameter->kind == KIND_out ? AS(void *) : NULL;
    /* What an out pointer points to is known only after a success. */
    bool show_target = target && succeeded;
    append(call, "%s%s%s=", i ? ", " : "", show_target ? "*" : "", parameter->name);
    if (show_target) {
      show(call, parameter->type, target);
      continue;
    }
    switch (parameter->kind) {
      case KIND_copy: show_copy_kind(call, AS(hipMemcpyKind)); break;
      /* Flag words are 32 bits wide, except where the type says otherwise. */
      case KIND_hex:
        append(call, "0x%llx", parameter->type == 'L' ? AS(unsigned long long) : AS(unsigned));
        break;
      case KIND_in: show(call, parameter->type, value); break;
      default: show_pointer(call, AS(void *)); break;
    }
  }
  append(call, ")");
}

static const char *result_name(const struct function_record *function, int result) {
  return function->flags & FUNCTION_RTC ? fake_rtc_error_name(result) : fake_error_name(result);
}

void call_end(struct call *call, int result, const struct parameter *parameters,
              const void *const *values, unsigned count) {
  if (result == 0 && !call->forced && values && has_answers())
    answers_apply(call->function, values);
  if (fake_thread.call == call) {
    show_parameters(call, result == 0, parameters, values, count);
    append(call, " = %s%s", result_name(call->function, result), call->forced ? " (forced)" : "");
    write_line(call);
  }
  fake_thread.call = call->outer;
}

void call_end_value(struct call *call, char type, const void *value,
                    const struct parameter *parameters, const void *const *values,
                    unsigned count) {
  if (fake_thread.call == call) {
    show_parameters(call, true, parameters, values, count);
    if (value) {
      append(call, " = ");
      show(call, type, value);
    }
    write_line(call);
  }
  fake_thread.call = call->outer;
}

int unmodelled(struct function_record *function, int result) {
  if (is_active()) {
    struct call call;
    call_begin(&call, function, &result, NULL);
    if (fake_thread.call == &call) {
      /* Without decoded arguments, so without parentheses that would lie. */
      call.length = 0;
      append(&call, "%s", function->name);
      if (!(function->flags & FUNCTION_VALUE))
        append(&call, " = %s%s", result_name(function, result), call.forced ? " (forced)" : "");
      call_note("not modelled");
      write_line(&call);
    }
    fake_thread.call = call.outer;
  }
  if (!(function->flags & (FUNCTION_RTC | FUNCTION_VALUE))) finish_hip(result);
  return result;
}
