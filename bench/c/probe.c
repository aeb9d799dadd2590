/* One measurement in a fresh process: nanoseconds on standard output.
 *
 *   probe open LIBRARY [EARLIER...]          dlopen of LIBRARY
 *   probe call LIBRARY SYMBOL [EARLIER...]   first call of SYMBOL(int *) in it, after
 *                                            it is open
 *
 * EARLIER libraries are opened before the clock starts.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static void *open_library(const char *path)
{
  void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!handle) fprintf(stderr, "%s\n", dlerror());
  return handle;
}

static long long now(void)
{
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

int main(int argc, char **argv)
{
  int call = argc > 1 && !strcmp(argv[1], "call");
  if (argc < 3 + call || (!call && strcmp(argv[1], "open"))) {
    fprintf(stderr, "usage: probe open LIBRARY [EARLIER...] | call LIBRARY SYMBOL [EARLIER...]\n");
    return 2;
  }
  for (int i = 3 + call; i < argc; i++)
    if (!open_library(argv[i])) return 1;
  now(); /* the vDSO's own first call */
  long long start = now();
  void *library = open_library(argv[2]);
  long long end = now();
  if (!library) return 1;
  if (call) {
    int (*function)(int *);
    int value = -1;
    *(void **)&function = dlsym(library, argv[3]);
    if (!function) {
      fprintf(stderr, "%s has no %s\n", argv[2], argv[3]);
      return 1;
    }
    start = now();
    int result = function(&value);
    end = now();
    if (result || value != 0) {
      fprintf(stderr, "%s returned %d and the value %d\n", argv[3], result, value);
      return 1;
    }
  }
  printf("%lld\n", end - start);
  return 0;
}
