/* A library that calls HIP: linked with the runtime itself, as a PyTorch extension
 * is, or with -DHIPLAZY through hiplazy, as the library that is opened globally. */
#include "reading.h"

#ifdef HIPLAZY
#define HIP(name) hiplazy_##name
#else
#define HIP(name) name
#endif

int HIP(hipGetDevicePropertiesR0600)(void *properties, int device);

void read_device(struct reading *reading)
{
    read_properties(reading, HIP(hipGetDevicePropertiesR0600));
}

#ifdef HIPLAZY
int HIP(hipRuntimeGetVersion)(int *version);

int runtime_version(int *version)
{
    return HIP(hipRuntimeGetVersion)(version);
}
#endif
