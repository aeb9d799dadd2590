/* The part of a program that knows nothing of HIP. */
#include <stdio.h>

int core_version(void);

int main(void) {
    printf("%d\n", core_version());
    return 0;
}
