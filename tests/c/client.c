/* Does what its arguments say, one step each, and prints a line for each answer.
 *
 * Built as a program, or with -DEXTENSION as a library for host.c. It ends itself
 * after a minute: a deadlock is a failure, not a hang.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <libintl.h>
#include <limits.h>
#include <link.h>
#include <locale.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <hiplazy/hiplazy.h>

#include "wrappers.h"

#define UNWRITTEN (-7)

static void step(const char *text);

/* What comes behind `name` in `text`, or NULL if it begins otherwise. */
static const char *after(const char *text, const char *name)
{
    size_t length = strlen(name);
    return strncmp(text, name, length) ? NULL : text + length;
}

static void fail(const char *what, const char *why)
{
    printf("%s: %s\n", what, why);
    exit(2);
}

static void number(const char *what, int (*get)(int *))
{
    int value = UNWRITTEN;
    int status = get(&value);
    printf("%s %d %d\n", what, status, value);
}

static int print_mapped(struct dl_phdr_info *info, size_t size, void *unused)
{
    const char *base = strrchr(info->dlpi_name, '/');
    (void)size;
    (void)unused;
    base = base ? base + 1 : info->dlpi_name;
    if (after(base, "libamdhip64") || after(base, "libhiprtc") || after(base, "libhsa"))
        printf("mapped %s\n", info->dlpi_name);
    return 0;
}

static void *step_thread(void *text)
{
    step(text);
    return NULL;
}

static void in_thread(const char *text)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, step_thread, (void *)text))
        fail(text, "no thread");
    pthread_join(thread, NULL);
}

static void in_child(const char *text)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        alarm(60);
        step(text);
        _exit(0);
    }
    waitpid(child, &status, 0);
    if (status)
        printf("child ended with status 0x%x\n", status);
}

static void with_errno(const char *text)
{
    errno = 1234;
    step(text);
    printf("errno %d\n", errno);
}

/* N:STEP, only the last of which is printed. */
static void repeated(const char *text)
{
    int times = atoi(text), value;
    const char *what = strchr(text, ':') + 1;
    for (; times > 1; times--)
        if (!strcmp(what, "count"))
            hiplazy_hipGetDeviceCount(&value);
        else if (!strcmp(what, "malloc"))
            hiplazy_hipMalloc(NULL, 0);
        else if (!strcmp(what, "rtc"))
            hiplazy_hiprtcVersion(NULL, NULL);
        else if (!strcmp(what, "hsa"))
            hiplazy_hsa_init();
        else
            fail(text, "cannot be repeated");
    step(what);
}

/* STEP with every allocation failing from the nth on, or only the nth, for n = 0, 1,
 * ... until there are not so many; then again with memory. Needs starve.c preloaded. */
static void starved(const char *text, int only_one)
{
    void (*starve)(long, int) = (void (*)(long, int))dlsym(RTLD_DEFAULT, "starve");
    int (*starved)(void) = (int (*)(void))dlsym(RTLD_DEFAULT, "starved");
    long nth;
    int status = 1;
    if (!starve || !starved)
        fail(text, "starve.c is not preloaded");
    for (nth = 0; status; nth++) {
        pid_t child = fork();
        if (child == 0) {
            alarm(60);
            printf("after %ld:\n", nth);
            starve(nth, only_one);
            step(text);
            starve(-1, 0);
            status = starved();
            printf("again:\n");
            step(text);
            _exit(status ? 1 : 0);
        }
        waitpid(child, &status, 0);
        if (!WIFEXITED(status)) {
            printf("child ended with status 0x%x\n", status);
            exit(2);
        }
    }
    printf("allocations %ld\n", nth - 1);
}

/* Calls hipGetDeviceCount of a library by its bare name, as its users do. */
static void call_library(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    int (*count)(int *), value = UNWRITTEN;
    if (!library)
        fail(path, dlerror());
    count = (int (*)(int *))dlsym(library, "hipGetDeviceCount");
    if (!count)
        fail(path, "no hipGetDeviceCount");
    printf("library %d", count(&value));
    printf(" %d\n", value);
}

static void move(const char *from_to)
{
    char from[4096];
    const char *to = strchr(from_to, '=');
    snprintf(from, sizeof from, "%.*s", (int)(to - from_to), from_to);
    if (rename(from, to + 1))
        fail(from_to, strerror(errno));
}

static void set(const char *name_value)
{
    char name[4096];
    const char *value = strchr(name_value, '=');
    snprintf(name, sizeof name, "%.*s", (int)(value - name_value), name_value);
    setenv(name, value + 1, 1);
}

/* Opens files until there is no descriptor left, or raises the limit again. */
static void files(const char *how)
{
    static struct rlimit own;
    struct rlimit few;
    if (!own.rlim_cur && getrlimit(RLIMIT_NOFILE, &own))
        fail(how, strerror(errno));
    few = own;
    if (!strcmp(how, "none")) {
        few.rlim_cur = 64;
        setrlimit(RLIMIT_NOFILE, &few);
        while (open("/dev/null", O_RDONLY | O_CLOEXEC) >= 0)
            ;
    } else if (setrlimit(RLIMIT_NOFILE, &own))
        fail(how, strerror(errno));
}

/* Takes all keys that are left, or gives them back. */
static void keys(const char *how)
{
    static pthread_key_t taken[PTHREAD_KEYS_MAX];
    static int count;
    if (!strcmp(how, "none"))
        while (!pthread_key_create(&taken[count], NULL))
            count++;
    else
        while (count)
            pthread_key_delete(taken[--count]);
}

/* Has the C library's messages translated by LC_MESSAGES/libc.mo below folder/xx. */
static void translate(const char *folder)
{
    setenv("LANGUAGE", "xx", 1);
    if (!setlocale(LC_ALL, "C.UTF-8") || !bindtextdomain("libc", folder))
        printf("no locale\n");
}

static void step(const char *text)
{
    const char *rest;
    int major = UNWRITTEN, minor = UNWRITTEN;
    if (!strcmp(text, "init"))
        printf("init %d\n", hiplazy_hipInit(0));
    else if (!strcmp(text, "count"))
        number("count", hiplazy_hipGetDeviceCount);
    else if (!strcmp(text, "version"))
        number("version", hiplazy_hipRuntimeGetVersion);
    else if (!strcmp(text, "driver"))
        number("driver", hiplazy_hipDriverGetVersion);
    else if (!strcmp(text, "device"))
        number("device", hiplazy_hipGetDevice);
    else if (!strcmp(text, "nulls"))
        printf("nulls %d %d %d %d %d\n", hiplazy_hipGetDeviceCount(NULL),
               hiplazy_hipRuntimeGetVersion(NULL), hiplazy_hipDriverGetVersion(NULL),
               hiplazy_hipMalloc(NULL, 1), hiplazy_hiprtcVersion(NULL, NULL));
    else if (!strcmp(text, "malloc")) {
        void *place = &major;
        int status = hiplazy_hipMalloc(&place, 16);
        printf("malloc %d %s\n", status, place == &major ? "unwritten" : "written");
    } else if (!strcmp(text, "properties")) {
        static unsigned char properties[1472];
        memset(properties, 0xEE, sizeof properties);
        printf("properties %d", hiplazy_hipGetDevicePropertiesR0600(properties, 0));
        printf(" %d\n", properties[1471]);
    } else if (!strcmp(text, "last"))
        printf("last %d\n", hiplazy_hipGetLastError());
    else if (!strcmp(text, "ext-last"))
        printf("ext-last %d\n", hiplazy_hipExtGetLastError());
    else if (!strcmp(text, "peek"))
        printf("peek %d\n", hiplazy_hipPeekAtLastError());
    else if ((rest = after(text, "text:")))
        printf("text %s: %s\n", hiplazy_hipGetErrorName(atoi(rest)),
               hiplazy_hipGetErrorString(atoi(rest)));
    else if ((rest = after(text, "rtc-text:")))
        printf("rtc-text %s\n", hiplazy_hiprtcGetErrorString(atoi(rest)));
    else if (!strcmp(text, "api-name"))
        printf("api-name '%s'\n", hiplazy_hipApiName(1));
    else if (!strcmp(text, "rtc")) {
        int status = hiplazy_hiprtcVersion(&major, &minor);
        printf("rtc %d %d\n", status, major);
    } else if (!strcmp(text, "hsa"))
        printf("hsa %d\n", hiplazy_hsa_init());
    else if (!strcmp(text, "channel")) {
        struct channel channel = hiplazy_hipCreateChannelDesc(1, 2, 3, 4, 2);
        printf("channel %d %d %d %d %d\n", channel.x, channel.y, channel.z, channel.w,
               channel.kind);
    } else if (!strcmp(text, "load"))
        printf("load %d\n", hiplazy_load());
    else if ((rest = after(text, "has:")))
        printf("has %d\n", hiplazy_has(rest));
    else if ((rest = after(text, "symbol:")))
        printf("symbol %s\n", hiplazy_symbol(rest) ? "yes" : "NULL");
    else if (!strcmp(text, "path")) {
        rest = hiplazy_runtime_path();
        printf("path %s\n", rest ? rest : "none");
    } else if (!strcmp(text, "bound-version"))
        printf("bound-version %d\n", hiplazy_runtime_version());
    else if (!strcmp(text, "error"))
        printf("error %s\n", hiplazy_last_error());
    else if (!strcmp(text, "mapped"))
        dl_iterate_phdr(print_mapped, NULL);
    else if ((rest = after(text, "open:"))) {
        if (!dlopen(rest, RTLD_NOW | RTLD_LOCAL))
            fail(text, dlerror());
    } else if ((rest = after(text, "global:"))) {
        if (!dlopen(rest, RTLD_NOW | RTLD_GLOBAL))
            fail(text, dlerror());
    } else if ((rest = after(text, "global-name:")))
        printf("global-name %s\n", dlsym(RTLD_DEFAULT, rest) ? "yes" : "no");
    else if ((rest = after(text, "library:")))
        call_library(rest);
    else if ((rest = after(text, "move:")))
        move(rest);
    else if ((rest = after(text, "set:")))
        set(rest);
    else if ((rest = after(text, "folder:"))) {
        if (chdir(rest))
            fail(text, strerror(errno));
    } else if ((rest = after(text, "files:")))
        files(rest);
    else if ((rest = after(text, "keys:")))
        keys(rest);
    else if ((rest = after(text, "translate:")))
        translate(rest);
    else if ((rest = after(text, "ld.so:")))
        printf("ld.so %s\n", dlopen(rest, RTLD_NOW) ? "opens it" : dlerror());
    else if (!strcmp(text, "secure"))
        printf("secure %lu\n", getauxval(AT_SECURE));
    else if ((rest = after(text, "user:"))) {
        if (setresuid(atoi(rest), atoi(rest), atoi(rest)))
            fail(text, strerror(errno));
    } else if (!strcmp(text, "counted")) {
        long (*counted)(void) = (long (*)(void))dlsym(RTLD_DEFAULT, "counted");
        if (!counted)
            fail(text, "count.c is not preloaded");
        printf("counted %ld\n", counted());
    } else if ((rest = after(text, "thread:")))
        in_thread(rest);
    else if ((rest = after(text, "fork:")))
        in_child(rest);
    else if ((rest = after(text, "errno:")))
        with_errno(rest);
    else if ((rest = after(text, "repeat:")))
        repeated(rest);
    else if ((rest = after(text, "starved:")))
        starved(rest, 0);
    else if ((rest = after(text, "starved-once:")))
        starved(rest, 1);
    else
        fail(text, "no such step");
}

int client_main(int count, char **steps)
{
    static const struct rlimit no_core = {0, 0};
    static char buffer[4096];
    setvbuf(stdout, buffer, _IOLBF, sizeof buffer);
    setrlimit(RLIMIT_CORE, &no_core);
    alarm(60);
    for (int i = 0; i < count; i++)
        step(steps[i]);
    return 0;
}

#ifndef EXTENSION
int main(int argc, char **argv) { return client_main(argc - 1, argv + 1); }
#endif
