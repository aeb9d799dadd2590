/* A program that uses HIP through hiplazy, without HIP's headers. Its arguments are
 * commands, each followed by its operands; each prints lines that begin with the
 * command.
 *
 *   load                  hiplazy_load
 *   runtime               the bound runtime's path and version
 *   version               hipRuntimeGetVersion
 *   count                 hipGetDeviceCount
 *   properties            hipGetDevicePropertiesR0600 of device 0: whether it wrote, and how
 *                         many of the bytes are the tool library's (tool.h)
 *   newer                 hipExtGetLastError, which came with HIP 6.0
 *   legacy                hipGetDeviceProperties, the older function, of device 0
 *   pointer               hipPointerGetAttributes, for headers of HIP 5 and then of HIP 6
 *   fill                  hipDrvGraphAddMemsetNode, for headers of HIP 6: what the tool
 *                         library was given
 *   last_error            hiplazy_last_error
 *   hip_error CODE        name and text of a hipError_t
 *   hiprtc_error CODE     text of a hiprtcResult
 *   compile ARCH SOURCE   a program for ARCH, from its creation to its end
 *   hsa                   hsa_init, and hsa_shut_down if it succeeded
 *   functions             for every function: see functions.c
 *   fake                  the tool library replaces an entry of the dispatch table
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fakehip.h>
#include <hiplazy/hiplazy.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "functions.h"
#include "tool.h"

int hiplazy_hipRuntimeGetVersion(int *version);
int hiplazy_hipGetDeviceCount(int *count);
int hiplazy_hipGetDevicePropertiesR0600(void *properties, int device);
int hiplazy_hipExtGetLastError(void);
int hiplazy_hipGetDeviceProperties(void *properties, int device);
int hiplazy_hipPointerGetAttributes_h5(struct tool_pointer *attributes, void *pointer);
int hiplazy_hipPointerGetAttributes_h6(struct tool_pointer *attributes, void *pointer);
/* HIP_MEMSET_NODE_PARAMS */
struct fill {
    void *dst;
    size_t pitch;
    unsigned value, element_size;
    size_t width, height;
};
int hiplazy_hipDrvGraphAddMemsetNode_h6(void **node, void *graph, void *const *dependencies,
                                        size_t count, const struct fill *fill, void *context);
const char *hiplazy_hipGetErrorName(int code);
const char *hiplazy_hipGetErrorString(int code);
const char *hiplazy_hiprtcGetErrorString(int code);
int hiplazy_hiprtcCreateProgram(void **program, const char *source, const char *name,
                                int headers, const char **texts, const char **names);
int hiplazy_hiprtcCompileProgram(void *program, int options, const char **texts);
int hiplazy_hiprtcGetProgramLogSize(void *program, size_t *size);
int hiplazy_hiprtcGetProgramLog(void *program, char *log);
int hiplazy_hiprtcGetCodeSize(void *program, size_t *size);
int hiplazy_hiprtcDestroyProgram(void **program);
int hiplazy_hsa_init(void);
int hiplazy_hsa_shut_down(void);

static void runtime(void)
{
    const char *path = hiplazy_runtime_path();
    printf("runtime %s %d\n", path ? path : "none", hiplazy_runtime_version());
}

static void version(void)
{
    int number = -1;
    int status = hiplazy_hipRuntimeGetVersion(&number);
    printf("version status=%d number=%d\n", status, number);
}

static void count(void)
{
    int number = -1;
    int status = hiplazy_hipGetDeviceCount(&number);
    printf("count status=%d n=%d\n", status, number);
}

static void properties(void)
{
    FAKEHIP_GUARDED(struct tool_properties) guarded;
    size_t from_tool = 0;
    FAKEHIP_GUARD(guarded);
    int status = hiplazy_hipGetDevicePropertiesR0600(&guarded.value, 0);
    for (size_t i = 0; i < TOOL_PROPERTIES_BYTES; i++)
        from_tool += guarded.value.bytes[i] == tool_byte(i);
    printf("properties status=%d written=%s from_tool=%zu broken=%zu\n", status,
           FAKEHIP_GUARD_UNTOUCHED(guarded) ? "no" : "yes",
           FAKEHIP_GUARD_UNTOUCHED(guarded) ? 0 : from_tool, FAKEHIP_GUARD_BROKEN(guarded));
}

static void legacy(void)
{
    /* 792 bytes */
    FAKEHIP_GUARDED(struct { _Alignas(8) char bytes[792]; }) guarded;
    FAKEHIP_GUARD(guarded);
    int status = hiplazy_hipGetDeviceProperties(&guarded.value, 0);
    printf("legacy status=%d written=%s broken=%zu\n", status,
           FAKEHIP_GUARD_UNTOUCHED(guarded) ? "no" : "yes", FAKEHIP_GUARD_BROKEN(guarded));
}

static void pointer(void)
{
    FAKEHIP_GUARDED(struct tool_pointer) guarded;
    for (int headers = 5; headers <= 6; headers++) {
        FAKEHIP_GUARD(guarded);
        int status = headers == 5 ? hiplazy_hipPointerGetAttributes_h5(&guarded.value, &guarded)
                                  : hiplazy_hipPointerGetAttributes_h6(&guarded.value, &guarded);
        const struct tool_pointer *it = &guarded.value;
        printf("pointer status=%d type=%u device=%d same=%d managed=%d flags=%#x broken=%zu\n", status,
               it->type, it->device, it->device_pointer == &guarded, it->is_managed, it->flags,
               FAKEHIP_GUARD_BROKEN(guarded));
    }
}

static void fill(void)
{
    struct fill own = {.dst = &own, .pitch = 512, .value = 0x55, .element_size = 4, .width = 100, .height = 3};
    const struct tool_fill *(*given)(void) =
        (const struct tool_fill *(*)(void))dlsym(RTLD_DEFAULT, "tool_given_fill");
    void *node;
    int status = hiplazy_hipDrvGraphAddMemsetNode_h6(&node, &own, NULL, 0, &own, &own);
    const struct tool_fill *it = given ? given() : NULL;
    if (it)
        printf("fill status=%d same=%d element=%u height=%zu pitch=%zu value=%#x width=%zu\n", status,
               it->dst == &own, it->element_size, it->height, it->pitch, it->value, it->width);
}

static const char *or_null(const char *text)
{
    return text ? text : "NULL";
}

static void hip_error(int code)
{
    const char *name = hiplazy_hipGetErrorName(code);
    const char *text = hiplazy_hipGetErrorString(code);
    printf("hip_error %d | %s | %s\n", code, or_null(name), or_null(text));
}

static void hiprtc_error(int code)
{
    printf("hiprtc_error %d | %s\n", code, or_null(hiplazy_hiprtcGetErrorString(code)));
}

static void compile(const char *arch, const char *source)
{
    void *program = NULL;
    char option[64];
    const char *options[] = {option};
    size_t log_size = 0, code_size = 0;

    snprintf(option, sizeof option, "--offload-arch=%s", arch);
    int created = hiplazy_hiprtcCreateProgram(&program, source, "source.hip", 0, NULL, NULL);
    printf("compile created=%d program=%s\n", created, program ? "some" : "none");
    if (created)
        return;
    printf("compile compiled=%d\n", hiplazy_hiprtcCompileProgram(program, 1, options));
    int status = hiplazy_hiprtcGetProgramLogSize(program, &log_size);
    char *log = calloc(1, log_size + 1);
    if (!log)
        abort();
    if (!status && log_size)
        status = hiplazy_hiprtcGetProgramLog(program, log);
    printf("compile log=%d error=%s\n", status, strstr(log, "error:") ? "yes" : "no");
    fprintf(stderr, "%s\n", log);
    free(log);
    status = hiplazy_hiprtcGetCodeSize(program, &code_size);
    printf("compile code=%d size=%s\n", status, code_size ? "some" : "none");
    printf("compile destroyed=%d\n", hiplazy_hiprtcDestroyProgram(&program));
}

static void hsa(void)
{
    int (*real)(void) = (int (*)(void))hiplazy_symbol("hsa_init");
    int status = hiplazy_hsa_init();
    printf("hsa status=%#x real=%#x\n", status, real ? real() : -1);
    if (!status)
        hiplazy_hsa_shut_down();
}

static void fake(void)
{
    int (*replace)(void) = (int (*)(void))dlsym(RTLD_DEFAULT, "tool_replace");
    if (!replace)
        printf("fake no tool\n");
    else
        printf("fake %s\n", replace() ? "replaced" : "no table");
}

static _Noreturn void usage(const char *word)
{
    fprintf(stderr, "%s: no such command, or too few operands\n", word);
    exit(2);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];
        int left = argc - i - 1;
        if (!strcmp(word, "load"))
            printf("load %d\n", hiplazy_load());
        else if (!strcmp(word, "runtime"))
            runtime();
        else if (!strcmp(word, "version"))
            version();
        else if (!strcmp(word, "count"))
            count();
        else if (!strcmp(word, "properties"))
            properties();
        else if (!strcmp(word, "newer"))
            printf("newer status=%d\n", hiplazy_hipExtGetLastError());
        else if (!strcmp(word, "legacy"))
            legacy();
        else if (!strcmp(word, "pointer"))
            pointer();
        else if (!strcmp(word, "fill"))
            fill();
        else if (!strcmp(word, "last_error"))
            printf("last_error %s\n", hiplazy_last_error());
        else if (!strcmp(word, "hip_error") && left >= 1)
            hip_error(atoi(argv[++i]));
        else if (!strcmp(word, "hiprtc_error") && left >= 1)
            hiprtc_error(atoi(argv[++i]));
        else if (!strcmp(word, "compile") && left >= 2) {
            compile(argv[i + 1], argv[i + 2]);
            i += 2;
        } else if (!strcmp(word, "hsa"))
            hsa();
        else if (!strcmp(word, "functions"))
            functions();
        else if (!strcmp(word, "fake"))
            fake();
        else
            usage(word);
        fflush(stdout);
    }
    return 0;
}
