/* A HIP runtime of a few functions that a profiler watches: whoever asks it for its version
 * has the profiler's code run first. */
#include <stddef.h>

static void (*profiler)(void);
static int asked, calls;

void watch(void (*by)(void)) { profiler = by; }
int times_asked(void) { return __atomic_load_n(&asked, __ATOMIC_SEQ_CST); }
int times_called(void) { return __atomic_load_n(&calls, __ATOMIC_SEQ_CST); }

int hipInit(unsigned flags) { return (int)flags; }

int hipRuntimeGetVersion(int *version)
{
    __atomic_add_fetch(&asked, 1, __ATOMIC_SEQ_CST);
    if (profiler)
        profiler();
    *version = 71460850;
    return 0;
}

int hipDeviceGetAttribute(int *value, int attribute, int device)
{
    __atomic_add_fetch(&calls, 1, __ATOMIC_SEQ_CST);
    *value = attribute + device;
    return 0;
}
