/* The preloaded tool library. */
#ifndef TOOL_H
#define TOOL_H

#include <stddef.h>

/* hipDeviceProp_tR0600, in size and alignment. */
#define TOOL_PROPERTIES_BYTES 1472
struct tool_properties {
    _Alignas(8) unsigned char bytes[TOOL_PROPERTIES_BYTES];
};

/* What the tool's device has at each byte of its properties: a value of its place,
 * never 0, so that neither cleared memory nor another layout looks like it. */
static inline unsigned char tool_byte(size_t offset)
{
    return (unsigned char)(offset % 251 + 1);
}

/* hipPointerAttribute_t, the same in every version but for the numbers of its type. */
struct tool_pointer {
    unsigned type;
    int device;
    void *device_pointer, *host_pointer;
    int is_managed;
    unsigned flags;
};

/* hipMemsetParams, what a fill node of the driver's kind is made of since HIP 7.0. */
struct tool_fill {
    void *dst;
    unsigned element_size;
    size_t height, pitch;
    unsigned value;
    size_t width;
};

/* From then on
 * - hipGetDevicePropertiesR0600 fills in tool_byte,
 * - hipPointerGetAttributes says that any pointer is memory of device 3 (of type 2 in
 *   HIP 6 and newer) with these flags,
 * - hipDrvGraphAddMemsetNode keeps what it is given for tool_fill,
 * and all of them succeed. 0 if HIP has given no table yet, or one that ends before. */
#define TOOL_DEVICE 3
#define TOOL_FLAGS 0x1234u
int tool_replace(void);
const struct tool_fill *tool_given_fill(void);

#endif
