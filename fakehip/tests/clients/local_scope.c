#include <dlfcn.h>

#include "check.h"

/* Not linked to the fake: opens the path it is given, RTLD_LOCAL. */
int main(int argc, char **argv) {
  CHECK(argc == 2);
  void *library = dlopen(argv[1], RTLD_LAZY | RTLD_LOCAL);
  CHECK(library);
  CHECK(!dlsym(RTLD_DEFAULT, "hipMalloc"));
  int (*allocate)(void **, size_t) = (int (*)(void **, size_t))dlsym(library, "hipMalloc");
  int (*address)(const char *, void **, int, uint64_t, unsigned *) =
      (int (*)(const char *, void **, int, uint64_t, unsigned *))dlsym(library, "hipGetProcAddress");
  void *pointer;
  unsigned status;
  IS(0, allocate(&pointer, 8));
  IS(0, address("hipGetDeviceProperties", &pointer, 600, 0, &status));
  CHECK(pointer == dlsym(library, "hipGetDevicePropertiesR0600") && status == 0);
  IS(0, address("hipMemcpy", &pointer, 600, 2, &status));
  CHECK(pointer == dlsym(library, "hipMemcpy_spt"));
  IS(NOT_FOUND, address("hipNoSuchFunction", &pointer, 600, 0, &status));
  CHECK(pointer == NULL && status == 1);
  CHECK(dlclose(library) == 0);
  return 0;
}
