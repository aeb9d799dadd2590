/* A HIP runtime of a few functions, built in many variants by the loader's tests.
 *
 *   -DVERSION=71460850   what hipRuntimeGetVersion answers
 *   -DTAG=3              what tells this copy from another: hipGetDeviceCount's answer
 *   -DHALF               without hipGetDevice and hipMalloc
 *   -DHIPRTC             with the hiprtc functions inside, as up to HIP 6
 *   -DNO_VERSION         without the function that a runtime is known by
 *   -DNEWER              with a function that the manifest does not have
 *   -DOPENS="path"       its constructor opens that library
 *
 * Its constructor calls the program's in_constructor("runtime"), if there is one. A
 * function that another thread calls before the constructor has returned answers
 * NOT_BUILT.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

#ifndef VERSION
#define VERSION 71460850
#endif
#ifndef TAG
#define TAG 1
#endif
#define NOT_BUILT 999

/* Weak, not looked up: a dlsym that fails inside a constructor without memory makes
 * glibc 2.36 crash in the dlopen around it. */
extern void in_constructor(const char *) __attribute__((weak));

static pthread_t builder;
static int built;

__attribute__((constructor)) static void build(void)
{
    builder = pthread_self();
    if (in_constructor)
        in_constructor("runtime");
#ifdef OPENS
    if (!dlopen(OPENS, RTLD_NOW | RTLD_LOCAL))
        __builtin_trap();
#endif
    __atomic_store_n(&built, 1, __ATOMIC_RELEASE);
}

static int answer(int *out, int value)
{
    if (!__atomic_load_n(&built, __ATOMIC_ACQUIRE) && !pthread_equal(builder, pthread_self()))
        return NOT_BUILT;
    if (!out)
        return 1; /* hipErrorInvalidValue */
    *out = value;
    return 0;
}

int hipInit(unsigned flags)
{
    int unused;
    return answer(&unused, (int)flags);
}

int hipGetDeviceCount(int *count) { return answer(count, TAG); }
#ifndef NO_VERSION
int hipRuntimeGetVersion(int *version) { return answer(version, VERSION); }
#endif
int hipDriverGetVersion(int *version) { return answer(version, VERSION); }
int hipGetLastError(void) { return 7; }
int hipPeekAtLastError(void) { return 8; }

#ifndef HALF
int hipGetDevice(int *device) { return answer(device, TAG); }

int hipMalloc(void **place, size_t size)
{
    static char memory[64];
    int unused;
    if (!place || size > sizeof memory)
        return 2; /* hipErrorOutOfMemory */
    *place = memory;
    return answer(&unused, 0);
}
#endif

#if VERSION >= 60000000
int hipGetDevicePropertiesR0600(void *properties, int device)
{
    memset(properties, TAG, 1472);
    return device ? 101 : 0;
}
#endif

#ifdef NEWER
int hipOfALaterRelease(void) { return TAG; }
#endif

#ifdef HIPRTC
int hiprtcVersion(int *major, int *minor)
{
    *major = 100 + TAG;
    *minor = 0;
    return 0;
}
#endif
