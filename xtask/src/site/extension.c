/* A library that asks how large a block may be before it launches a kernel. It is
 * compiled with headers of HIP 6 or newer: hipGetDeviceProperties is a macro there. */
#include <string.h>

/* hipDeviceProp_tR0600: 1472 bytes, maxThreadsPerBlock at 320 (hip_runtime_api.h). */
struct properties {
    _Alignas(8) char bytes[1472];
};

int hipGetDevicePropertiesR0600(struct properties *properties, int device);
int hipMalloc(void **memory, unsigned long bytes);

int largest_block(void)
{
    struct properties properties = {{0}};
    int threads = -1;
    if (hipGetDevicePropertiesR0600(&properties, 0) == 0)
        memcpy(&threads, properties.bytes + 320, sizeof threads);
    return threads;
}

int scratch(void **memory)
{
    return hipMalloc(memory, 4096);
}
