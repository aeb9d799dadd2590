/* Preloaded: a profiler as rocprofiler-register knows them, which gives a machine
 * without GPUs the properties of a device.
 *
 * HIP hands rocprofiler-register its dispatch table when it starts. That library takes
 * rocprofiler_configure in the global scope for the sign of a tool, and gives
 * rocprofiler_set_api_table the tables of each ROCm library
 * (rocprofiler_register.cpp). From then on every public call of HIP goes where the
 * tool wants.
 *
 * With TOOL_REPLACE set the tool replaces its entries as soon as it is given the table,
 * as real ones do; without it, when tool_replace is called.
 */
#include "tool.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* HIP's table begins with its size in bytes; function pointers follow, in an order
 * that never changes. These are the numbers of the entries (struct HipDispatchTable,
 * hip/amd_detail/hip_api_trace.hpp of HIP 7.2.4). */
#define PROPERTIES_INDEX 106      /* hipGetDevicePropertiesR0600_fn */
#define POINTER_INDEX 323         /* hipPointerGetAttributes_fn */
#define ADD_FILL_INDEX 429        /* hipDrvGraphAddMemsetNode_fn */

static void **table;
static struct tool_fill given_fill;

static int properties_of(struct tool_properties *properties, int device)
{
    (void)device;
    for (size_t i = 0; i < TOOL_PROPERTIES_BYTES; i++)
        properties->bytes[i] = tool_byte(i);
    return 0;
}

static int describe(struct tool_pointer *attributes, void *pointer)
{
    *attributes = (struct tool_pointer){
        .type = 2, .device = TOOL_DEVICE, .device_pointer = pointer, .flags = TOOL_FLAGS};
    return 0;
}

static int add_fill(void **node, void *graph, void *const *dependencies, size_t count,
                    const struct tool_fill *fill, void *context)
{
    (void)graph, (void)dependencies, (void)count, (void)context;
    *node = node;
    given_fill = *fill;
    return 0;
}

const struct tool_fill *tool_given_fill(void)
{
    return &given_fill;
}

int tool_replace(void)
{
    int (*properties)(struct tool_properties *, int) = properties_of;
    int (*pointer)(struct tool_pointer *, void *) = describe;
    int (*fill)(void **, void *, void *const *, size_t, const struct tool_fill *, void *) = add_fill;
    size_t bytes;
    if (!table)
        return 0;
    memcpy(&bytes, table, sizeof bytes);
    if (bytes < (ADD_FILL_INDEX + 1) * sizeof *table)
        return 0;
    memcpy(&table[PROPERTIES_INDEX], &properties, sizeof properties);
    memcpy(&table[POINTER_INDEX], &pointer, sizeof pointer);
    memcpy(&table[ADD_FILL_INDEX], &fill, sizeof fill);
    return 1;
}

/* NULL says that the tool wants no service of rocprofiler's own. */
void *rocprofiler_configure(uint32_t version, const char *runtime, uint32_t priority, void *client)
{
    (void)version, (void)runtime, (void)priority, (void)client;
    return NULL;
}

int rocprofiler_set_api_table(const char *name, uint64_t version, uint64_t instance, void **tables,
                              uint64_t count)
{
    (void)version, (void)instance;
    if (!strcmp(name, "hip") && count) {
        table = tables[0];
        if (getenv("TOOL_REPLACE"))
            tool_replace();
    }
    return 0;
}
