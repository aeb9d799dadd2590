/* Three copies of hiplazy and another Rust library in one binary: prefixed, drop-in,
 * and a vendor's. Each is bound by its own first call. */
#include <hiplazy/hiplazy.h>
#include <stdio.h>
#include <tl_hip/hiplazy.h>

int hiplazy_hipRuntimeGetVersion(int *version);
int hipRuntimeGetVersion(int *version);
int tl_hipRuntimeGetVersion(int *version);
int other_library(const char *text);

int main(void) {
    int prefixed = -1, bare = -1, vendor = -1;
    if (hiplazy_runtime_path() || tl_runtime_path())
        return 2;
    printf("prefixed %d", hiplazy_hipRuntimeGetVersion(&prefixed));
    printf(" %d %s\n", prefixed, hiplazy_runtime_path());
    /* The copies share nothing: this one has not been bound yet. */
    if (tl_runtime_path())
        return 3;
    printf("bare %d", hipRuntimeGetVersion(&bare));
    printf(" %d\n", bare);
    printf("vendor %d", tl_hipRuntimeGetVersion(&vendor));
    printf(" %d %s\n", vendor, tl_runtime_path());
    printf("other %d\n", other_library("four"));
    return 0;
}
