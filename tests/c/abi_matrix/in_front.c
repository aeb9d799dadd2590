/* Preloaded, in front of a fake runtime: functions with results that the fake never gives.
 *
 *   -DFAILS     write into every place, and fail with 719
 *   -DSILENT    succeed and write nothing
 *   -DANSWERS   answer as a tracing tool may, with what no runtime says
 */
#include <stddef.h>
#include <string.h>

#if defined FAILS
/* Each place that is a number or a struct begins with as many bytes. */
static int result(void *place)
{
    if (place)
        memset(place, 0x11, 4);
    return 719; /* hipErrorLaunchFailure */
}
#elif defined SILENT
static int result(void *place)
{
    (void)place;
    return 0;
}
#endif

#if defined FAILS || defined SILENT
int hipPointerGetAttribute(void *data, int attribute, void *pointer)
{
    (void)attribute;
    (void)pointer;
    return result(data);
}

int hipDrvPointerGetAttributes(unsigned count, int *attributes, void **data, void *pointer)
{
    (void)attributes;
    (void)pointer;
    return result(count ? data[0] : NULL);
}
#endif

#ifdef FAILS
int hipGetDeviceFlags(unsigned *flags) { return result(flags); }
int hipCtxGetFlags(unsigned *flags) { return result(flags); }

int hipDevicePrimaryCtxGetState(int device, unsigned *flags, int *active)
{
    (void)device;
    return result(active) | result(flags);
}

int hipGraphNodeGetType(void *node, int *type)
{
    (void)node;
    return result(type);
}

int hipMemGetAllocationPropertiesFromHandle(void *properties, void *handle)
{
    (void)handle;
    return result(properties);
}

int hipPointerGetAttributes(void *attributes, const void *pointer)
{
    (void)pointer;
    return result(attributes);
}

int hipGraphKernelNodeGetAttribute(void *node, int attribute, void *value)
{
    (void)node;
    (void)attribute;
    return result(value);
}

int hipGraphMemAllocNodeGetParams(void *node, void *parameters)
{
    (void)node;
    return result(parameters);
}

/* hipMemAllocNodeParams.dptr, in every version. */
int hipGraphAddMemAllocNode(void *node, void *graph, void *on, size_t count, char *parameters)
{
    (void)node;
    (void)graph;
    (void)on;
    (void)count;
    return result(parameters ? parameters + 112 : NULL);
}

int hipGetDeviceProperties(void *properties, int device)
{
    (void)device;
    return result(properties);
}

int hipGetDeviceProperties_v2(void *properties, int device)
{
    (void)device;
    return result(properties);
}
#endif

#ifdef ANSWERS
/* Of the versions since 6.0: memory of a device of a number that no fake has. */
int hipPointerGetAttributes(void *attributes, const void *pointer)
{
    int kind_and_device[] = {2, 77};
    (void)pointer;
    memcpy(attributes, kind_and_device, sizeof kind_and_device);
    return 0;
}

/* The struct of HIP 5 begins with the name as the newer one does. */
int hipGetDeviceProperties(void *properties, int device)
{
    (void)device;
    memcpy(properties, "interposed", sizeof "interposed");
    return 0;
}
#endif
