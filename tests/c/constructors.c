/* Constructors that call a wrapper while another thread makes its first call.
 *
 *   constructors WHO [PLUGIN | RUNTIME]
 *
 * WHO is the constructor that calls: "plugin" of the library PLUGIN, which this program
 * opens itself; "runtime" or "dependency" of what hiplazy opens for the first call. The
 * constructor calls, then lets the other thread begin its call, and does not return
 * before that thread has come back or sleeps, that is, waits for the dynamic linker. A
 * plugin's constructor calls after that as well.
 *
 * With RUNTIME, a runtime's constructor sets HIPLAZY_RUNTIME to that before it lets the
 * other thread begin, and the mapped runtimes are printed at the end.
 *
 * Prints each answer of hipGetDevice. Ends itself after a minute: a deadlock is a
 * failure.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <hiplazy/hiplazy.h>

#include "wrappers.h"

static const char *who, *named_next;
static pthread_t other;
static int other_may_call, other_id, other_calls, other_is_back, constructed;

static void set(int *flag) { __atomic_store_n(flag, 1, __ATOMIC_SEQ_CST); }
static int get(int *flag) { return __atomic_load_n(flag, __ATOMIC_SEQ_CST); }

static void call(const char *caller)
{
    int device = -7, status = hiplazy_hipGetDevice(&device);
    const char *error = status ? hiplazy_last_error() : "";
    printf("%s: %d %d %s\n", caller, status, device, error);
}

static void *call_in_other_thread(void *unused)
{
    __atomic_store_n(&other_id, (int)syscall(SYS_gettid), __ATOMIC_SEQ_CST);
    while (!get(&other_may_call))
        sched_yield();
    set(&other_calls);
    int device = -7, status = hiplazy_hipGetDevice(&device);
    int early = !get(&constructed);
    set(&other_is_back);
    printf("other thread: %d %d%s\n", status, device, early ? ", before the constructor's end" : "");
    return unused;
}

/* Whether the other thread sleeps, from the third field of its stat file. */
static int other_sleeps(void)
{
    char path[64], line[512] = "", *end;
    FILE *file;
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", get(&other_id));
    file = fopen(path, "r");
    if (!file)
        return 0;
    if (!fgets(line, sizeof line, file))
        line[0] = 0;
    fclose(file);
    end = strrchr(line, ')');
    return end && end[1] == ' ' && end[2] == 'S';
}

void in_constructor(const char *constructor)
{
    if (strcmp(constructor, who) || get(&constructed))
        return;
    if (strcmp(who, "plugin"))
        call(who); /* inside hiplazy's own dlopen */
    if (named_next)
        setenv("HIPLAZY_RUNTIME", named_next, 1);
    set(&other_may_call);
    while (!get(&other_is_back) && !(get(&other_calls) && other_sleeps()))
        sched_yield();
    call(who);
    set(&constructed);
}

static int print_runtime(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)size;
    (void)unused;
    if (strstr(info->dlpi_name, "/libamdhip64"))
        printf("mapped %s\n", info->dlpi_name);
    return 0;
}

int main(int argc, char **argv)
{
    int plugin = argc > 2 && !strcmp(argv[1], "plugin");
    if (argc < 2)
        return 2;
    who = argv[1];
    if (argc > 2 && !plugin)
        named_next = argv[2];
    alarm(60);
    pthread_create(&other, NULL, call_in_other_thread, NULL);
    while (!get(&other_id))
        sched_yield();
    if (plugin) {
        if (!dlopen(argv[2], RTLD_NOW | RTLD_LOCAL)) {
            printf("%s\n", dlerror());
            return 2;
        }
    } else {
        call("first call");
    }
    pthread_join(other, NULL);
    call("afterwards");
    if (named_next)
        dl_iterate_phdr(print_runtime, NULL);
    return 0;
}
