/* A program that knows nothing of hiplazy and opens an extension that holds it.
 *
 *   host EXTENSION STEP...         runs the extension's client_main
 *   host --close EXTENSION STEP... runs it in a thread, closes the extension while that
 *                                  thread lives, lets the thread end, and does both again
 *   host --cycles N EXTENSION STEP... opens it, runs it and closes it N times, and says
 *                                  whether the process has keys left
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int client(int, char **);

static int count;
static char **steps;
static client *entry;
static pthread_barrier_t called, closed;

static void *open_extension(const char *path)
{
    void *extension = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!extension) {
        printf("%s\n", dlerror());
        exit(2);
    }
    entry = (client *)dlsym(extension, "client_main");
    return extension;
}

static void *caller(void *unused)
{
    entry(count, steps);
    pthread_barrier_wait(&called);
    pthread_barrier_wait(&closed);
    return unused;
}

static void call_and_close(const char *path)
{
    void *extension = open_extension(path);
    pthread_t thread;
    Dl_info info;
    pthread_create(&thread, NULL, caller, NULL);
    pthread_barrier_wait(&called);
    fflush(stdout); /* its buffer is the extension's */
    setvbuf(stdout, NULL, _IONBF, 0);
    dlclose(extension);
    printf("%s\n", dladdr((void *)entry, &info) ? "still mapped" : "unmapped");
    pthread_barrier_wait(&closed);
    pthread_join(thread, NULL);
}

static void cycle(const char *path)
{
    void *extension = open_extension(path);
    entry(count, steps);
    fflush(stdout); /* its buffer is the extension's */
    setvbuf(stdout, NULL, _IONBF, 0);
    dlclose(extension);
}

static void cycles(int times, const char *path)
{
    pthread_key_t key;
    while (times--)
        cycle(path);
    printf("keys left: %s\n", pthread_key_create(&key, NULL) ? "no" : "yes");
}

int main(int argc, char **argv)
{
    if (argc > 3 && !strcmp(argv[1], "--cycles")) {
        count = argc - 4;
        steps = argv + 4;
        cycles(atoi(argv[2]), argv[3]);
        return 0;
    }
    int closing = argc > 2 && !strcmp(argv[1], "--close");
    const char *path = argv[1 + closing];
    count = argc - 2 - closing;
    steps = argv + 2 + closing;
    if (!closing) {
        open_extension(path);
        return entry(count, steps);
    }
    pthread_barrier_init(&called, NULL, 2);
    pthread_barrier_init(&closed, NULL, 2);
    call_and_close(path);
    call_and_close(path);
    return 0;
}
