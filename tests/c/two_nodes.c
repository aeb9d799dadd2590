/* tiny_runtime.c as a release would be that moves functions (two_nodes.map):
 * hipGetDeviceCount stays on hip_4.2 and has another answer on hip_9.9, which is its
 * default; hipGetDevice is on hip_9.9 alone. */
#define hipGetDeviceCount count_of_4_2
#include "tiny_runtime.c"

__asm__(".symver count_of_4_2, hipGetDeviceCount@hip_4.2");
__asm__(".symver count_of_9_9, hipGetDeviceCount@@hip_9.9");

int count_of_9_9(int *count) { return answer(count, 99); }
