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

/* Makes hipGetDevicePropertiesR0600 fill in tool_byte and succeed. 0 if HIP has given
 * no table yet, or one that ends before the function's entry. */
int tool_replace_properties(void);

#endif
