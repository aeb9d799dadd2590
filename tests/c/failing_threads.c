/* Many threads that fail in different functions: each is told of its own failure.
 *
 *   failing_threads THREADS
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <hiplazy/hiplazy.h>

#include "wrappers.h"

static pthread_barrier_t all;

static const struct {
    const char *name;
    int code;
} functions[] = {{"hipMalloc", 303}, {"hipGetDeviceCount", 100}, {"hipInit", 100},
                 {"hipGetDevice", 303}};

static void fail(size_t function)
{
    void *place;
    int value;
    switch (function) {
    case 0:
        hiplazy_hipMalloc(&place, 1);
        break;
    case 1:
        hiplazy_hipGetDeviceCount(&value);
        break;
    case 2:
        hiplazy_hipInit(0);
        break;
    default:
        hiplazy_hipGetDevice(&value);
    }
}

static void *run(void *number)
{
    size_t function = (size_t)number % 4;
    long wrong = 0;
    wrong += *hiplazy_last_error() != 0;
    wrong += hiplazy_hipGetLastError() != 0;
    for (int i = 0; i < 20; i++) {
        pthread_barrier_wait(&all);
        fail(function);
        pthread_barrier_wait(&all);
        const char *error = hiplazy_last_error();
        size_t length = strlen(functions[function].name);
        wrong += strncmp(error, functions[function].name, length) || error[length] != ':';
        wrong += hiplazy_hipPeekAtLastError() != functions[function].code;
        wrong += hiplazy_hipGetLastError() != functions[function].code;
        wrong += hiplazy_hipGetLastError() != 0;
        function = (function + 1) % 4;
    }
    return (void *)wrong;
}

int main(int argc, char **argv)
{
    int threads = argc > 1 ? atoi(argv[1]) : 0;
    long wrong = 0;
    pthread_t ids[256];
    if (threads < 1 || threads > 256)
        return 2;
    alarm(60);
    pthread_barrier_init(&all, NULL, (unsigned)threads);
    for (int i = 0; i < threads; i++)
        if (pthread_create(&ids[i], NULL, run, (void *)(size_t)i))
            return 2;
    for (int i = 0; i < threads; i++) {
        void *result;
        pthread_join(ids[i], &result);
        wrong += (long)result;
    }
    printf("wrong %ld\n", wrong);
    return 0;
}
