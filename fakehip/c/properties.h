/* Device properties: see "Device properties" in the README for the rule. */
#ifndef FAKEHIP_PROPERTIES_H
#define FAKEHIP_PROPERTIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "properties_fields.h"

#define FIELD(offset, type, count, name) type name[count];
struct r0000 {
  PROPERTIES_R0000(FIELD)
};
struct r0600 {
  PROPERTIES_R0600(FIELD)
};
#undef FIELD

/* Write exactly the struct's bytes. */
void properties_r0000(struct r0000 *properties, int device);
void properties_r0600(struct r0600 *properties, int device);

/* False for a number that this version's hipDeviceAttribute_t does not have. */
bool device_attribute(int attribute, int device, int *value);

/* totalGlobalMem of the struct that belongs to this version. */
size_t device_memory_bytes(int device);

#define DEVICE_NAME_BYTES 256
void device_name(char name[DEVICE_NAME_BYTES], int device);
void device_uuid(char uuid[16], int device);

#define MAX_THREADS_PER_BLOCK 1024

#endif
