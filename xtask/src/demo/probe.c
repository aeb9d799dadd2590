/* The demo's client: HIP calls through hiplazy, with the answers as "name=value"
 * lines. It links libhiplazy.so and nothing of HIP; the declarations are those of
 * HIP's headers, which a machine without ROCm does not have.
 *
 *   probe calls            what a few representative calls answer
 *   probe work             properties, memory, a module and a launch on device 0
 *   probe runtime NAMES    the runtime and how many of the functions in the file it has
 */
#include <hiplazy/hiplazy.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int hiplazy_hipInit(unsigned flags);
int hiplazy_hipGetDeviceCount(int *count);
int hiplazy_hipSetDevice(int device);
int hiplazy_hipMalloc(void **memory, size_t size);
int hiplazy_hipFree(void *memory);
int hiplazy_hipMemcpy(void *to, const void *from, size_t size, int kind);
int hiplazy_hipRuntimeGetVersion(int *version);
int hiplazy_hipGetDevicePropertiesR0600(void *properties, int device);
int hiplazy_hipGetDeviceProperties(void *properties, int device);
int hiplazy_hipGetLastError(void);
const char *hiplazy_hipGetErrorName(int error);
const char *hiplazy_hipGetErrorString(int error);
int hiplazy_hipModuleLoadData(void **module, const void *image);
int hiplazy_hipModuleUnload(void *module);
int hiplazy_hipModuleGetFunction(void **function, void *module, const char *name);
int hiplazy_hipModuleLaunchKernel(void *function, unsigned grid_x, unsigned grid_y,
                                  unsigned grid_z, unsigned block_x, unsigned block_y,
                                  unsigned block_z, unsigned shared_bytes, void *stream,
                                  void **parameters, void **extra);
int hiplazy_hipDeviceSynchronize(void);
int hiplazy_hiprtcVersion(int *major, int *minor);
int hiplazy_hsa_init(void);

enum { HOST_TO_DEVICE = 1, DEVICE_TO_HOST = 2 };
enum { UNTOUCHED = 0xEE };

static int untouched(const unsigned char *bytes, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        if (bytes[i] != UNTOUCHED)
            return 0;
    return 1;
}

static int int_at(const unsigned char *bytes, size_t offset)
{
    int value;
    memcpy(&value, bytes + offset, sizeof value);
    return value;
}

static void error(const char *call, int code)
{
    printf("%s=%d %s\n", call, code, hiplazy_hipGetErrorName(code));
}

static void calls(void)
{
    int count = -1, version = -1;
    void *memory = NULL, *module = NULL;
    unsigned char properties[4096];
    memset(properties, UNTOUCHED, sizeof properties);

    error("hipInit", hiplazy_hipInit(0));
    error("hipGetDeviceCount", hiplazy_hipGetDeviceCount(&count));
    printf("hipGetDeviceCount.count=%d\n", count);
    error("hipRuntimeGetVersion", hiplazy_hipRuntimeGetVersion(&version));
    printf("hipRuntimeGetVersion.version=%d\n", version);
    error("hipMalloc", hiplazy_hipMalloc(&memory, 16));
    printf("hipMalloc.untouched=%d\n", memory == NULL);
    error("hipGetLastError", hiplazy_hipGetLastError());
    error("hipGetDevicePropertiesR0600", hiplazy_hipGetDevicePropertiesR0600(properties, 0));
    printf("hipGetDevicePropertiesR0600.untouched=%d\n",
           untouched(properties, 0, sizeof properties));
    error("hipModuleLoadData", hiplazy_hipModuleLoadData(&module, ""));
    printf("hipGetErrorString=%s\n", hiplazy_hipGetErrorString(303));
    printf("hiprtcVersion=%d\n", hiplazy_hiprtcVersion(&version, &version));
    printf("hsa_init=%#x\n", (unsigned)hiplazy_hsa_init());
    error("hipMalloc.again", hiplazy_hipMalloc(&memory, 16));
    printf("last_error=%s\n", hiplazy_last_error());
}

/* Offsets of HIP's hipDeviceProp_tR0600 and of the struct before HIP 6. */
struct layout {
    const char *function;
    int (*get)(void *, int);
    size_t size, warp_size, threads, units, bus_width, arch;
};

static const struct layout r0600 = {"hipGetDevicePropertiesR0600",
                                    hiplazy_hipGetDevicePropertiesR0600,
                                    1472, 308, 320, 388, 612, 1160};
static const struct layout legacy = {"hipGetDeviceProperties", hiplazy_hipGetDeviceProperties,
                                     792, 276, 280, 336, 316, 396};

static void properties(const struct layout *layout)
{
    unsigned char bytes[4096];
    const char *name = layout->function;
    memset(bytes, UNTOUCHED, sizeof bytes);
    int code = layout->get(bytes, 0);
    error(name, code);
    printf("%s.behind=%d\n", name, untouched(bytes, layout->size, sizeof bytes));
    if (code == 0)
        printf("%s.values=%.32s, %.6s, warp %d, %d threads, %d units, bus %d\n", name, bytes,
               bytes + layout->arch, int_at(bytes, layout->warp_size),
               int_at(bytes, layout->threads), int_at(bytes, layout->units),
               int_at(bytes, layout->bus_width));
    else
        printf("%s.why=%s\n", name, hiplazy_last_error());
}

static void work(void)
{
    int count = 0, code;
    hiplazy_hipGetDeviceCount(&count);
    printf("devices=%d\n", count);
    hiplazy_hipSetDevice(0);
    properties(&r0600);
    properties(&legacy);

    enum { SIZE = 1 << 20 };
    unsigned char *there = malloc(SIZE), *back = malloc(SIZE);
    void *memory = NULL;
    for (int i = 0; i < SIZE; i++)
        there[i] = (unsigned char)(i * 7 + i / 251);
    memset(back, 0, SIZE);
    code = hiplazy_hipMalloc(&memory, SIZE);
    error("hipMalloc", code);
    if (code == 0) {
        error("hipMemcpy.to", hiplazy_hipMemcpy(memory, there, SIZE, HOST_TO_DEVICE));
        error("hipMemcpy.from", hiplazy_hipMemcpy(back, memory, SIZE, DEVICE_TO_HOST));
        printf("hipMemcpy.equal=%d\n", !memcmp(there, back, SIZE));
    }
    free(there);
    free(back);

    /* The fake runtime's text format of a module (fakehip/README.md). */
    const char *image = "FAKEHIP MODULE 1\nkernel scale 8 4 4\nend\n";
    void *module = NULL, *function = NULL;
    float factor = 1.5f;
    int length = 1024;
    void *parameters[] = {&memory, &factor, &length};
    error("hipModuleLoadData", hiplazy_hipModuleLoadData(&module, image));
    error("hipModuleGetFunction", hiplazy_hipModuleGetFunction(&function, module, "scale"));
    error("hipModuleLaunchKernel",
          hiplazy_hipModuleLaunchKernel(function, 8, 4, 2, 128, 1, 1, 256, NULL, parameters, NULL));
    error("hipDeviceSynchronize", hiplazy_hipDeviceSynchronize());
    error("hipModuleUnload", hiplazy_hipModuleUnload(module));
    error("hipFree", hiplazy_hipFree(memory));
}

static void runtime(const char *names)
{
    char name[256];
    int has = 0, total = 0, count = -1;
    if (hiplazy_load() != 0) {
        printf("last_error=%s\n", hiplazy_last_error());
        return;
    }
    FILE *file = fopen(names, "r");
    if (!file) {
        perror(names);
        exit(1);
    }
    while (fgets(name, sizeof name, file)) {
        name[strcspn(name, "\n")] = 0;
        total++;
        has += hiplazy_has(name);
    }
    fclose(file);
    printf("path=%s\n", hiplazy_runtime_path());
    printf("version=%d\n", hiplazy_runtime_version());
    printf("has=%d\ntotal=%d\n", has, total);
    error("hipGetDeviceCount", hiplazy_hipGetDeviceCount(&count));
    printf("hipGetDeviceCount.count=%d\n", count);
}

int main(int argc, char **argv)
{
    if (argc == 2 && !strcmp(argv[1], "calls"))
        calls();
    else if (argc == 2 && !strcmp(argv[1], "work"))
        work();
    else if (argc == 3 && !strcmp(argv[1], "runtime"))
        runtime(argv[2]);
    else
        return 2;
    return 0;
}
