/* Preloaded: after starve(n, 0), the first n allocations succeed and all others fail;
 * after starve(n, 1), only the one behind them fails; starve(-1, 0) ends that. starved()
 * tells whether any failed. */
#define _GNU_SOURCE
#include <errno.h>
#include <stddef.h>

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static long left = -1;
static int once, failed;

void starve(long allocations, int only_one)
{
    left = allocations;
    once = only_one;
}

int starved(void) { return failed; }

static int fails(void)
{
    if (left < 0)
        return 0;
    if (left > 0) {
        left--;
        return 0;
    }
    if (once)
        left = -1;
    failed = 1;
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t size) { return fails() ? NULL : __libc_malloc(size); }

void *calloc(size_t count, size_t size) { return fails() ? NULL : __libc_calloc(count, size); }

void *realloc(void *old, size_t size) { return fails() ? NULL : __libc_realloc(old, size); }

int posix_memalign(void **place, size_t align, size_t size)
{
    if (fails())
        return ENOMEM;
    *place = __libc_memalign(align, size);
    return *place ? 0 : ENOMEM;
}

void *aligned_alloc(size_t align, size_t size)
{
    return fails() ? NULL : __libc_memalign(align, size);
}
