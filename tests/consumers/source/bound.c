/* What a consumer that knows hiplazy can say of its binding.
 *
 * The vendor's consumer is compiled with -DPREFIX=tl_ and its own header folder; the
 * file is the same.
 */
#include <stdio.h>
#include <string.h>

#ifdef CONTROL_HEADER
#include CONTROL_HEADER
#else
#include <hiplazy/hiplazy.h>
#endif
#ifndef PREFIX
#define PREFIX hiplazy_
#endif
#define JOINED(prefix, name) prefix##name
#define JOIN(prefix, name) JOINED(prefix, name)
#define HIPLAZY(name) JOIN(PREFIX, name)

__attribute__((visibility("default"))) int bound(void)
{
    int code = HIPLAZY(load)();
    const char *path = HIPLAZY(runtime_path)();
    printf("bound: %d, version %d, headers %d, R0600 %s, %s\n", code, HIPLAZY(runtime_version)(),
           HIPLAZY(header_version)(), HIPLAZY(has)("hipGetDevicePropertiesR0600") ? "yes" : "no",
           path ? path : "no runtime");
    if (code) {
        const char *why = HIPLAZY(last_error)();
        printf("because: %.*s\n", (int)strcspn(why, "\n"), why);
    }
    fflush(stdout);
    return 0;
}
