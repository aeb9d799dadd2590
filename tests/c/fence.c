/* Preloaded into a test process: the machine's own ROCm is out of reach.
 *
 * A dlopen of libamdhip64*, libhiprtc* or libhsa-runtime64* succeeds only below a
 * folder named in FENCE_ALLOW (colon-separated), or by bare name if a folder of
 * LD_LIBRARY_PATH that is allowed holds it. Everything else is told what ld.so tells
 * where there is no such library. Loads as DT_NEEDED are not fenced.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static __thread char refused[PATH_MAX + 128];

static void *(*next_dlopen)(const char *, int);
static char *(*next_dlerror)(void);

/* At the start, since dlsym forgets the message that dlerror is to tell. */
__attribute__((constructor)) static void find_next(void)
{
    next_dlopen = dlsym(RTLD_NEXT, "dlopen");
    next_dlerror = dlsym(RTLD_NEXT, "dlerror");
}

static int fenced(const char *file)
{
    const char *base = strrchr(file, '/');
    base = base ? base + 1 : file;
    return !strncmp(base, "libamdhip64", 11) || !strncmp(base, "libhiprtc", 9) ||
           !strncmp(base, "libhsa-runtime64", 16);
}

static int allowed_path(const char *path)
{
    char real[PATH_MAX];
    const char *allow = getenv("FENCE_ALLOW");
    if (!realpath(path, real))
        return 1; /* the real dlopen says what is wrong */
    while (allow && *allow) {
        size_t length = strcspn(allow, ":");
        if (length && !strncmp(real, allow, length) && (real[length] == '/' || !real[length]))
            return 1;
        allow += length + (allow[length] == ':');
    }
    return 0;
}

static int allowed(const char *file)
{
    const char *folders = getenv("LD_LIBRARY_PATH");
    if (strchr(file, '/'))
        return allowed_path(file);
    while (folders && *folders) {
        char path[PATH_MAX];
        size_t length = strcspn(folders, ":");
        snprintf(path, sizeof path, "%.*s/%s", (int)length, folders, file);
        if (length && !access(path, F_OK))
            return allowed_path(path);
        folders += length + (folders[length] == ':');
    }
    return 0;
}

void *dlopen(const char *file, int flags)
{
    refused[0] = 0;
    if (file && !(flags & RTLD_NOLOAD) && fenced(file) && !allowed(file)) {
        snprintf(refused, sizeof refused,
                 "%s: cannot open shared object file: No such file or directory", file);
        return NULL;
    }
    return next_dlopen(file, flags); /* a tail call: ld.so looks at the caller's RUNPATH */
}

char *dlerror(void)
{
    static __thread char given[sizeof refused];
    if (!refused[0])
        return next_dlerror();
    memcpy(given, refused, sizeof given);
    refused[0] = 0;
    return given;
}
