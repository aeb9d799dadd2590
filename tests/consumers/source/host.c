/* Opens consumers as an interpreter opens its extensions, and lets each do its work.
 *
 *   host [STEP...]
 *
 *   local:PATH   dlopen, RTLD_NOW | RTLD_LOCAL
 *   global:PATH  dlopen, RTLD_NOW | RTLD_GLOBAL
 *   run          call `bound`, if there is one, and `consume` of all that are open
 *
 * What a consumer prints follows a line "== FILE". At the end come the runtimes that
 * are mapped, and the global scope's answer for hipMalloc: an object there would
 * answer for anybody's call.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MOST 16

static const char *base(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static int print_runtime(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size, (void)data;
    if (!strncmp(base(info->dlpi_name), "libamdhip64", 11))
        printf("mapped: %s\n", info->dlpi_name);
    return 0;
}

static int call(void *handle, const char *name)
{
    int (*function)(void);
    void *address = dlsym(handle, name);
    memcpy(&function, &address, sizeof function);
    return address ? function() : 0;
}

static void print_global(const char *name)
{
    Dl_info info;
    void *address = dlsym(RTLD_DEFAULT, name);
    const char *where = "nobody";
    if (address && dladdr(address, &info) && info.dli_fname)
        where = base(info.dli_fname);
    printf("global %s: %s\n", name, where);
}

int main(int count, char **steps)
{
    void *handles[MOST];
    const char *paths[MOST];
    int open = 0, failures = 0;
    alarm(60); /* a deadlock ends here */
    for (int step = 1; step < count; step++) {
        const char *text = steps[step];
        int global = !strncmp(text, "global:", 7);
        if (!strcmp(text, "run")) {
            for (int index = 0; index < open; index++) {
                printf("== %s\n", base(paths[index]));
                fflush(stdout);
                failures += call(handles[index], "consume");
                failures += call(handles[index], "bound");
            }
        } else if ((global || !strncmp(text, "local:", 6)) && open < MOST) {
            paths[open] = strchr(text, ':') + 1;
            handles[open] = dlopen(paths[open], RTLD_NOW | (global ? RTLD_GLOBAL : RTLD_LOCAL));
            if (!handles[open]) {
                fprintf(stderr, "%s\n", dlerror());
                return 2;
            }
            open++;
        } else {
            fprintf(stderr, "host: cannot do \"%s\"\n", text);
            return 2;
        }
    }
    printf("== process\n");
    print_global("hipMalloc");
    print_global("hiprtcCompileProgram");
    print_global("hsa_init");
    dl_iterate_phdr(print_runtime, NULL);
    return failures != 0;
}
