/* Preloaded: writes the name of each file that dlopen is to load, not only to look for. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

static void *(*next)(const char *, int);

/* At the start: a look-up would forget the message that dlerror is to tell. */
__attribute__((constructor)) static void find_next(void) { next = dlsym(RTLD_NEXT, "dlopen"); }

void *dlopen(const char *file, int flags)
{
    if (file && !(flags & RTLD_NOLOAD))
        fprintf(stderr, "opened %s\n", file);
    return next(file, flags); /* a tail call: ld.so looks at the caller's RUNPATH */
}
