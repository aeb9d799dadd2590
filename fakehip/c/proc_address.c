/* Looking functions up by name. */
#include <string.h>

#include "call.h"

/* hipDriverProcAddressQueryResult */
enum { FOUND = 0, NOT_FOUND = 1 };

enum {
  /* hipEnablePerThreadDefaultStream */
  PER_THREAD_STREAM = 2,
};

static struct function_record *look_up(const char *symbol, int version, bool per_thread) {
  char name[128];
  size_t length = strlen(symbol);
  if (length + sizeof "R0600" > sizeof name) return NULL;
  /* Callers name the function as they spell it; which ABI that means is in
   * the version they pass (600 or, as HIP_VERSION, 60000000). */
  int major = version >= 10000000 ? version / 10000000 : version / 100;
  memcpy(name, symbol, length + 1);
  if (major >= 6 && (strcmp(symbol, "hipGetDeviceProperties") == 0 ||
                     strcmp(symbol, "hipChooseDevice") == 0))
    strcpy(name + length, "R0600");
  if (per_thread) {
    strcpy(name + length, "_spt");
    struct function_record *found = fake_function(name);
    if (found) return found;
    name[length] = 0;
  }
  return fake_function(name);
}

static hipError_t proc_address(const char *symbol, void **pointer, int version, uint64_t flags,
                               unsigned *status, bool per_thread) {
  if (!symbol || !*symbol || !pointer || flags > PER_THREAD_STREAM) return hipErrorInvalidValue;
  struct function_record *found = look_up(symbol, version, per_thread || flags == PER_THREAD_STREAM);
  *pointer = found ? found->address : NULL;
  if (status) *status = found ? FOUND : NOT_FOUND;
  return found ? hipSuccess : hipErrorNotFound;
}

HIP(hipGetProcAddress, (in, const char *, symbol), (out, void *, pointer), (in, int, version),
    (hex, uint64_t, flags), (out, unsigned, status)) {
  return proc_address(symbol, pointer, version, flags, status, false);
}

HIP(hipGetProcAddress_spt, (in, const char *, symbol), (out, void *, pointer), (in, int, version),
    (hex, uint64_t, flags), (out, unsigned, status)) {
  return proc_address(symbol, pointer, version, flags, status, true);
}

/* Without a version of the caller's: the runtime's own. */
static int own_version(void) { return fake_model.version; }

HIP(hipGetDriverEntryPoint, (in, const char *, symbol), (out, void *, pointer),
    (hex, unsigned long long, flags), (out, unsigned, status)) {
  return proc_address(symbol, pointer, own_version(), flags, status, false);
}

HIP(hipGetDriverEntryPoint_spt, (in, const char *, symbol), (out, void *, pointer),
    (hex, unsigned long long, flags), (out, unsigned, status)) {
  return proc_address(symbol, pointer, own_version(), flags, status, true);
}
