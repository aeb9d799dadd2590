/* One measurement in a fresh process: nanoseconds on standard output.
 *
 *   probe open LIBRARY [EARLIER...]          dlopen of LIBRARY
 *   probe call LIBRARY SYMBOL [EARLIER...]   first call of SYMBOL(int *) in it, after
 *                                            it is open
 *   probe names LIBRARY FILE [EARLIER...]    dlvsym, else dlsym, of each "name node" line
 *                                            of FILE in it, after it is open
 *
 * EARLIER libraries are opened before the clock starts.
 */
#define _GNU_SOURCE
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

enum { MOST_NAMES = 2000, LONGEST = 96 };
static char names[MOST_NAMES][LONGEST], nodes[MOST_NAMES][LONGEST];

static long long look_up(void *library, const char *path)
{
  FILE *file = fopen(path, "r");
  int count = 0;
  if (!file) {
    perror(path);
    return -1;
  }
  while (count < MOST_NAMES && fscanf(file, "%95s %95s", names[count], nodes[count]) == 2) count++;
  fclose(file);
  volatile void *last = NULL;
  long long start = now();
  for (int i = 0; i < count; i++) {
    void *address = dlvsym(library, names[i], nodes[i]);
    last = address ? address : dlsym(library, names[i]);
  }
  (void)last;
  return now() - start;
}

int main(int argc, char **argv)
{
  int call = argc > 1 && !strcmp(argv[1], "call");
  int by_name = argc > 1 && !strcmp(argv[1], "names");
  if (argc < 3 + call + by_name || (!call && !by_name && strcmp(argv[1], "open"))) {
    fprintf(stderr, "usage: probe open LIBRARY [EARLIER...] | call LIBRARY SYMBOL [EARLIER...] | "
                    "names LIBRARY FILE [EARLIER...]\n");
    return 2;
  }
  for (int i = 3 + call + by_name; i < argc; i++)
    if (!open_library(argv[i])) return 1;
  now(); /* the vDSO's own first call */
  long long start = now();
  void *library = open_library(argv[2]);
  long long end = now();
  if (!library) return 1;
  if (by_name) {
    long long time = look_up(library, argv[3]);
    if (time < 0) return 1;
    printf("%lld\n", time);
    return 0;
  }
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
