/* Functions with the argument shapes that a dispatcher gets wrong, as SHAPE(name,
 * declaration, arguments): more than six integer arguments, structs by value in
 * registers and on the stack, floats, a struct returned through a hidden pointer.
 *
 * Sizes are those of HIP 7 (x86-64 and AArch64 alike).
 */
#ifndef SHAPES_H
#define SHAPES_H

#include <stddef.h>
#include <stdint.h>

struct dim3 {
    uint32_t x, y, z;
};
struct extent {
    size_t width, height, depth;
};
struct pitched {
    void *ptr;
    size_t pitch, xsize, ysize;
};
struct handle {
    char bytes[64];
};
struct location {
    int type, id;
};
struct channel {
    int x, y, z, w, kind;
};

#define SHAPES(SHAPE)                                                                           \
    SHAPE(int, hipModuleLaunchKernel,                                                           \
          (void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,            \
           unsigned bz, unsigned shared, void *stream, void **params, void **extra),            \
          "%p %u %u %u %u %u %u %u %p %p %p",                                                   \
          (f, gx, gy, gz, bx, by, bz, shared, stream, (void *)params, (void *)extra))           \
    SHAPE(int, hipExtModuleLaunchKernel,                                                        \
          (void *f, uint32_t gx, uint32_t gy, uint32_t gz, uint32_t lx, uint32_t ly,            \
           uint32_t lz, size_t shared, void *stream, void **params, void **extra, void *start,  \
           void *stop, uint32_t flags),                                                         \
          "%p %u %u %u %u %u %u %zu %p %p %p %p %p %u",                                         \
          (f, gx, gy, gz, lx, ly, lz, shared, stream, (void *)params, (void *)extra, start,     \
           stop, flags))                                                                        \
    SHAPE(int, hipLaunchKernel,                                                                 \
          (const void *f, struct dim3 grid, struct dim3 block, void **args, size_t shared,      \
           void *stream),                                                                       \
          "%p %u %u %u %u %u %u %p %zu %p",                                                     \
          (f, grid.x, grid.y, grid.z, block.x, block.y, block.z, (void *)args, shared, stream)) \
    SHAPE(int, __hipPushCallConfiguration,                                                      \
          (struct dim3 grid, struct dim3 block, size_t shared, void *stream),                   \
          "%u %u %u %u %u %u %zu %p",                                                           \
          (grid.x, grid.y, grid.z, block.x, block.y, block.z, shared, stream))                  \
    SHAPE(int, hipMalloc3D, (struct pitched * pitched, struct extent extent), "%p %zu %zu %zu", \
          ((void *)pitched, extent.width, extent.height, extent.depth))                         \
    SHAPE(int, hipMemset3D, (struct pitched pitched, int value, struct extent extent),          \
          "%p %zu %zu %zu %d %zu %zu %zu",                                                      \
          (pitched.ptr, pitched.pitch, pitched.xsize, pitched.ysize, value, extent.width,       \
           extent.height, extent.depth))                                                        \
    SHAPE(int, hipIpcOpenMemHandle, (void **ptr, struct handle handle, unsigned flags),         \
          "%p %.64s %u", ((void *)ptr, handle.bytes, flags))                                    \
    SHAPE(int, hipMemPrefetchAsync_v2,                                                          \
          (const void *ptr, size_t count, struct location location, unsigned flags,             \
           void *stream),                                                                       \
          "%p %zu %d %d %u %p", (ptr, count, location.type, location.id, flags, stream))        \
    SHAPE(int, hipTexRefSetMipmapLevelBias, (void *texture, float bias), "%p %.4f",             \
          (texture, (double)bias))                                                              \
    SHAPE(int, hipTexRefSetMipmapLevelClamp, (void *texture, float low, float high),            \
          "%p %.4f %.4f", (texture, (double)low, (double)high))                                 \
    SHAPE(struct channel, hipCreateChannelDesc, (int x, int y, int z, int w, int kind),         \
          "%d %d %d %d %d", (x, y, z, w, kind))                                                 \
    SHAPE(const char *, hipGetErrorName, (int code), "%d", (code))                              \
    SHAPE(void **, __hipRegisterFatBinary, (const void *data), "%p", (data))

#endif
