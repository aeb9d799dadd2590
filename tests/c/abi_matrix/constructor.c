/* A runtime's constructor that calls HIP while hiplazy opens that runtime, with the headers
 * of HIP 6: one function that needs a translator on HIP 7, one that never needs any. */
#include <hiplazy/hiplazy.h>
#include <stdio.h>

int hiplazy_hipDeviceGetLimit_h5(size_t *value, int limit);
int hiplazy_hipGetDeviceCount(int *count);

static void call(const char *when)
{
    size_t value = 7;
    int count = -7;
    int status = hiplazy_hipDeviceGetLimit_h5(&value, 1);
    printf("%s: limit %d%s%s\n", when, status, status ? ", untouched: " : "",
           status ? (value == 7 ? "yes" : "no") : "");
    if (status)
        printf("%s\n", hiplazy_last_error());
    status = hiplazy_hipGetDeviceCount(&count);
    printf("%s: count %d %d\n", when, status, count);
}

void in_constructor(const char *whose)
{
    (void)whose;
    call("constructor");
}

int main(void)
{
    call("first");
    unsigned long long (*calls)(const char *);
    *(void **)&calls = hiplazy_symbol("fakehip_calls");
    printf("calls %llu\n", calls("hipDeviceGetLimit"));
    return 0;
}
