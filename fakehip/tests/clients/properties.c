#include "check.h"
#include "properties_fields.h"

#define FIELD(offset, type, count, name) type name[count];
typedef struct { PROPERTIES_R0000(FIELD) } old_properties;
typedef struct { PROPERTIES_R0600(FIELD) } new_properties;

/* Every element of four or eight bytes follows the rule or is one of `fixed`;
 * no two of the same width are equal. */
static void check_rule(const unsigned char *bytes, int layout, int device, size_t offset,
                       size_t width, uint64_t *seen, int *count) {
  uint64_t value = 0;
  memcpy(&value, bytes + offset, width);
  for (int i = 0; i < *count; i++) CHECK(seen[i] != value);
  seen[(*count)++] = value;
  uint64_t by_rule = width == 4 ? (uint32_t)fakehip_property_int(layout, device, offset)
                                : fakehip_property_size(layout, device, offset);
  CHECK(value == by_rule || value < 100000);
}

#define EACH(offset, type, count, name)                                             \
  for (size_t i = 0; sizeof(type) > 1 && i < count; i++)                            \
    check_rule((const unsigned char *)p, layout, device, offset + i * sizeof(type), \
               sizeof(type), sizeof(type) == 4 ? words : wides,                     \
               sizeof(type) == 4 ? &word_count : &wide_count);

static void check_new(const new_properties *p, int device) {
  const int layout = 600;
  uint64_t words[1024], wides[64];
  int word_count = 0, wide_count = 0;
  PROPERTIES_R0600(EACH)
  char name[64];
  snprintf(name, sizeof name, "fakehip device %d", device);
  CHECK(strcmp(p->name, name) == 0);
  CHECK(strcmp(p->gcnArchName, "gfx942:sramecc+:xnack-") == 0);
  CHECK(p->warpSize[0] == 64 && p->maxThreadsPerBlock[0] == 1024);
  CHECK(p->multiProcessorCount[0] == 304 + device && p->major[0] == 9 && p->minor[0] == 4);
  CHECK(p->regsPerBlock[0] == fakehip_property_int(600, device, 304));
  CHECK(p->totalGlobalMem[0] == fakehip_property_size(600, device, 288));
  CHECK(p->hipReserved[31] == fakehip_property_int(600, device, 1032 + 31 * 4));
}

static void check_old(const old_properties *p, int device) {
  const int layout = 0;
  uint64_t words[1024], wides[64];
  int word_count = 0, wide_count = 0;
  PROPERTIES_R0000(EACH)
  CHECK(p->warpSize[0] == 64 && p->gcnArch[0] == 942);
  CHECK(p->clockRate[0] == fakehip_property_int(0, device, 308));
}

int main(void) {
  CHECK(sizeof(old_properties) == 792 && sizeof(new_properties) == 1472);
  static FAKEHIP_GUARDED(new_properties) fresh;
  static FAKEHIP_GUARDED(old_properties) legacy;
  for (int device = 0; device < 2; device++) {
#if HIP_MAJOR >= 6
    FAKEHIP_GUARD(fresh);
    IS(0, hipGetDevicePropertiesR0600(&fresh.value, device));
    CHECK(FAKEHIP_GUARD_BROKEN(fresh) == 0);
    check_new(&fresh.value, device);
#if HIP_MAJOR > 6 || HIP_MINOR > 0 /* which 6.0 is not known to export */
    FAKEHIP_GUARD(legacy);
    IS(0, hipGetDevicePropertiesR0000(&legacy.value, device));
    CHECK(FAKEHIP_GUARD_BROKEN(legacy) == 0);
    check_old(&legacy.value, device);
#endif
#else
    (void)check_new, (void)fresh;
#endif
    FAKEHIP_GUARD(legacy);
    IS(0, hipGetDeviceProperties(&legacy.value, device));
    CHECK(FAKEHIP_GUARD_BROKEN(legacy) == 0);
    check_old(&legacy.value, device);

    int value;
    IS(0, hipDeviceGetAttribute(&value, 87, device));
    CHECK(value == 64);
    IS(0, hipDeviceGetAttribute(&value, 19, device)); /* L2CacheSize */
    CHECK(value == (HIP_MAJOR >= 6 ? fakehip_property_int(600, device, 616)
                                   : fakehip_property_int(0, device, 340)));
    IS(0, hipDeviceGetAttribute(&value, 10014, device)); /* ImageSupport: no field */
    CHECK(value == fakehip_attribute_int(device, 10014));
  }
  /* An error leaves the struct alone; a wrong struct breaks the canaries. */
  FAKEHIP_GUARD(legacy);
  IS(INVALID_DEVICE, hipGetDeviceProperties(&legacy.value, 2));
  CHECK(FAKEHIP_GUARD_UNTOUCHED(legacy) && FAKEHIP_GUARD_BROKEN(legacy) == 0);
  IS(INVALID_VALUE, hipGetDeviceProperties(NULL, 0));
#if HIP_MAJOR >= 6
  IS(0, hipGetDevicePropertiesR0600(&legacy.value, 0));
  CHECK(FAKEHIP_GUARD_BROKEN(legacy) == 1472 - 792);
  IS(INVALID_VALUE, hipGetDevicePropertiesR0600(NULL, 0));
#endif
  int value;
  IS(INVALID_VALUE, hipDeviceGetAttribute(&value, 9999, 0));
  IS(INVALID_VALUE, hipDeviceGetAttribute(NULL, 87, 0));
  return 0;
}
