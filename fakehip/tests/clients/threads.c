#include <pthread.h>

#include "check.h"

enum { THREADS = 64, ROUNDS = 300 };

static void *shared[THREADS];
static pthread_barrier_t barrier;

static void *work(void *argument) {
  int number = (int)(intptr_t)argument, device;
  pthread_barrier_wait(&barrier); /* the first call of all at once */
  IS(0, hipGetDevice(&device));
  CHECK(device == 0);
  IS(0, hipSetDevice(number % 4));
  for (int round = 0; round < ROUNDS; round++) {
    void *pointers[8];
    for (int i = 0; i < 8; i++) {
      IS(0, hipMalloc(&pointers[i], (size_t)1 << (4 + 2 * i)));
      IS(0, hipMemset(pointers[i], number, 16));
    }
    hipStream_t stream;
    IS(0, hipStreamCreate(&stream));
    for (int i = 0; i < 8; i++) {
      unsigned char back[16];
      IS(0, hipMemcpyAsync(back, pointers[i], 16, D2H, stream));
      for (int j = 0; j < 16; j++) CHECK(back[j] == number);
      IS(0, hipFree(pointers[i]));
    }
    IS(0, hipStreamDestroy(stream));
  }
  /* One thread's memory is released by another. */
  IS(0, hipMalloc(&shared[number], 1000));
  pthread_barrier_wait(&barrier);
  IS(0, hipFree(shared[(number + 1) % THREADS]));
  IS(0, hipGetDevice(&device));
  CHECK(device == number % 4);
  return NULL;
}

int main(void) {
  pthread_t threads[THREADS];
  pthread_barrier_init(&barrier, NULL, THREADS);
  for (intptr_t i = 0; i < THREADS; i++)
    CHECK(pthread_create(&threads[i], NULL, work, (void *)i) == 0);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  CHECK(fakehip_live(FAKEHIP_DEVICE_MEMORY) == 0 && fakehip_live(FAKEHIP_STREAM) == 0);
  for (int device = 0; device < 4; device++) CHECK(fakehip_used_bytes(device) == 0);
  return 0;
}
