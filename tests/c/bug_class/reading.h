/* What a caller of hipGetDevicePropertiesR0600 reads of device 0. */
#ifndef READING_H
#define READING_H

#include <fakehip.h>
#include <stddef.h>
#include <string.h>

/* hipDeviceProp_tR0600: its size and the offsets of what kernels are launched with,
 * the same in HIP 6.0 to 7.14 (hip_runtime_api.h). */
#define PROPERTIES_BYTES 1472
#define WARP_SIZE 308
#define MAX_THREADS_PER_BLOCK 320
#define MULTI_PROCESSOR_COUNT 388
#define GCN_ARCH_NAME 1160

struct properties {
    _Alignas(8) unsigned char bytes[PROPERTIES_BYTES];
};

struct reading {
    int status;
    int warp_size;
    int max_threads_per_block;
    int multi_processor_count;
    char gcn_arch_name[256];
    size_t written; /* where the last byte ends that the call changed */
    size_t broken;  /* bytes changed outside the struct */
};

static inline int int_at(const struct properties *properties, size_t offset)
{
    int value;
    memcpy(&value, properties->bytes + offset, sizeof value);
    return value;
}

static inline void read_properties(struct reading *reading, int (*get)(void *, int))
{
    FAKEHIP_GUARDED(struct properties) guarded;
    const struct properties *properties = &guarded.value;
    size_t written = PROPERTIES_BYTES;

    FAKEHIP_GUARD(guarded);
    reading->status = get(&guarded.value, 0);
    while (written && properties->bytes[written - 1] == FAKEHIP_UNTOUCHED)
        written--;
    reading->written = written;
    reading->broken = FAKEHIP_GUARD_BROKEN(guarded);
    reading->warp_size = int_at(properties, WARP_SIZE);
    reading->max_threads_per_block = int_at(properties, MAX_THREADS_PER_BLOCK);
    reading->multi_processor_count = int_at(properties, MULTI_PROCESSOR_COUNT);
    memcpy(reading->gcn_arch_name, properties->bytes + GCN_ARCH_NAME,
           sizeof reading->gcn_arch_name);
}

#endif
