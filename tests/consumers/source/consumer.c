/* A program's use of HIP, hiprtc and HSA that knows nothing of hiplazy.
 *
 * Every C consumer compiles this file as it is; what differs is how it is linked. It
 * exports `consume` alone, which prints one line per thing that it asked HIP, so that
 * the test reads what the calls reached. It compiles with the HIP headers of any
 * version from 5.2 on.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include <hip/hip_runtime_api.h>

/* Some header sets have HIP alone, and those of two sets do not mix. */
#if __has_include(<hip/hiprtc.h>) && !defined(WITHOUT_HIPRTC)
#include <hip/hiprtc.h>
#define WITH_HIPRTC 1
#endif
#if __has_include(<hsa/hsa.h>)
#include <hsa/hsa.h>
#define WITH_HSA 1
#endif

static int failures;

/* Says what failed and goes on, so that one run shows all. */
static int good(const char *what, hipError_t code)
{
    if (code == hipSuccess)
        return 1;
    printf("%s: %d %s (%s)\n", what, (int)code, hipGetErrorName(code), hipGetErrorString(code));
    failures++;
    return 0;
}

/* The object that a call of hipMalloc from here enters first. */
static void print_where_calls_go(void)
{
    hipError_t (*function)(void **, size_t) = hipMalloc;
    void *address = NULL;
    Dl_info info;
    const char *name = "nothing";
    memcpy(&address, &function, sizeof address);
    if (dladdr(address, &info) && info.dli_fname) {
        const char *slash = strrchr(info.dli_fname, '/');
        name = slash ? slash + 1 : info.dli_fname;
    }
    printf("hipMalloc enters: %s\n", name);
}

static void use_memory(void)
{
    unsigned char there[256], back[256];
    void *device = NULL;
    for (size_t index = 0; index < sizeof there; index++)
        there[index] = (unsigned char)(index * 7);
    memset(back, 0, sizeof back);
    if (!good("hipMalloc", hipMalloc(&device, sizeof there)))
        return;
    if (good("hipMemcpy", hipMemcpy(device, there, sizeof there, hipMemcpyHostToDevice)) &&
        good("hipMemcpy", hipMemcpy(back, device, sizeof back, hipMemcpyDeviceToHost)))
        printf("memory: %s\n", memcmp(there, back, sizeof back) ? "changed" : "came back");
    good("hipFree", hipFree(device));
}

/* The canaries behind the struct tell a runtime that was asked for a larger one. */
static void use_properties(void)
{
    struct {
        hipDeviceProp_t properties;
        unsigned char behind[2048];
    } guarded;
    size_t touched = 0;
    memset(&guarded, 0xc5, sizeof guarded);
    if (!good("hipGetDeviceProperties", hipGetDeviceProperties(&guarded.properties, 0)))
        return;
    for (size_t index = 0; index < sizeof guarded.behind; index++)
        touched += guarded.behind[index] != 0xc5;
    printf("properties: %s, warp size %d, %d compute units, %zu bytes behind them touched\n",
           guarded.properties.name, guarded.properties.warpSize,
           guarded.properties.multiProcessorCount, touched);
}

static void use_module(void)
{
    static const char image[] = "FAKEHIP MODULE 1\nkernel consume 8 4\nend\n";
    hipModule_t module = NULL;
    hipFunction_t function = NULL;
    hipStream_t stream = NULL;
    void *pointer = NULL;
    int number = 42;
    void *arguments[] = {&pointer, &number};
    if (!good("hipModuleLoadData", hipModuleLoadData(&module, image)))
        return;
    if (good("hipModuleGetFunction", hipModuleGetFunction(&function, module, "consume")) &&
        good("hipStreamCreate", hipStreamCreate(&stream))) {
        if (good("hipModuleLaunchKernel",
                 hipModuleLaunchKernel(function, 1, 2, 3, 64, 1, 1, 0, stream, arguments, NULL)) &&
            good("hipStreamSynchronize", hipStreamSynchronize(stream)))
            printf("launch: done\n");
        good("hipStreamDestroy", hipStreamDestroy(stream));
    }
    good("hipModuleUnload", hipModuleUnload(module));
}

#ifdef WITH_HIPRTC
static void use_hiprtc(void)
{
    static const char source[] =
        "extern \"C\" __global__ void twice(int *value) { *value *= 2; }\n";
    hiprtcProgram program = NULL;
    size_t size = 0;
    hiprtcResult result = hiprtcCreateProgram(&program, source, "twice.hip", 0, NULL, NULL);
    if (result == HIPRTC_SUCCESS)
        result = hiprtcCompileProgram(program, 0, NULL);
    if (result == HIPRTC_SUCCESS)
        result = hiprtcGetCodeSize(program, &size);
    printf("hiprtc: %d %s%s\n", (int)result, hiprtcGetErrorString(result), size ? ", code" : "");
    if (program)
        hiprtcDestroyProgram(&program);
}
#endif

#ifdef WITH_HSA
static void use_hsa(void)
{
    hsa_status_t status = hsa_init();
    printf("hsa: 0x%x\n", (unsigned)status);
    if (status == HSA_STATUS_SUCCESS)
        hsa_shut_down();
}
#endif

__attribute__((visibility("default"))) int consume(void)
{
    int version = 0, devices = -1;
    hipError_t code;
    failures = 0;
    printf("compiled with: %d\n", HIP_VERSION);
    code = hipRuntimeGetVersion(&version);
    printf("runtime: %d (%d %s)\n", version, (int)code, hipGetErrorName(code));
    code = hipGetDeviceCount(&devices);
    printf("devices: %d (%d %s)\n", devices, (int)code, hipGetErrorName(code));
    print_where_calls_go();
    if (code == hipSuccess && devices > 0) {
        use_properties();
        use_memory();
        use_module();
    }
#ifdef WITH_HIPRTC
    use_hiprtc();
#endif
#ifdef WITH_HSA
    use_hsa();
#endif
    fflush(stdout);
    return failures;
}
