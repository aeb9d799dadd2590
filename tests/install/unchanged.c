/* Source that was written for -lamdhip64. */
#include <stdio.h>

int hipGetDeviceCount(int *count);
const char *hipGetErrorName(int error);

int main(void) {
    int count = -1;
    int error = hipGetDeviceCount(&count);
    printf("%s %d\n", hipGetErrorName(error), count);
    return 0;
}
