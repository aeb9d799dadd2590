#include "check.h"
#include "properties.h"

int hipGetDeviceProperties_v2(struct dtk_v2 *, int);
int hipChooseDevice_v2(int *, const struct dtk_v2 *);

int main(void) {
  static FAKEHIP_GUARDED(struct dtk_v2) new;
  static FAKEHIP_GUARDED(struct r0000) old;
  FAKEHIP_GUARD(new);
  FAKEHIP_GUARD(old);
  IS(0, hipGetDeviceProperties_v2(&new.value, 1));
  IS(0, hipGetDeviceProperties(&old.value, 1));
  CHECK(FAKEHIP_GUARD_BROKEN(new) == 0 && FAKEHIP_GUARD_BROKEN(old) == 0);
  const struct r0600 *properties = &new.value.r0600;
  CHECK(strcmp(properties->name, old.value.name) == 0 && properties->warpSize[0] == 64);
  CHECK(properties->regsPerBlock[0] == fakehip_property_int(600, 1, 304));
  CHECK(properties->hipReserved[31] == fakehip_property_int(600, 1, 1032 + 31 * 4));
  CHECK(new.value.gcnArch == 942 && sizeof new.value == 1480);
  IS(INVALID_DEVICE, hipGetDeviceProperties_v2(&new.value, 2));
  IS(INVALID_VALUE, hipGetDeviceProperties_v2(NULL, 0));

  int device = -1;
  fakehip_record(1);
  IS(0, hipChooseDevice_v2(&device, &new.value));
  CHECK(device == 1); /* the first has less memory */
  CHECK(fakehip_given("hipChooseDevice_v2", 1, NULL, 0) == 1480);
  IS(INVALID_VALUE, hipChooseDevice_v2(&device, NULL));
  CHECK(fakehip_modelled("hipGetDevicePropertiesR0600") == -1);
  return 0;
}
