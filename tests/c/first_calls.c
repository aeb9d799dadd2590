/* Many threads make their first call at the same moment.
 *
 *   first_calls THREADS TAG VERSION one|mixed
 *
 * Prints how many threads got a wrong answer, and which runtimes are mapped. TAG and
 * VERSION are the right answers of hipGetDeviceCount and hipRuntimeGetVersion; with
 * TAG 0 there is no runtime, and the right answers are those without one.
 */
#define _GNU_SOURCE
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <hiplazy/hiplazy.h>

#include "wrappers.h"

static int tag, version, mixed;
static pthread_barrier_t start;

static int right(int status, int value, int expected, int absent)
{
    return tag ? status == 0 && value == expected : status == absent && value == 0;
}

static int count(void)
{
    int value = -7, status = hiplazy_hipGetDeviceCount(&value);
    return right(status, value, tag, 100);
}

static int runtime_version(void)
{
    int value = -7, status = hiplazy_hipRuntimeGetVersion(&value);
    return right(status, value, version, 303);
}

static int device(void)
{
    int value = 0, status = hiplazy_hipGetDevice(&value);
    return right(status, value, tag, 303);
}

static int properties(void)
{
    static __thread unsigned char properties[1472];
    int status = hiplazy_hipGetDevicePropertiesR0600(properties, 0);
    return right(status, properties[1471], tag, 303);
}

static int load(void) { return hiplazy_load() == (tag ? 0 : 303); }

static int has(void) { return hiplazy_has("hipGetDevicePropertiesR0600") == (tag != 0); }

static int missing(void)
{
    return hiplazy_hipCreateChannelDesc(1, 2, 3, 4, 5).x == 0 && *hiplazy_last_error();
}

static int path(void)
{
    int loaded = hiplazy_load() == 0;
    return loaded == (tag != 0) && (hiplazy_runtime_path() != NULL) == loaded;
}

static int (*const calls[])(void) = {count, runtime_version, device, properties,
                                     load,  has,             missing, path};

static void *first_call(void *number)
{
    size_t first = mixed ? (size_t)number % (sizeof calls / sizeof *calls) : 0;
    long wrong = 0;
    pthread_barrier_wait(&start);
    wrong += !calls[first]();
    for (size_t i = 0; mixed && i < sizeof calls / sizeof *calls; i++)
        wrong += !calls[i]();
    return (void *)wrong;
}

static int print_runtime(struct dl_phdr_info *info, size_t size, void *unused)
{
    const char *base = strrchr(info->dlpi_name, '/');
    (void)size;
    (void)unused;
    if (base && !strncmp(base, "/libamdhip64", 12))
        printf("mapped %s\n", info->dlpi_name);
    return 0;
}

int main(int argc, char **argv)
{
    int threads = argc > 4 ? atoi(argv[1]) : 0, wrong = 0;
    pthread_t ids[256];
    if (threads < 1 || threads > 256)
        return 2;
    alarm(60);
    tag = atoi(argv[2]);
    version = atoi(argv[3]);
    mixed = !strcmp(argv[4], "mixed");
    pthread_barrier_init(&start, NULL, (unsigned)threads);
    for (int i = 0; i < threads; i++)
        if (pthread_create(&ids[i], NULL, first_call, (void *)(size_t)i))
            return 2;
    for (int i = 0; i < threads; i++) {
        void *result;
        pthread_join(ids[i], &result);
        wrong += result != NULL;
    }
    printf("wrong %d\n", wrong);
    dl_iterate_phdr(print_runtime, NULL);
    return 0;
}
