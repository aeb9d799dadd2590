/* Four copies of hiplazy and another Rust library in one binary: prefixed, drop-in, a
 * vendor's, and a later version's. Each is bound by its own first call. The control
 * functions without the vendor's prefix are those of the copy that is linked first. */
#include <hiplazy/hiplazy.h>
#include <stdio.h>
#include <tl_hip/hiplazy.h>

int hiplazy_hipRuntimeGetVersion(int *version);
int hipRuntimeGetVersion(int *version);
int hiplazy_hipAardvark(int *value);
int tl_hipRuntimeGetVersion(int *version);
int other_library(const char *text);

static const char *path(void) {
    const char *bound = hiplazy_runtime_path();
    return bound ? bound : "-";
}

int main(void) {
    int prefixed = -1, bare = -1, vendor = -1;
    if (hiplazy_runtime_path() || tl_runtime_path())
        return 2;
    printf("prefixed %d", hiplazy_hipRuntimeGetVersion(&prefixed));
    printf(" %d %s\n", prefixed, path());
    /* The copies share nothing: this one has not been bound yet. */
    if (tl_runtime_path())
        return 3;
    printf("bare %d", hipRuntimeGetVersion(&bare));
    printf(" %d %s\n", bare, path());
    printf("vendor %d", tl_hipRuntimeGetVersion(&vendor));
    printf(" %d %s\n", vendor, tl_runtime_path());
    printf("later %d\n", hiplazy_hipAardvark(NULL));
    printf("other %d\n", other_library("four"));
    return 0;
}
