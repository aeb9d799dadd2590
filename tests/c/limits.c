/* Calls where there is little stack, and in many threads.
 *
 *   limits first KIB     the process's first call, on a thread with that much stack
 *   limits again KIB     a first call in main, then a call on such a thread
 *   limits signal KIB    a first call in main, then one in a signal handler on an
 *                        alternate stack of that size
 *   limits threads N     how much memory the failures of N threads have left in use
 *
 * fence.c would take most of these stacks for itself. In its place this program has a
 * dlopen that looks for another name where hiplazy asks for a runtime by name, so that
 * ld.so does the same work and finds nothing, and that opens no runtime in /opt.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <hiplazy/hiplazy.h>

#include "wrappers.h"

static void *(*next_dlopen)(const char *, int);

void *dlopen(const char *file, int flags)
{
    if (file && !(flags & RTLD_NOLOAD) &&
        (!strncmp(file, "libamdhip64", 11) || !strncmp(file, "/opt/", 5)))
        file = "libno-such-runtime.so.7";
    return next_dlopen(file, flags); /* a tail call: ld.so looks at the caller's RUNPATH */
}

static int status, value;

static void call(void)
{
    value = -7;
    status = hiplazy_hipGetDeviceCount(&value);
}

static void fail(const char *what)
{
    perror(what);
    exit(2);
}

/* A stack of exactly `size` bytes with an unmapped page below it. */
static void *stack_of(size_t size)
{
    char *start = mmap(NULL, size + 65536, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED || mprotect(start + 65536, size, PROT_READ | PROT_WRITE))
        fail("mmap");
    return start + 65536;
}

static void *call_in_thread(void *unused)
{
    call();
    return unused;
}

static void call_on_stack(size_t size)
{
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    if (pthread_attr_setstack(&attributes, stack_of(size), size) ||
        pthread_create(&thread, &attributes, call_in_thread, NULL))
        fail("no thread with such a stack");
    pthread_join(thread, NULL);
}

static void call_in_handler(int unused)
{
    (void)unused;
    call();
}

static void call_in_signal(size_t size)
{
    stack_t stack = {.ss_sp = stack_of(size), .ss_size = size};
    struct sigaction action = {.sa_handler = call_in_handler, .sa_flags = SA_ONSTACK};
    if (sigaltstack(&stack, NULL)) {
        printf("refused: %s\n", strerror(errno));
        exit(0);
    }
    sigaction(SIGUSR1, &action, NULL);
    raise(SIGUSR1);
}

static void *fail_once(void *unused)
{
    call();
    if (!*hiplazy_last_error())
        fail("no last error");
    return unused;
}

static size_t bytes_in_use(void)
{
#if __GLIBC_PREREQ(2, 33)
    return mallinfo2().uordblks;
#else
    return (size_t)mallinfo().uordblks;
#endif
}

static void fail_in_threads(int threads)
{
    size_t before = 0;
    pthread_t thread;
    for (int i = 0; i < threads; i++) {
        if (i == 1) /* what the first one leaves is the process's */
            before = bytes_in_use();
        if (pthread_create(&thread, NULL, fail_once, NULL))
            fail("no thread");
        pthread_join(thread, NULL);
    }
    printf("grown %ld\n", (long)(bytes_in_use() - before));
}

int main(int argc, char **argv)
{
    size_t size = argc > 2 ? (size_t)atoi(argv[2]) * 1024 : 0;
    if (argc < 3)
        return 2;
    alarm(60);
    next_dlopen = (void *(*)(const char *, int))dlsym(RTLD_NEXT, "dlopen");
    if (!strcmp(argv[1], "threads")) {
        fail_in_threads(atoi(argv[2]));
        return 0;
    }
    if (strcmp(argv[1], "first"))
        call();
    if (strcmp(argv[1], "signal"))
        call_on_stack(size);
    else
        call_in_signal(size);
    printf("count %d %d\n", status, value);
    return 0;
}
