#include "properties.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "../include/fakehip.h"
#include "attribute_fields.h"
#include "state.h"

#define CHECK_0000(offset, type, count, name) \
  _Static_assert(offsetof(struct r0000, name) == offset, "hipDeviceProp_tR0000." #name);
#define CHECK_0600(offset, type, count, name) \
  _Static_assert(offsetof(struct r0600, name) == offset, "hipDeviceProp_tR0600." #name);
PROPERTIES_R0000(CHECK_0000)
PROPERTIES_R0600(CHECK_0600)
_Static_assert(sizeof(struct r0000) == PROPERTIES_R0000_BYTES, "hipDeviceProp_tR0000");
_Static_assert(sizeof(struct r0600) == PROPERTIES_R0600_BYTES, "hipDeviceProp_tR0600");

/* Between fields, where the C compiler pads. */
#define PADDING 0xA5

struct field {
  uint16_t offset, width, count;
};

#define ENTRY_0000(offset, type, count, name) {offset, sizeof(type), count},
#define ENTRY_0600(offset, type, count, name) {offset, sizeof(type), count},
static const struct field fields_0000[] = {PROPERTIES_R0000(ENTRY_0000)};
static const struct field fields_0600[] = {PROPERTIES_R0600(ENTRY_0600)};

static void apply_rule(unsigned char *bytes, int layout, int device, const struct field *fields,
                       size_t field_count) {
  for (size_t i = 0; i < field_count; i++) {
    for (size_t element = 0; element < fields[i].count; element++) {
      size_t offset = fields[i].offset + element * fields[i].width;
      int word = fakehip_property_int(layout, device, offset);
      uint64_t wide = fakehip_property_size(layout, device, offset);
      switch (fields[i].width) {
        case 4: memcpy(bytes + offset, &word, 4); break;
        case 8: memcpy(bytes + offset, &wide, 8); break;
        default: bytes[offset] = 0; break; /* texts, written by their own rule */
      }
    }
  }
}

void device_name(char name[DEVICE_NAME_BYTES], int device) {
  memset(name, 0, DEVICE_NAME_BYTES);
  snprintf(name, DEVICE_NAME_BYTES, "fakehip device %d", device);
}

void device_uuid(char uuid[16], int device) {
  char text[32];
  snprintf(text, sizeof text, "FAKEHIP-UUID%04d", device);
  memcpy(uuid, text, 16);
}

/* The exceptions from the rule: what programs compute launches with, and what
 * must be plausible for them to go on. No two values of a struct are equal. */
#define FIXED_VALUES(p, device)                                                \
  do {                                                                         \
    device_name((p)->name, device);                                            \
    strcpy((p)->gcnArchName, "gfx942:sramecc+:xnack-");                        \
    (p)->warpSize[0] = 64;                                                     \
    (p)->maxThreadsPerBlock[0] = MAX_THREADS_PER_BLOCK;                        \
    (p)->maxThreadsPerMultiProcessor[0] = 2048;                                \
    (p)->multiProcessorCount[0] = 304 + (device);                              \
    (p)->sharedMemPerBlock[0] = 65536;                                         \
    (p)->major[0] = 9;                                                         \
    (p)->minor[0] = 4;                                                         \
    (p)->pciDomainID[0] = 3;                                                   \
    (p)->pciBusID[0] = 128 + (device);                                         \
    (p)->pciDeviceID[0] = 1;                                                   \
  } while (0)

void properties_r0000(struct r0000 *properties, int device) {
  memset(properties, PADDING, sizeof *properties);
  apply_rule((unsigned char *)properties, 0, device, fields_0000,
             sizeof fields_0000 / sizeof *fields_0000);
  FIXED_VALUES(properties, device);
  properties->gcnArch[0] = 942;
}

void properties_r0600(struct r0600 *properties, int device) {
  memset(properties, PADDING, sizeof *properties);
  apply_rule((unsigned char *)properties, 600, device, fields_0600,
             sizeof fields_0600 / sizeof *fields_0600);
  FIXED_VALUES(properties, device);
  device_uuid(properties->uuid, device);
  char luid[16];
  snprintf(luid, sizeof luid, "luid%04d", device);
  memcpy(properties->luid, luid, sizeof properties->luid);
}

void properties_dtk_v2(struct dtk_v2 *properties, int device) {
  memset(properties, PADDING, sizeof *properties);
  properties_r0600(&properties->r0600, device);
  properties->gcnArch = 942;
}

size_t device_memory_bytes(int device) {
  return fake_model.major <= 5
             ? fakehip_property_size(0, device, offsetof(struct r0000, totalGlobalMem))
             : fakehip_property_size(600, device, offsetof(struct r0600, totalGlobalMem));
}

struct attribute {
  uint16_t value, first, last;
  struct field r0000, r0600; /* width 0: no such field */
};

#define AT(layout, name, index)                                                    \
  {offsetof(struct layout, name) + (index) * sizeof(((struct layout *)0)->name[0]), \
   sizeof(((struct layout *)0)->name[0]), 1}
#define NO_FIELD {0, 0, 0}
#define ATTRIBUTE(value, name, first, last, old_field, new_field) \
  {value, first, last, old_field, new_field},
static const struct attribute attributes[] = {ATTRIBUTES(ATTRIBUTE)};

bool device_attribute(int number, int device, int *value) {
  int version = fake_model.version / 10000000 * 100 + fake_model.version / 100000 % 100;
  const struct attribute *attribute = NULL;
  for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++)
    if (attributes[i].value == number && attributes[i].first <= version &&
        version <= attributes[i].last)
      attribute = &attributes[i];
  if (!attribute) return false;

  union {
    struct r0000 r0000;
    struct r0600 r0600;
    unsigned char bytes[1];
  } properties;
  struct field field = fake_model.major <= 5 ? attribute->r0000 : attribute->r0600;
  if (field.width == 0) {
    *value = fakehip_attribute_int(device, number);
    return true;
  }
  if (fake_model.major <= 5)
    properties_r0000(&properties.r0000, device);
  else
    properties_r0600(&properties.r0600, device);
  const unsigned char *from = (const unsigned char *)&properties + field.offset;
  if (field.width == 4) {
    memcpy(value, from, 4);
  } else {
    /* As the real runtime: sizes that an int cannot hold are cut, not wrapped. */
    uint64_t wide;
    memcpy(&wide, from, 8);
    *value = wide > INT_MAX ? INT_MAX : (int)wide;
  }
  return true;
}
