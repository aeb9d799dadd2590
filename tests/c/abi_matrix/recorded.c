/* A program whose headers are told by the record that is linked into it, with hiplazy's
 * plain entries.
 *
 *   -DHEADERS=70051831    the record
 *
 * Prints what functions were given by it and what the fake runtime was given.
 */
#include <hiplazy/hiplazy.h>
#include <stdint.h>
#include <stdio.h>

extern const int hiplazy_consumer_hip_version[2];
__attribute__((visibility("hidden"))) const int hiplazy_consumer_hip_version[2] = {HEADERS, ~HEADERS};

int hiplazy_hipSetDeviceFlags(unsigned);
int hiplazy_hipDeviceSetLimit(int, size_t);
int hiplazy_hipDeviceGetAttribute(int *, int, int);

static void show(const char *function, int status)
{
    unsigned given = 0, argument = function[9] == 'G'; /* hipDeviceGetAttribute */
    size_t (*take)(const char *, unsigned, void *, size_t);
    void (*reset)(void);
    *(void **)&take = hiplazy_symbol("fakehip_given");
    *(void **)&reset = hiplazy_symbol("fakehip_reset");
    size_t size = take(function, argument, &given, sizeof given);
    printf("%s %d %zu %u\n", function, status, size, given);
    reset();
}

int main(void)
{
    int value;
    if (hiplazy_load()) {
        puts(hiplazy_last_error());
        return 1;
    }
    show("hipSetDeviceFlags", hiplazy_hipSetDeviceFlags(0x16));
    show("hipDeviceSetLimit", hiplazy_hipDeviceSetLimit(3, 4096));
    show("hipDeviceSetLimit", hiplazy_hipDeviceSetLimit(4099, 4096));
    /* PciChipId of 7.0 and of 7.1, and the last of HIP 5 that 6.0 took away. */
    show("hipDeviceGetAttribute", hiplazy_hipDeviceGetAttribute(&value, 10019, 0));
    show("hipDeviceGetAttribute", hiplazy_hipDeviceGetAttribute(&value, 10020, 0));
    show("hipDeviceGetAttribute", hiplazy_hipDeviceGetAttribute(&value, REMOVED, 0));
    return 0;
}
