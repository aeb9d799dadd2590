// Calls from all the places that run when a thread, a library or the program ends.
//
//   endings            prints the answer from each place
//   endings first      the same, and the program made a call before
#include <cstdio>
#include <cstdlib>
#include <pthread.h>
#include <unistd.h>

extern "C" {
#include <hiplazy/hiplazy.h>

#include "wrappers.h"
}

static void call(const char *place)
{
    char line[128];
    int count = -7;
    int status = hiplazy_hipGetDeviceCount(&count);
    bool told = status == 0 || *hiplazy_last_error();
    int length =
        std::snprintf(line, sizeof line, "%s: %d %d%s\n", place, status, count, told ? "" : " untold");
    // Not through stdio, which may have ended.
    if (write(1, line, (size_t)length) != length)
        _exit(3);
}

struct Static {
    Static() { call("static constructor"); }
    ~Static() { call("static destructor"); }
};

struct ThreadLocal {
    ~ThreadLocal() { call("thread_local destructor"); }
};

static pthread_key_t before, after;

static void before_destructor(void *) { call("destructor of a key made before"); }
static void after_destructor(void *) { call("destructor of a key made after"); }

static void *thread(void *)
{
    static thread_local ThreadLocal local;
    (void)&local;
    pthread_setspecific(before, &before);
    pthread_setspecific(after, &after);
    return nullptr;
}

__attribute__((destructor)) static void at_unload() { call("destructor function"); }

static void at_exit() { call("atexit"); }

int main(int argc, char **)
{
    static Static object;
    (void)&object;
    alarm(60);
    pthread_key_create(&before, before_destructor);
    if (argc > 1)
        call("main");
    pthread_key_create(&after, after_destructor);
    std::atexit(at_exit);
    pthread_t id;
    pthread_create(&id, nullptr, thread, nullptr);
    pthread_join(id, nullptr);
    return 0;
}
