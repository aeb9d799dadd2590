/* First calls of an entry that depends on the runtime's minor version, which the runtime has
 * to be asked for.
 *
 *   undecided THREADS       0: one call, of a process with a profiler that calls the same
 *                           function whenever the runtime is asked for its version
 *
 * The entry is for the headers of 7.0: 10019 is what the runtime knows as 10020.
 */
#include <hiplazy/hiplazy.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int hiplazy_hipDeviceGetAttribute_h7(int *value, int attribute, int device);

static pthread_barrier_t barrier;
static int wrong, depth, deepest;

static void call(const char *who)
{
    int value = -7, status = hiplazy_hipDeviceGetAttribute_h7(&value, 10019, 0);
    printf("%s: %d %d %s\n", who, status, value, status ? hiplazy_last_error() : "");
}

static void profiler(void)
{
    if (++depth > deepest)
        deepest = depth;
    if (depth < 10)
        call("profiler");
    depth--;
}

static int (*times_asked)(void);
static int wanted, done;

/* Keeps the first thread inside the runtime until another asks as well, or none can. */
static void wait_for_another(void)
{
    while (times_asked() < 2 && __atomic_load_n(&done, __ATOMIC_SEQ_CST) < wanted - 1)
        sched_yield();
}

static void *in_thread(void *unused)
{
    int value = -7;
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < 3; i++)
        if (hiplazy_hipDeviceGetAttribute_h7(&value, 10019, 0) || value != 10020)
            __atomic_add_fetch(&wrong, 1, __ATOMIC_SEQ_CST);
    __atomic_add_fetch(&done, 1, __ATOMIC_SEQ_CST);
    return unused;
}

static int number(const char *function)
{
    int (*get)(void);
    *(void **)&get = hiplazy_symbol(function);
    return get();
}

int main(int count, char **arguments)
{
    pthread_t threads[64];
    wanted = count > 1 ? atoi(arguments[1]) : 0;
    alarm(60);
    void (*watch)(void (*)(void));
    *(void **)&watch = hiplazy_symbol("watch");
    if (!watch) {
        puts(hiplazy_last_error());
        return 1;
    }
    watch(wanted ? wait_for_another : profiler);
    *(void **)&times_asked = hiplazy_symbol("times_asked");
    if (wanted == 0) {
        call("first");
        call("second");
        printf("deepest %d, asked %d, called %d\n", deepest, number("times_asked"), number("times_called"));
        return 0;
    }
    pthread_barrier_init(&barrier, NULL, (unsigned)wanted);
    for (int i = 0; i < wanted; i++)
        if (pthread_create(&threads[i], NULL, in_thread, NULL))
            return 1;
    for (int i = 0; i < wanted; i++)
        pthread_join(threads[i], NULL);
    printf("wrong %d, called %d\n", wrong, number("times_called"));
    return 0;
}
