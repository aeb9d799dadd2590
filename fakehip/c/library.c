/* Loading libraries. What is in one is not modelled: the handle is good for nothing.
 * Options and their values are arrays, as since the release of 7.1 (a snapshot of
 * its headers has one indirection more). */
#include "call.h"
#include "given.h"

typedef struct library *hipLibrary_t;

#define KEEP_OPTIONS()                                                       \
  do {                                                                       \
    given_array(2, jit_options, jit_count, sizeof *jit_options);             \
    given_array(3, jit_values, jit_count, sizeof *jit_values);               \
    given_array(5, library_options, library_count, sizeof *library_options); \
    given_array(6, library_values, library_count, sizeof *library_values);   \
  } while (0)

static hipError_t load(hipLibrary_t *library, const void *source, bool has_options) {
  if (!library || !source || !has_options) return hipErrorInvalidValue;
  *library = fake_opaque();
  return hipSuccess;
}

#define HAS_OPTIONS()                                         \
  ((jit_count == 0 || (jit_options && jit_values)) &&         \
   (library_count == 0 || (library_options && library_values)))

HIP(hipLibraryLoadData, (out, hipLibrary_t, library), (in, const void *, code),
    (raw, const int *, jit_options), (raw, void **, jit_values), (in, unsigned, jit_count),
    (raw, const int *, library_options), (raw, void **, library_values),
    (in, unsigned, library_count)) {
  KEEP_OPTIONS();
  return load(library, code, HAS_OPTIONS());
}

HIP(hipLibraryLoadFromFile, (out, hipLibrary_t, library), (in, const char *, file),
    (raw, const int *, jit_options), (raw, void **, jit_values), (in, unsigned, jit_count),
    (raw, const int *, library_options), (raw, void **, library_values),
    (in, unsigned, library_count)) {
  KEEP_OPTIONS();
  return load(library, file, HAS_OPTIONS());
}
