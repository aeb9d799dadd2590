/* Makes one call twice: through the cold path, which binds, and through the slot. The
 * runtime prints what it was passed, this program what came back.
 *
 *   shapes NAME...       the first call of the process is NAME's
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "shapes.h"

#define DECLARE(type, name, parameters, format, arguments) extern type hiplazy_##name parameters;
SHAPES(DECLARE)

#define P(number) ((void *)(uintptr_t)(0x7000000000000000 + (number)))
#define PP(number) ((void **)P(number))
#define BIG(number) ((size_t)0x100000000 + (number))

static const struct dim3 grid = {0xfffffff1, 0xfffffff2, 0xfffffff3};
static const struct dim3 block = {4, 5, 6};
static const struct extent extent = {BIG(21), BIG(22), BIG(23)};
static const struct pitched pitched = {P(31), BIG(32), BIG(33), BIG(34)};
static const struct location location = {-1, 0x7fffffff};

static void call(const char *name)
{
    struct handle handle;
    memset(handle.bytes, 'h', sizeof handle.bytes);
    handle.bytes[0] = '<';
    handle.bytes[63] = '>';
    int result = -1;
    if (!strcmp(name, "hipModuleLaunchKernel"))
        result = hiplazy_hipModuleLaunchKernel(P(1), 2, 3, 4, 5, 6, 7, 0xfffffff8, P(9), PP(10),
                                               PP(11));
    else if (!strcmp(name, "hipExtModuleLaunchKernel"))
        result = hiplazy_hipExtModuleLaunchKernel(P(1), 2, 3, 4, 5, 6, 7, BIG(8), P(9), PP(10),
                                                  PP(11), P(12), P(13), 0xffffffff);
    else if (!strcmp(name, "hipLaunchKernel"))
        result = hiplazy_hipLaunchKernel(P(1), grid, block, PP(4), BIG(5), P(6));
    else if (!strcmp(name, "__hipPushCallConfiguration"))
        result = hiplazy___hipPushCallConfiguration(grid, block, BIG(3), P(4));
    else if (!strcmp(name, "hipMalloc3D"))
        result = hiplazy_hipMalloc3D(P(1), extent);
    else if (!strcmp(name, "hipMemset3D"))
        result = hiplazy_hipMemset3D(pitched, -5, extent);
    else if (!strcmp(name, "hipIpcOpenMemHandle"))
        result = hiplazy_hipIpcOpenMemHandle(PP(1), handle, 0xfffffff2);
    else if (!strcmp(name, "hipMemPrefetchAsync_v2"))
        result = hiplazy_hipMemPrefetchAsync_v2(P(1), BIG(2), location, 4, P(5));
    else if (!strcmp(name, "hipTexRefSetMipmapLevelBias"))
        result = hiplazy_hipTexRefSetMipmapLevelBias(P(1), 0.75f);
    else if (!strcmp(name, "hipTexRefSetMipmapLevelClamp"))
        result = hiplazy_hipTexRefSetMipmapLevelClamp(P(1), -1.5f, 1234.5f);
    else if (!strcmp(name, "hipCreateChannelDesc")) {
        struct channel channel = hiplazy_hipCreateChannelDesc(1, 2, 3, 4, 5);
        printf("returned %d %d %d %d %d\n", channel.x, channel.y, channel.z, channel.w,
               channel.kind);
        return;
    } else if (!strcmp(name, "hipGetErrorName")) {
        printf("returned %s\n", hiplazy_hipGetErrorName(-3));
        return;
    } else if (!strcmp(name, "__hipRegisterFatBinary")) {
        void **modules = hiplazy___hipRegisterFatBinary(P(1));
        printf("returned %s\n", modules ? "a pointer" : "NULL");
        return;
    }
    printf("returned %d\n", result);
}

int main(int argc, char **argv)
{
    alarm(60);
    setvbuf(stdout, NULL, _IONBF, 0);
    for (int i = 1; i < argc; i++) {
        call(argv[i]);
        call(argv[i]);
    }
    return 0;
}
