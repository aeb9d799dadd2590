#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static atomic_int stop;

/* Keeps the locks busy while the main thread forks. */
static void *busy(void *argument) {
  (void)argument;
  while (!stop) {
    void *pointer;
    IS(0, hipMalloc(&pointer, 3 << 20));
    IS(0, hipFree(pointer));
  }
  return NULL;
}

static void child(void) {
  alarm(20);
  void *pointer;
  IS(0, hipMalloc(&pointer, 100));
  IS(0, hipMemset(pointer, 1, 100));
  IS(0, hipFree(pointer));
  IS(0, hipMalloc(&pointer, 3 << 20));
  CHECK(fakehip_calls("hipMalloc") >= 2);
  _exit(0);
}

int main(void) {
  int status;
  fakehip_record(1);
  pthread_t threads[4];
  for (int i = 0; i < 4; i++) CHECK(pthread_create(&threads[i], NULL, busy, NULL) == 0);
  for (int i = 0; i < 50; i++) {
    pid_t pid = fork();
    if (pid == 0) child();
    CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  stop = 1;
  for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
  return 0;
}
