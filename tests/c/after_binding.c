/* How often the dynamic linker is asked: by the first call, and by calls of 20 other
 * functions afterwards, each in a thread of its own and then in main. Linked with
 * libhiplazy.a and --wrap for each function of the dynamic linker that it uses.
 *
 * tiny_runtime.c has eight of the 20; the others answer 302.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "wrappers.h"

static long asked;

#define WRAP(result, name, parameters, arguments)          \
    extern result __real_##name parameters;                \
    result __wrap_##name parameters;                       \
    result __wrap_##name parameters                        \
    {                                                      \
        __atomic_fetch_add(&asked, 1, __ATOMIC_RELAXED);   \
        return __real_##name arguments;                    \
    }

typedef int each(struct dl_phdr_info *, size_t, void *);

WRAP(void *, dlopen, (const char *file, int flags), (file, flags))
WRAP(void *, dlsym, (void *scope, const char *name), (scope, name))
WRAP(void *, dlvsym, (void *scope, const char *name, const char *node), (scope, name, node))
WRAP(int, dladdr1, (const void *address, Dl_info *info, void **map, int flags),
     (address, info, map, flags))
WRAP(int, dlinfo, (void *handle, int request, void *place), (handle, request, place))
WRAP(int, dl_iterate_phdr, (each *function, void *data), (function, data))

/* Enough zeros in registers for every one of them. */
typedef int function(void *, long, long, long, long, long);

#define OTHERS(X)                                                                          \
    X(hipInit) X(hipRuntimeGetVersion) X(hipDriverGetVersion) X(hipGetLastError)           \
    X(hipPeekAtLastError) X(hipGetDevice) X(hipMalloc) X(hipGetDevicePropertiesR0600)      \
    X(hipFree) X(hipSetDevice) X(hipDeviceSynchronize) X(hipDeviceReset)                   \
    X(hipStreamCreate) X(hipStreamDestroy) X(hipStreamSynchronize) X(hipEventCreate)       \
    X(hipEventDestroy) X(hipEventRecord) X(hipMemcpy) X(hipHostMalloc)

#define DECLARE(name)                                               \
    extern int other_##name(void *, long, long, long, long, long)   \
        __asm__("hiplazy_" #name);
OTHERS(DECLARE)

#define ADDRESS(name) other_##name,
static function *const others[] = {OTHERS(ADDRESS)};
#define COUNT (sizeof others / sizeof *others)

static void *call(void *number)
{
    void *place[1472 / sizeof(void *)];
    others[(size_t)number](place, 0, 0, 0, 0, 0);
    return NULL;
}

int main(void)
{
    int count = -7, status;
    pthread_t thread;
    alarm(60);
    status = hiplazy_hipGetDeviceCount(&count);
    printf("count %d %d\nfirst %ld\n", status, count, asked);
    asked = 0;
    for (size_t i = 0; i < COUNT; i++) {
        if (pthread_create(&thread, NULL, call, (void *)i))
            return 2;
        pthread_join(thread, NULL);
        call((void *)i);
    }
    printf("then %ld in %zu functions\n", asked, COUNT);
    return 0;
}
