/* A library that uses HIP and was linked without it. */
int hipGetDevicePropertiesR0600(void *properties, int device);
int hipMalloc(void **memory, unsigned long bytes);

int first(void **memory)
{
    return hipMalloc(memory, 4096);
}

int (*const ask)(void *, int) = hipGetDevicePropertiesR0600;
