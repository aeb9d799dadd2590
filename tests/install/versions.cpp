// What the compiler saw and what hiplazy answers.
#include <hip/hip_runtime_api.h>
#include <hiplazy/hiplazy.h>

#include <cstdio>

int main() {
    int count = -1;
    if (hipGetDeviceCount(&count) == hipSuccess || count != 0)
        return 1;
    std::printf("%d %d\n", HIP_VERSION, hiplazy_header_version());
    return 0;
}
