/* Which names the first call looks up more than once, and what a call answers that another
 * thread makes while the first one looks them up. Linked with libhiplazy.a and
 * --wrap=dlvsym.
 *
 *   look_ups [NAME]    the other thread calls when NAME is looked up
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "wrappers.h"

enum { MOST = 2000 };
static const char *names[MOST];
static int count;
static pthread_t first_thread;
static const char *awaited;

static void *call(void *result)
{
    static long long properties[1472 / sizeof(long long)];
    *(int *)result = hiplazy_hipGetDevicePropertiesR0600(properties, 0);
    return NULL;
}

void *__real_dlvsym(void *scope, const char *name, const char *node);
void *__wrap_dlvsym(void *scope, const char *name, const char *node);
void *__wrap_dlvsym(void *scope, const char *name, const char *node)
{
    if (scope != RTLD_DEFAULT && pthread_equal(pthread_self(), first_thread)) {
        if (count < MOST)
            names[count++] = name;
        if (awaited && !strcmp(name, awaited)) {
            pthread_t thread;
            int result = -7;
            awaited = NULL;
            if (!pthread_create(&thread, NULL, call, &result))
                pthread_join(thread, NULL);
            printf("meanwhile %d\n", result);
        }
    }
    return __real_dlvsym(scope, name, node);
}

int main(int argc, char **argv)
{
    int status, devices = -7;
    alarm(60);
    first_thread = pthread_self();
    awaited = argc > 1 ? argv[1] : NULL;
    status = hiplazy_hipGetDeviceCount(&devices);
    printf("count %d %d\nnames %d\n", status, devices, count);
    for (int i = 0; i < count; i++)
        for (int k = 0; k < i; k++)
            if (!strcmp(names[i], names[k]))
                printf("again %s\n", names[i]);
    return 0;
}
