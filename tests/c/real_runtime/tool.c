/* Preloaded: a profiler as rocprofiler-register knows them, which gives a machine
 * without GPUs the properties of a device.
 *
 * HIP hands rocprofiler-register its dispatch table when it starts. That library takes
 * rocprofiler_configure in the global scope for the sign of a tool, and gives
 * rocprofiler_set_api_table the tables of each ROCm library
 * (rocprofiler_register.cpp). From then on every public call of HIP goes where the
 * tool wants.
 *
 * With TOOL_REPLACE set the tool replaces its entry as soon as it is given the table,
 * as real ones do; without it, when tool_replace_properties is called.
 */
#include "tool.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* HIP's table begins with its size in bytes; function pointers follow, in an order
 * that never changes. hipGetDevicePropertiesR0600_fn is the 106th of them (struct
 * HipDispatchTable, hip/amd_detail/hip_api_trace.hpp of HIP 7.2.4). */
#define PROPERTIES_INDEX 106

static void **table;

static int replacement(struct tool_properties *properties, int device)
{
    (void)device;
    for (size_t i = 0; i < TOOL_PROPERTIES_BYTES; i++)
        properties->bytes[i] = tool_byte(i);
    return 0;
}

int tool_replace_properties(void)
{
    size_t bytes;
    if (!table)
        return 0;
    memcpy(&bytes, table, sizeof bytes);
    if (bytes < (PROPERTIES_INDEX + 1) * sizeof *table)
        return 0;
    int (*function)(struct tool_properties *, int) = replacement;
    memcpy(&table[PROPERTIES_INDEX], &function, sizeof function);
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
            tool_replace_properties();
    }
    return 0;
}
