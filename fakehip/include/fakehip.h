/*
 * Controls of the fake HIP runtime.
 *
 * libamdhip64 exports these functions on the version node FAKEHIP_1, libhiprtc
 * on FAKEHIPRTC_1. Every library has its own state: to control hiprtc, look
 * the same names up on the handle of libhiprtc.
 *
 * The header needs no HIP header and may be included before or after one.
 * Result codes are plain ints with the values of hipError_t.
 * All functions are thread-safe.
 */
#ifndef FAKEHIP_H
#define FAKEHIP_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Largest device count that can be set. */
#define FAKEHIP_MAX_DEVICES 64

/* --- devices ------------------------------------------------------------ */

/* Number of devices, at first 1 or FAKEHIP_DEVICES. 0 behaves like a machine
 * without a GPU. Returns 0, or -1 if `count` is outside 0..FAKEHIP_MAX_DEVICES. */
int fakehip_set_device_count(int count);
int fakehip_device_count(void);

/* --- what is modelled ---------------------------------------------------- */

/* The number that hipRuntimeGetVersion answers. */
int fakehip_runtime_version(void);

/* 1 the function has real semantics, 0 it answers "not supported",
 * -1 this runtime does not export it. */
int fakehip_modelled(const char *function);

/* --- recording ------------------------------------------------------------ */

/* Turns counting, the log in memory and the launch record on (1) or off (0).
 * Off at first, unless FAKEHIP_RECORD or FAKEHIP_LOG is set. */
void fakehip_record(int on);

/* Calls recorded since the start or the last reset; NULL counts all functions. */
uint64_t fakehip_calls(const char *function);

/* Copies the log's text, NUL-terminated and cut to `size` bytes; returns its
 * full length without the NUL. (NULL, 0) asks for the length only. */
size_t fakehip_log(char *buffer, size_t size);

/* Appends the log to a file as well ("-" is stderr, NULL stops that), and
 * turns recording on. Returns 0, or -1 if the file cannot be opened. */
int fakehip_log_to(const char *path);

/* --- forced errors --------------------------------------------------------- */

/* From its `from_call`-th call on (1 is the next one), `times` calls of
 * `function` answer `code` and do nothing else; `times` 0 means for ever.
 * Rules for the same function are tried in the order they were added.
 * Returns 0, or -1 for a function that this runtime does not export, or one
 * that does not return a result code. */
int fakehip_fail(const char *function, int code, unsigned from_call, unsigned times);

/* Removes all rules. */
void fakehip_fail_clear(void);

/* --- what was given, what to answer ------------------------------------------ */

/*
 * Every recorded call of a modelled function keeps its arguments, under their
 * positions from 0 on: values as they are, texts with their NUL (up to 4096 bytes),
 * a struct behind a pointer as exactly the bytes that this version's struct has, an
 * array as its elements. Of out pointers and NULL nothing is kept. What a struct
 * points to has positions of its own:
 *
 *   FAKEHIP_POINTED_TO  paramsArray of external semaphore node parameters, in the
 *                       functions of these nodes and in hipGraphNodeParams
 */
#define FAKEHIP_POINTED_TO 100

/* Copies up to `size` bytes of an argument of the last recorded call of a function.
 * Returns how many were kept: 0 for none. Calls in several threads at once: of
 * arrays, those of either call. */
size_t fakehip_given(const char *function, unsigned argument, void *bytes, size_t size);

/*
 * What the next successful calls write through an out pointer, in place of what
 * they would write, until it is changed, removed (NULL, 0) or reset. `size` must be
 * that of this version's struct or value. hipPointerGetAttribute takes answers of up
 * to 8 bytes and uses them for attributes of that size, hipDrvPointerGetAttributes
 * likewise for its i-th attribute as argument FAKEHIP_POINTED_TO + i.
 * Returns 0, or -1 for a function that this runtime does not export or model, an
 * argument that is no out pointer, or another size.
 */
int fakehip_answer(const char *function, unsigned argument, const void *bytes, size_t size);

/* --- launches --------------------------------------------------------------- */

#define FAKEHIP_MAX_ARGS 128
#define FAKEHIP_MAX_ARG_BYTES 4096

enum fakehip_args_from {
  FAKEHIP_ARGS_NONE = 0,   /* neither kernelParams nor extra */
  FAKEHIP_ARGS_PARAMS = 1, /* kernelParams: one pointer per argument */
  FAKEHIP_ARGS_EXTRA = 2   /* extra: one packed buffer */
};

struct fakehip_launch {
  uint64_t number;      /* 1 for the first recorded launch */
  char function[80];    /* the HIP function called, such as hipModuleLaunchKernel */
  char kernel[256];     /* the kernel's name */
  uint32_t grid[3];     /* in blocks, whatever unit the function takes */
  uint32_t block[3];    /* in threads */
  uint64_t shared_bytes;
  void *stream;
  int32_t device;       /* the stream's device */
  int32_t args_from;    /* enum fakehip_args_from */
  int32_t arg_count;    /* -1 if the module does not tell the kernel's arguments */
  int32_t truncated;    /* 1 if arguments did not fit in this record */
  uint32_t arg_offset[FAKEHIP_MAX_ARGS]; /* of each argument in bytes[] */
  uint32_t arg_size[FAKEHIP_MAX_ARGS];
  uint32_t byte_count;  /* used part of bytes[] */
  unsigned char bytes[FAKEHIP_MAX_ARG_BYTES]; /* argument values, laid out as a
                           kernel argument buffer; with args_from EXTRA, the buffer */
  void *params;         /* kernelParams or extra as passed */
};

/* Copies the last recorded launch. Returns 1, or 0 if there was none. */
int fakehip_last_launch(struct fakehip_launch *launch);

/* --- leaks ------------------------------------------------------------------- */

enum fakehip_object {
  FAKEHIP_DEVICE_MEMORY = 0,
  FAKEHIP_HOST_MEMORY = 1,
  FAKEHIP_MANAGED_MEMORY = 2,
  FAKEHIP_STREAM = 3,
  FAKEHIP_EVENT = 4,
  FAKEHIP_MODULE = 5,
  FAKEHIP_RTC_PROGRAM = 6
};

/* Objects created and not yet destroyed (an enum fakehip_object). Counted
 * always, with recording off as well. -1 for an unknown kind. */
int64_t fakehip_live(int object);

/* Bytes of device and managed memory in use on a device. */
uint64_t fakehip_used_bytes(int device);

/* Forgets log, counts, launch record, given arguments, answers and forced errors,
 * and takes device count and recording from the environment again. Live objects,
 * device flags and limits stay. */
void fakehip_reset(void);

/* --- device properties --------------------------------------------------------- */

/*
 * Every element of a property struct is computed from the device and the
 * element's byte offset in the struct, so that a test can tell any field of
 * any device from any other, and a wrong layout from the right one. `layout`
 * is 600 for the 1472-byte struct, 0 for the 792-byte one. Exceptions have
 * fixed values: see the README.
 */
static inline int fakehip_property_int(int layout, int device, size_t offset) {
  return (device + 1) * 1000000 + (layout == 600 ? 0 : 500000) + (int)offset;
}

static inline uint64_t fakehip_property_size(int layout, int device, size_t offset) {
  return ((uint64_t)(device + 1) << 36) + (layout == 600 ? 0 : 500000) + offset;
}

/* hipDeviceGetAttribute for attributes that no property field holds. */
static inline int fakehip_attribute_int(int device, int attribute) {
  return (device + 1) * 1000000 + 800000 +
         (attribute >= 10000 ? attribute - 10000 + 1000 : attribute);
}

/* --- canaries -------------------------------------------------------------------- */

/*
 * A value between two guard areas. FAKEHIP_GUARDED(hipDeviceProp_t) prop;
 * FAKEHIP_GUARD(prop); hipGetDeviceProperties(&prop.value, 0);
 * FAKEHIP_GUARD_BROKEN(prop) is then 0, or the number of guard bytes that were
 * overwritten. The value itself is filled with FAKEHIP_UNTOUCHED, so that bytes
 * nobody wrote can be seen.
 */
#define FAKEHIP_CANARY 0xC5
#define FAKEHIP_UNTOUCHED 0xEE
#define FAKEHIP_GUARD_BYTES 2048

#define FAKEHIP_GUARDED(type)                        \
  struct {                                           \
    unsigned char before[FAKEHIP_GUARD_BYTES];       \
    type value;                                      \
    unsigned char after[FAKEHIP_GUARD_BYTES];        \
  }

#define FAKEHIP_GUARD(guarded)                                            \
  do {                                                                    \
    memset((guarded).before, FAKEHIP_CANARY, sizeof((guarded).before));   \
    memset((void *)&(guarded).value, FAKEHIP_UNTOUCHED, sizeof((guarded).value)); \
    memset((guarded).after, FAKEHIP_CANARY, sizeof((guarded).after));     \
  } while (0)

#define FAKEHIP_GUARD_BROKEN(guarded)                                       \
  (fakehip_changed((guarded).before, FAKEHIP_CANARY, sizeof((guarded).before)) + \
   fakehip_changed((guarded).after, FAKEHIP_CANARY, sizeof((guarded).after)))

/* 1 if no byte of the guarded value was written. */
#define FAKEHIP_GUARD_UNTOUCHED(guarded) \
  (fakehip_changed(&(guarded).value, FAKEHIP_UNTOUCHED, sizeof((guarded).value)) == 0)

static inline size_t fakehip_changed(const void *area, unsigned char fill, size_t size) {
  const unsigned char *bytes = (const unsigned char *)area;
  size_t changed = 0;
  for (size_t i = 0; i < size; i++) changed += bytes[i] != fill;
  return changed;
}

#ifdef __cplusplus
}
#endif

#endif
