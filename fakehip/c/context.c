/* Contexts: HIP keeps the driver API's names, one primary context per device. */
#include "call.h"
#include "heap.h"

/* A context handle is the device's number behind an offset that no pointer has. */
static hipCtx_t primary(int device) { return (hipCtx_t)(uintptr_t)(0x1000 + device); }

static int context_device(hipCtx_t context) {
  uintptr_t number = (uintptr_t)context - 0x1000;
  return number < (uintptr_t)device_count() ? (int)number : -1;
}

HIP(hipDevicePrimaryCtxRetain, (out, hipCtx_t, context), (in, hipDevice_t, device)) {
  if (!context) return hipErrorInvalidValue;
  if (!is_device(device)) return hipErrorInvalidDevice;
  *context = primary(device);
  return hipSuccess;
}

HIP(hipDevicePrimaryCtxRelease, (in, hipDevice_t, device)) {
  return is_device(device) ? hipSuccess : hipErrorInvalidDevice;
}

HIP(hipDevicePrimaryCtxGetState, (in, hipDevice_t, device), (out, unsigned, flags),
    (out, int, active)) {
  if (!flags || !active) return hipErrorInvalidValue;
  if (!is_device(device)) return hipErrorInvalidDevice;
  *flags = fake_device_flags[device];
  *active = fake_thread.device == device;
  return hipSuccess;
}

HIP(hipDevicePrimaryCtxSetFlags, (in, hipDevice_t, device), (hex, unsigned, flags)) {
  if (!is_device(device)) return hipErrorInvalidDevice;
  fake_device_flags[device] = flags;
  return hipSuccess;
}

/* A device has one context: another one is the same again, with its flags. */
HIP(hipCtxCreate, (out, hipCtx_t, context), (hex, unsigned, flags), (in, hipDevice_t, device)) {
  if (!context) return hipErrorInvalidValue;
  if (!is_device(device)) return hipErrorInvalidDevice;
  fake_device_flags[device] = flags;
  fake_thread.device = device;
  *context = primary(device);
  return hipSuccess;
}

HIP(hipCtxGetFlags, (out, unsigned, flags)) {
  if (!flags) return hipErrorInvalidValue;
  *flags = fake_device_flags[fake_thread.device];
  return hipSuccess;
}

/* `int *` in headers before 7.0, the same size. */
HIP(hipCtxGetApiVersion, (in, hipCtx_t, context), (out, unsigned, version)) {
  if (!version) return hipErrorInvalidValue;
  if (context && context_device(context) < 0) return hipErrorInvalidContext;
  *version = 4;
  return hipSuccess;
}

HIP(hipCtxGetCurrent, (out, hipCtx_t, context)) {
  if (!context) return hipErrorInvalidValue;
  *context = primary(fake_thread.device);
  return hipSuccess;
}

HIP(hipCtxSetCurrent, (in, hipCtx_t, context)) {
  if (!context) return hipSuccess;
  int device = context_device(context);
  if (device < 0) return hipErrorInvalidContext;
  fake_thread.device = device;
  return hipSuccess;
}

HIP(hipCtxGetDevice, (out, hipDevice_t, device)) {
  if (!device) return hipErrorInvalidValue;
  *device = fake_thread.device;
  return hipSuccess;
}

HIP_NO_ARGS(hipCtxSynchronize) { return hipSuccess; }
