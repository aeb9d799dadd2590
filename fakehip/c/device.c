/* Initialisation, versions, devices and their properties. */
#include <stdio.h>
#include <string.h>

#include "call.h"
#include "properties.h"

HIP(hipInit, (hex, unsigned, flags)) { return flags ? hipErrorInvalidValue : hipSuccess; }

HIP_ALWAYS(hipRuntimeGetVersion, (out, int, version)) {
  if (!version) return hipErrorInvalidValue;
  *version = fake_model.runtime_version;
  return hipSuccess;
}

HIP_ALWAYS(hipDriverGetVersion, (out, int, version)) {
  if (!version) return hipErrorInvalidValue;
  *version = fake_model.runtime_version;
  return hipSuccess;
}

HIP_ALWAYS(hipGetDeviceCount, (out, int, count)) {
  if (!count) return hipErrorInvalidValue;
  *count = device_count();
  return *count ? hipSuccess : hipErrorNoDevice;
}

HIP_HOT(hipGetDevice, (out, int, device)) {
  if (unlikely(!device)) return hipErrorInvalidValue;
  *device = fake_thread.device;
  return hipSuccess;
}

HIP(hipSetDevice, (in, int, device)) {
  if (!is_device(device)) return hipErrorInvalidDevice;
  fake_thread.device = device;
  return hipSuccess;
}

HIP(hipDeviceGet, (out, hipDevice_t, device), (in, int, ordinal)) {
  if (!device) return hipErrorInvalidValue;
  if (!is_device(ordinal)) return hipErrorInvalidDevice;
  *device = ordinal;
  return hipSuccess;
}

HIP(hipDeviceGetName, (raw, char *, name), (in, int, size), (in, hipDevice_t, device)) {
  if (!is_device(device)) return hipErrorInvalidDevice;
  if (!name || size <= 0) return hipErrorInvalidValue;
  char text[DEVICE_NAME_BYTES];
  device_name(text, device);
  snprintf(name, (size_t)size, "%s", text);
  return hipSuccess;
}

HIP(hipDeviceGetUuid, (out, hipUUID, uuid), (in, hipDevice_t, device)) {
  if (!uuid) return hipErrorInvalidValue;
  if (!is_device(device)) return hipErrorInvalidDevice;
  device_uuid(uuid->bytes, device);
  return hipSuccess;
}

HIP(hipDeviceTotalMem, (out, size_t, bytes), (in, hipDevice_t, device)) {
  if (!bytes) return hipErrorInvalidValue;
  if (!is_device(device)) return hipErrorInvalidDevice;
  *bytes = device_memory_bytes(device);
  return hipSuccess;
}

HIP(hipDeviceComputeCapability, (out, int, major), (out, int, minor), (in, hipDevice_t, device)) {
  if (!major || !minor) return hipErrorInvalidValue;
  if (!is_device(device)) return hipErrorInvalidDevice;
  *major = 9;
  *minor = 4;
  return hipSuccess;
}

HIP(hipDeviceGetAttribute, (out, int, value), (in, int, attribute), (in, int, device)) {
  if (!value) return hipErrorInvalidValue;
  if (!is_device(device)) return hipErrorInvalidDevice;
  return device_attribute(attribute, device, value) ? hipSuccess : hipErrorInvalidValue;
}

/* domain:bus:device.function, as hipDeviceGetPCIBusId writes it. */
static void pci_bus_id(char text[32], int device) {
  snprintf(text, 32, "0003:%02x:01.0", 128 + device);
}

HIP(hipDeviceGetPCIBusId, (raw, char *, text), (in, int, size), (in, int, device)) {
  if (!text || size <= 0) return hipErrorInvalidValue;
  if (!is_device(device)) return hipErrorInvalidDevice;
  char full[32];
  pci_bus_id(full, device);
  snprintf(text, (size_t)size, "%s", full);
  return hipSuccess;
}

HIP(hipDeviceGetByPCIBusId, (out, int, device), (in, const char *, text)) {
  if (!device || !text) return hipErrorInvalidValue;
  for (int candidate = 0; candidate < device_count(); candidate++) {
    char full[32];
    pci_bus_id(full, candidate);
    if (strcmp(full, text) == 0) {
      *device = candidate;
      return hipSuccess;
    }
  }
  return hipErrorInvalidValue;
}

HIP(hipGetDevicePropertiesR0600, (fill, struct r0600, properties), (in, int, device)) {
  if (!properties) return hipErrorInvalidValue;
  if (!is_device(device)) return hipErrorInvalidDevice;
  properties_r0600(properties, device);
  return hipSuccess;
}

HIP(hipGetDevicePropertiesR0000, (fill, struct r0000, properties), (in, int, device)) {
  if (!properties) return hipErrorInvalidValue;
  if (!is_device(device)) return hipErrorInvalidDevice;
  properties_r0000(properties, device);
  return hipSuccess;
}

/* The unsuffixed names are the 792-byte ones in every version. */
HIP_ALIAS(hipGetDeviceProperties, hipGetDevicePropertiesR0000,
          (fill, struct r0000, properties), (in, int, device))

/* Exported by the derivative DTK only. */
HIP(hipGetDeviceProperties_v2, (fill, struct dtk_v2, properties), (in, int, device)) {
  if (!properties) return hipErrorInvalidValue;
  if (!is_device(device)) return hipErrorInvalidDevice;
  properties_dtk_v2(properties, device);
  return hipSuccess;
}

/* Devices do not differ in what a caller may ask for, except in their memory. */
static hipError_t choose(int *device, size_t wanted_memory) {
  *device = 0;
  for (int candidate = 0; candidate < device_count(); candidate++) {
    if (device_memory_bytes(candidate) >= wanted_memory) {
      *device = candidate;
      break;
    }
  }
  return hipSuccess;
}

HIP(hipChooseDeviceR0600, (out, int, device), (given, struct r0600, properties)) {
  if (!device || !properties) return hipErrorInvalidValue;
  return choose(device, properties->totalGlobalMem[0]);
}

HIP(hipChooseDeviceR0000, (out, int, device), (given, struct r0000, properties)) {
  if (!device || !properties) return hipErrorInvalidValue;
  return choose(device, properties->totalGlobalMem[0]);
}

HIP_ALIAS(hipChooseDevice, hipChooseDeviceR0000, (out, int, device),
          (given, struct r0000, properties))

HIP(hipChooseDevice_v2, (out, int, device), (given, struct dtk_v2, properties)) {
  if (!device || !properties) return hipErrorInvalidValue;
  return choose(device, properties->r0600.totalGlobalMem[0]);
}

/* Everything runs at once, so there is never anything to wait for. */
HIP_NO_ARGS(hipDeviceSynchronize) { return hipSuccess; }

HIP(hipSetDeviceFlags, (hex, unsigned, flags)) {
  if (flags & ~0x7fu) return hipErrorInvalidValue;
  fake_device_flags[fake_thread.device] = flags;
  return hipSuccess;
}

HIP(hipGetDeviceFlags, (out, unsigned, flags)) {
  if (!flags) return hipErrorInvalidValue;
  *flags = fake_device_flags[fake_thread.device];
  return hipSuccess;
}

HIP(hipDeviceCanAccessPeer, (out, int, can), (in, int, device), (in, int, peer)) {
  if (!can) return hipErrorInvalidValue;
  if (!is_device(device) || !is_device(peer)) return hipErrorInvalidDevice;
  *can = device != peer;
  return hipSuccess;
}

HIP(hipDeviceGetStreamPriorityRange, (out, int, least), (out, int, greatest)) {
  if (least) *least = 1;
  if (greatest) *greatest = -1;
  return hipSuccess;
}

/* In elements of the format; all channels have the size of the first. */
HIP(hipDeviceGetTexture1DLinearMaxWidth, (out, size_t, width),
    (given, hipChannelFormatDesc, format), (in, int, device)) {
  if (!width || !format || format->x <= 0) return hipErrorInvalidValue;
  if (!is_device(device)) return hipErrorInvalidDevice;
  int channels = 1 + (format->y > 0) + (format->z > 0) + (format->w > 0);
  *width = ((size_t)1 << 32) / (size_t)(format->x * channels);
  return hipSuccess;
}
