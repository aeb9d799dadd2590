/* Asks what kind of memory device memory is, by HIP's name and through the slot table, and
 * says whether the answer is the number that the headers it was compiled with have for it:
 * HIP 6 renumbered hipMemoryType. It compiles with the HIP headers of any version.
 */
#include <stdio.h>
#include <string.h>

#include <hip/hip_runtime_api.h>

#include <hiplazy/dispatch.h>

#if HIP_VERSION_MAJOR < 6
#define TYPE memoryType
#else
#define TYPE type
#endif

typedef hipError_t asks(hipPointerAttribute_t *attributes, const void *pointer);

static int ask(const char *name, asks *function, const void *memory)
{
    struct {
        hipPointerAttribute_t attributes;
        unsigned char behind[64];
    } guarded;
    const hipPointerAttribute_t *attributes = &guarded.attributes;
    size_t touched = 0;
    memset(&guarded, 0xc5, sizeof guarded);
    hipError_t code = function(&guarded.attributes, memory);
    for (size_t index = 0; index < sizeof guarded.behind; index++)
        touched += guarded.behind[index] != 0xc5;
    printf("%s: %d, type %d of device memory %d, %s pointer, %zu bytes behind touched\n", name,
           (int)code, (int)attributes->TYPE, (int)hipMemoryTypeDevice,
           attributes->devicePointer == memory ? "the" : "another", touched);
    return code != hipSuccess;
}

int consume(void);
int consume(void)
{
    void *memory = NULL;
    int version = 0, failures = 0;
    failures += hipRuntimeGetVersion(&version) != hipSuccess;
    printf("headers %d on runtime: %d\n", HIP_VERSION_MAJOR, version);
    failures += hipMalloc(&memory, 64) != hipSuccess;
    failures += ask("by name", hipPointerGetAttributes, memory);
    failures += ask("by table", HIPLAZY_CALL(hipPointerGetAttributes), memory);
    failures += hipFree(memory) != hipSuccess;
    return failures;
}
