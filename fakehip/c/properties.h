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

/* hipDeviceProp_t_v2 of Hygon's DTK, 1480 bytes. Public is that it extends the
 * 1472-byte struct by one deprecated field and the padding behind it; that the
 * field is gcnArch, the one that R0600 dropped, and comes last is assumed. */
struct dtk_v2 {
  struct r0600 r0600;
  int gcnArch;
};
_Static_assert(sizeof(struct dtk_v2) == 1480, "hipDeviceProp_t_v2");

/* Write exactly the struct's bytes. */
void properties_r0000(struct r0000 *properties, int device);
void properties_r0600(struct r0600 *properties, int device);
void properties_dtk_v2(struct dtk_v2 *properties, int device);

/* False for a number that this version's hipDeviceAttribute_t does not have. */
bool device_attribute(int attribute, int device, int *value);

/* totalGlobalMem of the struct that belongs to this version. */
size_t device_memory_bytes(int device);

#define DEVICE_NAME_BYTES 256
void device_name(char name[DEVICE_NAME_BYTES], int device);
void device_uuid(char uuid[16], int device);

#define MAX_THREADS_PER_BLOCK 1024

#endif
