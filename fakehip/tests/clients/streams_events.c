#include "check.h"

static void count(void *counter) { ++*(int *)counter; }

int main(void) {
  hipStream_t stream;
  hipEvent_t start, stop, untimed;
  IS(0, hipStreamCreateWithPriority(&stream, 1, -5));
  int priority, called = 0;
  IS(0, hipStreamGetPriority(stream, &priority));
  CHECK(priority == -1);
  IS(0, hipEventCreate(&start));
  IS(0, hipEventCreate(&stop));
  IS(0, hipEventCreateWithFlags(&untimed, 2));
  IS(INVALID_VALUE, hipEventCreateWithFlags(&untimed, 0x100));

  float milliseconds = -1;
  IS(INVALID_HANDLE, hipEventElapsedTime(&milliseconds, start, stop)); /* not recorded */
  IS(0, hipEventRecord(start, stream));
  IS(0, hipLaunchHostFunc(stream, count, &called));
  CHECK(called == 1);
  IS(0, hipEventRecord(stop, stream));
  IS(0, hipEventRecord(untimed, NULL));
  IS(0, hipEventSynchronize(stop));
  IS(0, hipEventQuery(stop));
  IS(0, hipEventElapsedTime(&milliseconds, start, stop));
  CHECK(milliseconds >= 0 && milliseconds < 10000);
  IS(INVALID_HANDLE, hipEventElapsedTime(&milliseconds, start, untimed));
  IS(0, hipStreamWaitEvent(stream, stop, 0));
  IS(0, hipStreamQuery(stream));
  IS(0, hipStreamSynchronize(NULL));
  IS(0, hipDeviceSynchronize());

  /* One kind of handle for another, wild and dead handles. */
  IS(INVALID_HANDLE, hipStreamQuery(start));
  IS(INVALID_HANDLE, hipEventRecord(stream, NULL));
  IS(INVALID_HANDLE, hipStreamSynchronize((hipStream_t)0xdead000));
  IS(INVALID_HANDLE, hipEventDestroy(NULL));
  IS(INVALID_VALUE, hipStreamCreate(NULL));
  IS(0, hipStreamDestroy(stream));
  IS(INVALID_HANDLE, hipStreamDestroy(stream));
  IS(INVALID_HANDLE, hipMemcpyAsync(&called, &called, 4, H2H, stream));
  IS(0, hipEventDestroy(start));
  IS(0, hipEventDestroy(stop));
  CHECK(fakehip_live(FAKEHIP_EVENT) == 1 && fakehip_live(FAKEHIP_STREAM) == 0);
  IS(0, hipEventDestroy(untimed));
  return 0;
}
