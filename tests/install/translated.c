/* Calls functions whose arguments changed, by their plain names, as a program with the
 * headers of HEADERS (major and minor, 604) has them. Prints the type of device memory in
 * those headers' numbers, and the fill node that the runtime at argv[1] was given. */
#include <dlfcn.h>
#include <fakehip.h>
#include <stdio.h>

#ifdef PREFIXED
#define hipMalloc hiplazy_hipMalloc
#define hipPointerGetAttributes hiplazy_hipPointerGetAttributes
#define hipDrvGraphAddMemsetNode hiplazy_hipDrvGraphAddMemsetNode
#endif

/* hipPointerAttribute_t */
struct attributes {
    unsigned type;
    int device;
    void *device_pointer, *host_pointer;
    int is_managed;
    unsigned flags;
};

/* HIP_MEMSET_NODE_PARAMS, or hipMemsetParams since 7.0 */
#if HEADERS >= 700
struct fill {
    void *dst;
    unsigned element_size;
    size_t height, pitch;
    unsigned value;
    size_t width;
};
#else
struct fill {
    void *dst;
    size_t pitch;
    unsigned value, element_size;
    size_t width, height;
};
#endif

int hipMalloc(void **pointer, size_t size);
int hipPointerGetAttributes(struct attributes *attributes, const void *pointer);
int hipDrvGraphAddMemsetNode(void **node, void *graph, void *const *dependencies, size_t count,
                             const struct fill *fill, void *context);

int main(int argc, char **argv)
{
    void *pointer, *node, *runtime;
    struct attributes attributes = {.type = 77};
    struct fill fill = {
        .dst = &fill, .element_size = 4, .height = 3, .pitch = 512, .value = 0x55, .width = 100};
    unsigned char given[64];
    if (argc != 2 || hipMalloc(&pointer, 64))
        return 1;
    int status = hipPointerGetAttributes(&attributes, pointer);
    printf("%d %u", status, attributes.type);
    hipDrvGraphAddMemsetNode(&node, &node, NULL, 0, &fill, NULL);
    runtime = dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD);
    size_t (*what)(const char *, unsigned, void *, size_t);
    *(void **)&what = runtime ? dlsym(runtime, "fakehip_given") : NULL;
    if (!what)
        return 2;
    size_t size = what("hipDrvGraphAddMemsetNode", 4, given, sizeof given);
    printf(" %zu", size);
    for (size_t i = sizeof(void *); i < size; i++)
        printf("%s%02x", i == sizeof(void *) ? " " : "", given[i]);
    putchar('\n');
    return 0;
}
