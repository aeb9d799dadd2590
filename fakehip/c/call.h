/*
 * How an exported function is written.
 *
 *   HIP(hipMemGetInfo, (out, size_t, free), (out, size_t, total)) { body }
 *
 * defines the body, an exported function that runs it directly while nothing
 * is active, and a recorded variant that counts, applies forced errors and
 * writes the log line with decoded arguments. A parameter is (kind, type,
 * name): `in` a value, `out` a pointer whose target is shown after success,
 * `hex` a flag word, `copy` a hipMemcpyKind, `raw` a pointer shown as address
 * only. Of structs the type is that of the struct: `given` points to one that the
 * function reads, `fill` to one that it writes, `both` to one for both; `data`
 * is a pointer whose target depends on other arguments. All but `out`, `fill`
 * and `data` are kept for fakehip_given; `out`, `fill`, `both` and `data` can be
 * answered by fakehip_answer (given.h). No parameter may be called `call`,
 * `result` or `addresses`. The definitions (lines that begin with HIP, HIP_SPT, ...)
 * are also read by the builder, which makes "not supported" functions of all
 * other exports.
 */
#ifndef FAKEHIP_CALL_H
#define FAKEHIP_CALL_H

#include <stdarg.h>

#include "state.h"

enum {
  FUNCTION_NEEDS_DEVICE = 1, /* fails with "no device" when there is none */
  FUNCTION_RTC = 2,          /* returns hiprtcResult */
  FUNCTION_VALUE = 4,        /* returns something else; cannot be forced to fail */
  FUNCTION_MODELLED = 8,
};

struct given;

struct function_record {
  const char *name;
  void *address;
  unsigned flags;
  atomic_ullong calls;
  const struct parameter *parameters; /* NULL: not decoded */
  unsigned parameter_count;
  struct given *given, *answers; /* see given.h */
};

/* All records of the library, between the linker's section bounds. */
extern struct function_record *const __start_fakehip_functions[] __attribute__((visibility("hidden")));
extern struct function_record *const __stop_fakehip_functions[] __attribute__((visibility("hidden")));

struct function_record *fake_function(const char *name); /* exported ones only */

#define CALL_LINE 3072

struct call {
  struct function_record *function;
  struct call *outer;
  bool forced;
  unsigned length; /* of line */
  unsigned note_length;
  char line[CALL_LINE];
  char note[CALL_LINE];
};

/* What the log shows of a parameter: recorded calls pass the addresses of
 * their parameters along with these, so that little code is needed for each. */
struct parameter {
  const char *name;
  char type; /* see TYPE */
  char kind; /* KIND_... */
  unsigned short size; /* of the type */
};
enum { KIND_in, KIND_out, KIND_hex, KIND_copy, KIND_raw, KIND_given, KIND_fill, KIND_both, KIND_data };

/* True if the call shall not reach its body; then *result is its result. */
bool call_begin(struct call *call, struct function_record *function, int *result,
                const void *const *values);
void call_end(struct call *call, int result, const struct parameter *parameters,
              const void *const *values, unsigned count);
/* For results that are not codes; value may be NULL (void). */
void call_end_value(struct call *call, char type, const void *value,
                    const struct parameter *parameters, const void *const *values,
                    unsigned count);
/* Text appended to the log line of the call this thread is in, if recorded. */
void call_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* True while this thread is inside a recorded call. */
static inline bool call_recorded(void) { return fake_thread.call != NULL; }

#define TYPE(type)                  \
  _Generic(*(type *)0,              \
      char: 'c',                    \
      signed char: 'c',             \
      unsigned char: 'C',           \
      short: 'h',                   \
      unsigned short: 'H',          \
      int: 'i',                     \
      unsigned: 'I',                \
      long: 'l',                    \
      unsigned long: 'L',           \
      long long: 'l',               \
      unsigned long long: 'L',      \
      float: 'f',                   \
      const char *: 's',            \
      dim3: 'd',                    \
      hipUUID: 'u',                 \
      hipChannelFormatDesc: 'n',    \
      hipMemLocation: 'm',          \
      hipIpcMemHandle_t: 'b',       \
      default: 'p')

#define DECLARE_in(type, name) type name
#define DECLARE_hex(type, name) type name
#define DECLARE_copy(type, name) type name
#define DECLARE_raw(type, name) type name
#define DECLARE_out(type, name) type *name
#define DECLARE_given(type, name) const type *name
#define DECLARE_fill(type, name) type *name
#define DECLARE_both(type, name) type *name
#define DECLARE_data(type, name) type name

#define DECLARE_1(kind, type, name) DECLARE_##kind(type, name)
#define DECLARE(parameter) DECLARE_1 parameter
#define ARGUMENT_1(kind, type, name) name
#define ARGUMENT(parameter) ARGUMENT_1 parameter
#define ADDRESS_1(kind, type, name) &name
#define ADDRESS(parameter) ADDRESS_1 parameter
#define DESCRIBE_1(kind, type, name) {#name, TYPE(type), KIND_##kind, sizeof(type)}
#define DESCRIBE(parameter) DESCRIBE_1 parameter

/* MAP_COMMA(M, a, b) is M(a), M(b). */
#define COUNT_(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, count, ...) count
#define COUNT(...) COUNT_(__VA_ARGS__, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)
#define MAP_COMMA(M, ...) PASTE(MAP_, COUNT(__VA_ARGS__))(M, __VA_ARGS__)
#define MAP_1(M, a) M(a)
#define MAP_2(M, a, ...) M(a), MAP_1(M, __VA_ARGS__)
#define MAP_3(M, a, ...) M(a), MAP_2(M, __VA_ARGS__)
#define MAP_4(M, a, ...) M(a), MAP_3(M, __VA_ARGS__)
#define MAP_5(M, a, ...) M(a), MAP_4(M, __VA_ARGS__)
#define MAP_6(M, a, ...) M(a), MAP_5(M, __VA_ARGS__)
#define MAP_7(M, a, ...) M(a), MAP_6(M, __VA_ARGS__)
#define MAP_8(M, a, ...) M(a), MAP_7(M, __VA_ARGS__)
#define MAP_9(M, a, ...) M(a), MAP_8(M, __VA_ARGS__)
#define MAP_10(M, a, ...) M(a), MAP_9(M, __VA_ARGS__)
#define MAP_11(M, a, ...) M(a), MAP_10(M, __VA_ARGS__)
#define MAP_12(M, a, ...) M(a), MAP_11(M, __VA_ARGS__)
#define MAP_13(M, a, ...) M(a), MAP_12(M, __VA_ARGS__)
#define MAP_14(M, a, ...) M(a), MAP_13(M, __VA_ARGS__)
#define MAP_15(M, a, ...) M(a), MAP_14(M, __VA_ARGS__)

/* Records are pointed to from the section, not stored in it: compilers align
 * large objects as they like, and the section must be an array. */
#define FUNCTION_RECORD(fn, function_flags, parameters, parameter_count)           \
  static struct function_record record_##fn = {                                    \
      #fn, (void *)&fn, function_flags, 0, parameters, parameter_count, NULL, NULL}; \
  static struct function_record *const entry_##fn                                  \
      __attribute__((section("fakehip_functions"), used)) = &record_##fn;

static inline hipError_t finish_hip(hipError_t result) {
  fake_thread.last_command = result;
  if (unlikely(result != hipSuccess && result != hipErrorNotReady))
    fake_thread.last_error = result;
  return result;
}

static inline int finish_none(int result) { return result; }

/* What the end of a recorded call gets: descriptions, addresses, their number.
 * The array of addresses is what the begin of the call gets as well. */
#define PARAMETERS(fn, ...) \
  static const struct parameter parameters_##fn[] = {MAP_COMMA(DESCRIBE, __VA_ARGS__)};
#define ADDRESSES(...) const void *const addresses[] = {MAP_COMMA(ADDRESS, __VA_ARGS__)}
#define RECORDED_PARAMETERS(fn, ...) parameters_##fn, addresses, COUNT(__VA_ARGS__)

/* The slow way through a body, for all names that share it. */
#define RECORDED(fn, ...)                                                        \
  PARAMETERS(fn, __VA_ARGS__)                                                    \
  static COLD int recorded_##fn(struct function_record *record,                  \
                                MAP_COMMA(DECLARE, __VA_ARGS__)) {               \
    struct call call;                                                            \
    int result;                                                                  \
    ADDRESSES(__VA_ARGS__);                                                      \
    if (!call_begin(&call, record, &result, addresses))                          \
      result = body_##fn(MAP_COMMA(ARGUMENT, __VA_ARGS__));                      \
    call_end(&call, result, RECORDED_PARAMETERS(fn, __VA_ARGS__));               \
    return result;                                                               \
  }

/* An exported name for the body `of`. */
#define ENTRY(fn, of, flags, finish, ...)                                        \
  EXPORT int fn(MAP_COMMA(DECLARE, __VA_ARGS__));                                \
  FUNCTION_RECORD(fn, flags, parameters_##of, COUNT(__VA_ARGS__))                \
  int fn(MAP_COMMA(DECLARE, __VA_ARGS__)) {                                      \
    int result;                                                                  \
    if (is_active())                                                             \
      result = recorded_##of(&record_##fn, MAP_COMMA(ARGUMENT, __VA_ARGS__));    \
    else                                                                         \
      result = body_##of(MAP_COMMA(ARGUMENT, __VA_ARGS__));                      \
    return finish(result);                                                       \
  }

#define ENTRY0(fn, flags, finish)                          \
  EXPORT int fn(void);                                     \
  FUNCTION_RECORD(fn, flags, NULL, 0)                      \
  static COLD int recorded_##fn(void) {                    \
    struct call call;                                      \
    int result;                                            \
    if (!call_begin(&call, &record_##fn, &result, NULL))   \
      result = body_##fn();                                \
    call_end(&call, result, NULL, NULL, 0);                \
    return result;                                         \
  }                                                        \
  int fn(void) { return finish(is_active() ? recorded_##fn() : body_##fn()); }

#define BODY(fn, ...) static inline int body_##fn(MAP_COMMA(DECLARE, __VA_ARGS__))

#define HIP_FLAGS (FUNCTION_MODELLED | FUNCTION_NEEDS_DEVICE)

/* hipError_t, needs a device. */
#define HIP(fn, ...)                                     \
  BODY(fn, __VA_ARGS__);                                 \
  RECORDED(fn, __VA_ARGS__)                              \
  ENTRY(fn, fn, HIP_FLAGS, finish_hip, __VA_ARGS__)      \
  BODY(fn, __VA_ARGS__)

/* The same for functions that benchmarks compare: the body in both places. */
#define HIP_HOT(fn, ...)                                 \
  ALWAYS_INLINE BODY(fn, __VA_ARGS__);                   \
  RECORDED(fn, __VA_ARGS__)                              \
  ENTRY(fn, fn, HIP_FLAGS, finish_hip, __VA_ARGS__)      \
  ALWAYS_INLINE BODY(fn, __VA_ARGS__)

/* The same with a first answer: quick_##fn is true if the call is certain to
 * succeed. It calls nothing and so needs no stack; everything else goes on to the
 * whole function with its arguments where they are. */
#define HIP_QUICK(fn, ...)                                                       \
  ALWAYS_INLINE BODY(fn, __VA_ARGS__);                                           \
  RECORDED(fn, __VA_ARGS__)                                                      \
  EXPORT int fn(MAP_COMMA(DECLARE, __VA_ARGS__));                                \
  FUNCTION_RECORD(fn, HIP_FLAGS, parameters_##fn, COUNT(__VA_ARGS__))            \
  static __attribute__((noinline)) int whole_##fn(MAP_COMMA(DECLARE, __VA_ARGS__)) { \
    int result;                                                                  \
    if (is_active())                                                             \
      result = recorded_##fn(&record_##fn, MAP_COMMA(ARGUMENT, __VA_ARGS__));    \
    else                                                                         \
      result = body_##fn(MAP_COMMA(ARGUMENT, __VA_ARGS__));                      \
    return finish_hip(result);                                                   \
  }                                                                              \
  int fn(MAP_COMMA(DECLARE, __VA_ARGS__)) {                                      \
    if (likely(!is_active() && quick_##fn(MAP_COMMA(ARGUMENT, __VA_ARGS__))))    \
      return finish_hip(hipSuccess);                                             \
    int result = whole_##fn(MAP_COMMA(ARGUMENT, __VA_ARGS__));                   \
    /* Not a tail call: for one, gcc saves registers before the first test. */   \
    __asm__ volatile("" : "+r"(result));                                         \
    return result;                                                               \
  }                                                                              \
  ALWAYS_INLINE BODY(fn, __VA_ARGS__)

/* The same, also under the name with _spt (per-thread default stream). */
#define HIP_SPT(fn, ...)                                 \
  BODY(fn, __VA_ARGS__);                                 \
  RECORDED(fn, __VA_ARGS__)                              \
  ENTRY(fn, fn, HIP_FLAGS, finish_hip, __VA_ARGS__)      \
  ENTRY(fn##_spt, fn, HIP_FLAGS, finish_hip, __VA_ARGS__) \
  BODY(fn, __VA_ARGS__)

/* A further name for a function defined above in the same file. */
#define HIP_ALIAS(fn, of, ...) ENTRY(fn, of, HIP_FLAGS, finish_hip, __VA_ARGS__)

/* hipError_t, works on machines without a device. */
#define HIP_ALWAYS(fn, ...)                              \
  BODY(fn, __VA_ARGS__);                                 \
  RECORDED(fn, __VA_ARGS__)                              \
  ENTRY(fn, fn, FUNCTION_MODELLED, finish_hip, __VA_ARGS__) \
  BODY(fn, __VA_ARGS__)

#define HIP_NO_ARGS(fn)                                  \
  static inline int body_##fn(void);                     \
  ENTRY0(fn, HIP_FLAGS, finish_hip)                      \
  static inline int body_##fn(void)

/* Asks for the last error, and so does not change it. */
#define HIP_LAST_ERROR(fn)                               \
  static inline int body_##fn(void);                     \
  ENTRY0(fn, FUNCTION_MODELLED, finish_none)             \
  static inline int body_##fn(void)

#define RTC(fn, ...)                                     \
  BODY(fn, __VA_ARGS__);                                 \
  RECORDED(fn, __VA_ARGS__)                              \
  ENTRY(fn, fn, FUNCTION_MODELLED | FUNCTION_RTC, finish_none, __VA_ARGS__) \
  BODY(fn, __VA_ARGS__)

/* Any other return type. */
#define VALUE(type, fn, ...)                                                        \
  static inline type body_##fn(MAP_COMMA(DECLARE, __VA_ARGS__));                    \
  EXPORT type fn(MAP_COMMA(DECLARE, __VA_ARGS__));                                  \
  PARAMETERS(fn, __VA_ARGS__)                                                       \
  FUNCTION_RECORD(fn, FUNCTION_MODELLED | FUNCTION_VALUE, parameters_##fn,          \
                  COUNT(__VA_ARGS__))                                               \
  static COLD type recorded_##fn(MAP_COMMA(DECLARE, __VA_ARGS__)) {                 \
    struct call call;                                                               \
    int ignored;                                                                    \
    ADDRESSES(__VA_ARGS__);                                                         \
    call_begin(&call, &record_##fn, &ignored, addresses);                           \
    type result = body_##fn(MAP_COMMA(ARGUMENT, __VA_ARGS__));                      \
    call_end_value(&call, TYPE(type), &result, RECORDED_PARAMETERS(fn, __VA_ARGS__)); \
    return result;                                                                  \
  }                                                                                 \
  type fn(MAP_COMMA(DECLARE, __VA_ARGS__)) {                                        \
    if (is_active()) return recorded_##fn(MAP_COMMA(ARGUMENT, __VA_ARGS__));        \
    return body_##fn(MAP_COMMA(ARGUMENT, __VA_ARGS__));                             \
  }                                                                                 \
  static inline type body_##fn(MAP_COMMA(DECLARE, __VA_ARGS__))

#define VOID(fn, ...)                                                               \
  static inline void body_##fn(MAP_COMMA(DECLARE, __VA_ARGS__));                    \
  EXPORT void fn(MAP_COMMA(DECLARE, __VA_ARGS__));                                  \
  PARAMETERS(fn, __VA_ARGS__)                                                       \
  FUNCTION_RECORD(fn, FUNCTION_MODELLED | FUNCTION_VALUE, parameters_##fn,          \
                  COUNT(__VA_ARGS__))                                               \
  static COLD void recorded_##fn(MAP_COMMA(DECLARE, __VA_ARGS__)) {                 \
    struct call call;                                                               \
    int ignored;                                                                    \
    ADDRESSES(__VA_ARGS__);                                                         \
    call_begin(&call, &record_##fn, &ignored, addresses);                           \
    body_##fn(MAP_COMMA(ARGUMENT, __VA_ARGS__));                                    \
    call_end_value(&call, 0, NULL, RECORDED_PARAMETERS(fn, __VA_ARGS__));           \
  }                                                                                 \
  void fn(MAP_COMMA(DECLARE, __VA_ARGS__)) {                                        \
    if (is_active())                                                                \
      recorded_##fn(MAP_COMMA(ARGUMENT, __VA_ARGS__));                              \
    else                                                                            \
      body_##fn(MAP_COMMA(ARGUMENT, __VA_ARGS__));                                  \
  }                                                                                 \
  static inline void body_##fn(MAP_COMMA(DECLARE, __VA_ARGS__))

/* Exports that are not modelled. The functions take any arguments, so they are
 * defined without: the caller's registers and stack are simply not looked at. */
int unmodelled(struct function_record *function, int result);

#define NOT_MODELLED(fn, flags, result)                                  \
  EXPORT int fn(void);                                                   \
  FUNCTION_RECORD(fn, flags, NULL, 0)                                    \
  int fn(void) { return unmodelled(&record_##fn, result); }

#define NOT_MODELLED_WEAK(fn, flags, result)                             \
  EXPORT __attribute__((weak)) int fn(void);                             \
  FUNCTION_RECORD(fn, flags, NULL, 0)                                    \
  int fn(void) { return unmodelled(&record_##fn, result); }

#define NOT_MODELLED_POINTER(fn, result)                                 \
  EXPORT const void *fn(void);                                           \
  FUNCTION_RECORD(fn, FUNCTION_VALUE, NULL, 0)                           \
  const void *fn(void) {                                                 \
    unmodelled(&record_##fn, 0);                                         \
    return result;                                                       \
  }

#endif
