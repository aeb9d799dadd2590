/* Preloaded: counts what a search costs. counted() tells how many calls there were
 * since it was last asked. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>

static long calls;

long counted(void) { return __atomic_exchange_n(&calls, 0, __ATOMIC_RELAXED); }

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define COUNT() ((void)__atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED))

#define OPEN(name)                                    \
    int name(const char *path, int flags, ...)        \
    {                                                 \
        va_list rest;                                 \
        va_start(rest, flags);                        \
        mode_t mode = va_arg(rest, mode_t);           \
        va_end(rest);                                 \
        COUNT();                                      \
        return NEXT(name)(path, flags, mode);         \
    }
OPEN(open)
OPEN(open64)

#define STAT(name)                                    \
    int name(const char *path, struct name *status)   \
    {                                                 \
        COUNT();                                      \
        return NEXT(name)(path, status);              \
    }
STAT(stat)
STAT(stat64)

int access(const char *path, int mode)
{
    int (*next)(const char *, int) = (int (*)(const char *, int))dlsym(RTLD_NEXT, "access");
    COUNT();
    return next(path, mode);
}

DIR *opendir(const char *path)
{
    COUNT();
    return NEXT(opendir)(path);
}

char *realpath(const char *path, char *real)
{
    COUNT();
    return NEXT(realpath)(path, real);
}

void *dlopen(const char *file, int flags)
{
    COUNT();
    return NEXT(dlopen)(file, flags);
}
