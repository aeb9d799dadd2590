/* Error names and the last error of a thread. */
#include "call.h"

VALUE(const char *, hipGetErrorName, (in, hipError_t, error)) { return fake_error_name(error); }

VALUE(const char *, hipGetErrorString, (in, hipError_t, error)) { return fake_error_text(error); }

HIP_ALWAYS(hipDrvGetErrorName, (in, hipError_t, error), (out, const char *, name)) {
  if (!name) return hipErrorInvalidValue;
  *name = fake_error_name(error);
  return hipSuccess;
}

HIP_ALWAYS(hipDrvGetErrorString, (in, hipError_t, error), (out, const char *, text)) {
  if (!text) return hipErrorInvalidValue;
  *text = fake_error_text(error);
  return hipSuccess;
}

/* Up to 6.4 the result of the last call, whatever it was; since 7.0 the last
 * failure, which a later success does not wipe out. */
static hipError_t *asked_for(void) {
  return fake_model.major >= 7 ? &fake_thread.last_error : &fake_thread.last_command;
}

HIP_LAST_ERROR(hipGetLastError) {
  hipError_t *last = asked_for();
  hipError_t error = *last;
  *last = hipSuccess;
  return error;
}

HIP_LAST_ERROR(hipPeekAtLastError) { return *asked_for(); }

/* The meaning that hipGetLastError had before 7.0. */
HIP_LAST_ERROR(hipExtGetLastError) {
  hipError_t error = fake_thread.last_command;
  fake_thread.last_command = hipSuccess;
  return error;
}
