/* Scalars, texts and arrays that functions were given; constants of this version. */
#define FAKE_HIP_MAJOR HIP_MAJOR
#define FAKE_HIP_MINOR HIP_MINOR
#include "assert_that.h"
#include "layouts.h"

/* NULL where this version does not export the function. */
#define WEAK __attribute__((weak))
int hipDeviceGetAttribute(int *, int, int);
int hipDeviceGetLimit(size_t *, unsigned);
WEAK int hipDeviceSetLimit(unsigned, size_t);
int hipIpcOpenMemHandle(void **, hipIpcMemHandle_t, unsigned);
int hipSetDeviceFlags(unsigned);
int hipGetDeviceFlags(unsigned *);
int hipCtxCreate(void **, unsigned, int);
int hipCtxGetFlags(unsigned *);
int hipCtxGetApiVersion(void *, unsigned *);
int hipDevicePrimaryCtxSetFlags(int, unsigned);
int hipDevicePrimaryCtxGetState(int, unsigned *, int *);
int hipMemAdvise(const void *, size_t, unsigned, int);
WEAK int hipMemAdvise_v2(const void *, size_t, unsigned, hipMemLocation);
int hipMemPrefetchAsync(const void *, size_t, int, void *);
WEAK int hipMemPrefetchAsync_v2(const void *, size_t, hipMemLocation, unsigned, void *);
WEAK int hipLibraryLoadData(void **, const void *, int *, void **, unsigned, int *, void **,
                            unsigned);
WEAK int hipLibraryLoadFromFile(void **, const char *, int *, void **, unsigned, int *, void **,
                                unsigned);
WEAK int hipGetProcAddress(const char *, void **, int, uint64_t, unsigned *);
WEAK int hipGetProcAddress_spt(const char *, void **, int, uint64_t, unsigned *);
WEAK int hipGetDriverEntryPoint(const char *, void **, unsigned long long, unsigned *);
WEAK int hipGetDriverEntryPoint_spt(const char *, void **, unsigned long long, unsigned *);
int hipGetDevicePropertiesR0600(void *, int) WEAK;
int hipPointerGetAttribute(void *, unsigned, void *);
int hipDrvPointerGetAttributes(unsigned, unsigned *, void **, void *);
int hipMalloc(void **, size_t);
int hipMallocManaged(void **, size_t, unsigned);
int hipHostMalloc(void **, size_t, unsigned);
int hipMemcpy_spt(void *, const void *, size_t, unsigned);
int hipMemcpy(void *, const void *, size_t, unsigned);

#define GIVEN(function, argument, type, value)                                       \
  do {                                                                               \
    type kept_;                                                                      \
    CHECK(fakehip_given(#function, argument, &kept_, sizeof kept_) == sizeof kept_); \
    CHECK(kept_ == (type)(value));                                                   \
  } while (0)

static void attributes_and_limits(void) {
  int value;
  size_t size;
  IS(HIP_MAJOR <= 5 ? 0 : 1, hipDeviceGetAttribute(&value, 10003, 0)); /* GcnArch */
  GIVEN(hipDeviceGetAttribute, 1, int, 10003);
  GIVEN(hipDeviceGetAttribute, 2, int, 0);
  CHECK(fakehip_given("hipDeviceGetAttribute", 0, NULL, 0) == 0);
  IS(HIP_SINCE(7, 0) ? 0 : 1, hipDeviceGetAttribute(&value, 10019, 0));
  IS(HIP_SINCE(7, 1) ? 0 : 1, hipDeviceGetAttribute(&value, 10020, 0));

  IS(0, hipDeviceGetLimit(&size, hipLimitMallocHeapSize));
  CHECK(size == 0x30000);
  GIVEN(hipDeviceGetLimit, 1, unsigned, 2);
  size_t answer = 12345;
  IS(0, fakehip_answer("hipDeviceGetLimit", 0, &answer, sizeof answer));
  IS(0, hipDeviceGetLimit(&size, hipLimitMallocHeapSize));
  CHECK(size == 12345);
  IS(hipErrorUnsupportedLimit, hipDeviceGetLimit(&size, 3));
  IS(hipErrorUnsupportedLimit, hipDeviceGetLimit(&size, 4099));
  IS(HIP_SINCE(5, 3) ? 0 : hipErrorUnsupportedLimit, hipDeviceGetLimit(&size, 0));
  IS(HIP_SINCE(7, 0) ? 0 : hipErrorUnsupportedLimit, hipDeviceGetLimit(&size, 4098));
  IS(0, fakehip_answer("hipDeviceGetLimit", 0, NULL, 0));
  if (hipDeviceSetLimit) {
    IS(0, hipDeviceSetLimit(hipLimitPrintfFifoSize, 777));
    GIVEN(hipDeviceSetLimit, 0, unsigned, 1);
    GIVEN(hipDeviceSetLimit, 1, size_t, 777);
    IS(0, hipDeviceGetLimit(&size, hipLimitPrintfFifoSize));
    CHECK(size == 777);
    IS(hipErrorUnsupportedLimit, hipDeviceSetLimit(4099, 1));
    GIVEN(hipDeviceSetLimit, 0, unsigned, 4099);
  }
}

static void handles_and_flags(void) {
  void *pointer = NULL, *context = NULL;
  hipIpcMemHandle_t handle, kept;
  memset(&handle, 'h', sizeof handle);
  IS(0, hipIpcOpenMemHandle(&pointer, handle, HIP_MAJOR >= 6 ? 1 : 0));
  IS(hipErrorInvalidValue, hipIpcOpenMemHandle(&pointer, handle, HIP_MAJOR >= 6 ? 0 : 1));
  CHECK(fakehip_given("hipIpcOpenMemHandle", 1, &kept, sizeof kept) == sizeof kept);
  CHECK(memcmp(&kept, &handle, sizeof kept) == 0);
  GIVEN(hipIpcOpenMemHandle, 2, unsigned, HIP_MAJOR >= 6 ? 0 : 1);

  unsigned flags = 99;
  int active;
  IS(0, hipGetDeviceFlags(&flags));
  CHECK(flags == 0);
  IS(0, hipSetDeviceFlags(hipDeviceLmemResizeToMax));
  GIVEN(hipSetDeviceFlags, 0, unsigned, HIP_SINCE(5, 3) ? 0x10 : 0x16);
  IS(0, hipGetDeviceFlags(&flags));
  CHECK(flags == hipDeviceLmemResizeToMax);
  IS(0, hipCtxCreate(&context, 4, 0));
  GIVEN(hipCtxCreate, 1, unsigned, 4);
  IS(0, hipCtxGetFlags(&flags));
  CHECK(flags == 4 && context != NULL);
  IS(0, hipDevicePrimaryCtxSetFlags(0, 2));
  GIVEN(hipDevicePrimaryCtxSetFlags, 1, unsigned, 2);
  IS(0, hipDevicePrimaryCtxGetState(0, &flags, &active));
  CHECK(flags == 2 && active == 1);
  unsigned answer = 0x16;
  IS(0, fakehip_answer("hipDevicePrimaryCtxGetState", 1, &answer, sizeof answer));
  IS(0, hipDevicePrimaryCtxGetState(0, &flags, &active));
  CHECK(flags == 0x16);
  IS(0, hipCtxGetApiVersion(context, &flags));
  CHECK(flags == 4);
  IS(hipErrorInvalidContext, hipCtxGetApiVersion(&flags, &flags));
}

static void hints(void) {
  char memory[8];
  hipMemLocation location = {1, 0}, kept;
  IS(0, hipMemAdvise(memory, 8, 3, -1));
  GIVEN(hipMemAdvise, 2, unsigned, 3);
  GIVEN(hipMemAdvise, 3, int, -1);
  IS(hipErrorInvalidDevice, hipMemAdvise(memory, 8, 3, 5));
  IS(hipErrorInvalidValue, hipMemAdvise(NULL, 8, 3, 0));
  IS(0, hipMemPrefetchAsync(memory, 8, 0, NULL));
  GIVEN(hipMemPrefetchAsync, 0, void *, memory);
  GIVEN(hipMemPrefetchAsync, 2, int, 0);
  if (!hipMemAdvise_v2) return;
  IS(0, hipMemAdvise_v2(memory, 8, 3, location));
  CHECK(fakehip_given("hipMemAdvise_v2", 3, &kept, sizeof kept) == 8);
  CHECK(kept.type == 1 && kept.id == 0);
  location.type = 2;
  IS(0, hipMemPrefetchAsync_v2(memory, 8, location, 0, NULL));
  CHECK(fakehip_given("hipMemPrefetchAsync_v2", 2, &kept, sizeof kept) == 8 && kept.type == 2);
  location.type = 9;
  IS(hipErrorInvalidValue, hipMemAdvise_v2(memory, 8, 3, location));
}

static void texts_and_arrays(void) {
  char text[64];
  void *address = NULL;
  unsigned status;
  if (hipGetProcAddress) {
    IS(0, hipGetProcAddress("hipGetDeviceProperties", &address, 600, 0, &status));
    CHECK(address == (void *)hipGetDevicePropertiesR0600);
    CHECK(fakehip_given("hipGetProcAddress", 0, text, sizeof text) == 23);
    CHECK(strcmp(text, "hipGetDeviceProperties") == 0);
    GIVEN(hipGetProcAddress, 2, int, 600);
  }
  if (hipGetProcAddress_spt) {
    IS(0, hipGetProcAddress_spt("hipMemcpy", &address, 600, 0, &status));
    CHECK(address == (void *)hipMemcpy_spt);
  }
  if (hipGetDriverEntryPoint) {
    IS(0, hipGetDriverEntryPoint("hipGetDeviceProperties", &address, 0, &status));
    CHECK(address == (void *)hipGetDevicePropertiesR0600 && status == 0);
    CHECK(fakehip_given("hipGetDriverEntryPoint", 0, NULL, 0) == 23);
    IS(0, hipGetDriverEntryPoint_spt("hipMemcpy", &address, 0, &status));
    CHECK(address == (void *)hipMemcpy_spt);
    IS(hipErrorNotFound, hipGetDriverEntryPoint("hipNope", &address, 0, &status));
  }
  if (hipLibraryLoadData) {
    int options[2] = {3, 4}, more[1] = {5}, kept[2];
    void *values[2] = {options, more}, *library = NULL;
    IS(0, hipLibraryLoadData(&library, text, options, values, 2, more, values, 1));
    CHECK(library != NULL);
    CHECK(fakehip_given("hipLibraryLoadData", 2, kept, sizeof kept) == 8 && kept[1] == 4);
    CHECK(fakehip_given("hipLibraryLoadData", 3, NULL, 0) == 16);
    CHECK(fakehip_given("hipLibraryLoadData", 5, kept, sizeof kept) == 4 && kept[0] == 5);
    IS(hipErrorInvalidValue, hipLibraryLoadFromFile(&library, "file", NULL, NULL, 2, NULL, NULL, 0));
    CHECK(fakehip_given("hipLibraryLoadFromFile", 1, text, sizeof text) == 5);
    IS(0, hipLibraryLoadFromFile(&library, "file", NULL, NULL, 0, NULL, NULL, 0));
  }
}

static void pointers(void) {
  char *device;
  void *managed, *host, *start = NULL;
  unsigned type = 99, own;
  int ordinal = -1;
  IS(0, hipMalloc((void **)&device, 100));
  IS(0, hipMallocManaged(&managed, 100, 1));
  IS(0, hipHostMalloc(&host, 100, 0));
  IS(0, hipPointerGetAttribute(&type, 2, device));
  GIVEN(hipPointerGetAttribute, 1, unsigned, 2);
  CHECK(type == hipMemoryTypeDevice);
  IS(0, hipPointerGetAttribute(&type, 2, host));
  CHECK(type == hipMemoryTypeHost);
#if HIP_SINCE(5, 3)
  IS(0, hipPointerGetAttribute(&type, 2, managed));
  CHECK(type == hipMemoryTypeManaged);
#endif
  unsigned wanted[3] = {2, 9, 11}, kept[3];
  void *data[3] = {&type, &ordinal, &start};
  IS(0, hipDrvPointerGetAttributes(3, wanted, data, device + 7));
  CHECK(type == hipMemoryTypeDevice && ordinal == 0 && start == device);
  CHECK(fakehip_given("hipDrvPointerGetAttributes", 1, kept, sizeof kept) == sizeof kept);
  CHECK(memcmp(kept, wanted, sizeof kept) == 0);

  own = hipMemoryTypeArray;
  IS(0, fakehip_answer("hipPointerGetAttribute", 0, &own, sizeof own));
  IS(0, hipPointerGetAttribute(&type, 2, device));
  CHECK(type == hipMemoryTypeArray);
  IS(0, hipPointerGetAttribute(&start, 11, device)); /* of another size */
  CHECK(start == device);
  own = hipMemoryTypeUnified;
  IS(0, fakehip_answer("hipDrvPointerGetAttributes", FAKEHIP_POINTED_TO, &own, sizeof own));
  IS(0, hipDrvPointerGetAttributes(3, wanted, data, device));
  CHECK(type == hipMemoryTypeUnified && ordinal == 0);
  IS(801, hipPointerGetAttribute(&type, 5, device));
  IS(hipErrorInvalidValue, hipPointerGetAttribute(NULL, 2, device));
}

static void controls(void) {
  int device = 7;
  unsigned flags;
  IS(-1, fakehip_answer("hipNoSuchFunction", 0, &device, sizeof device));
  IS(-1, fakehip_answer("hipGraphCreate", 0, &device, sizeof device)); /* not modelled */
  IS(-1, fakehip_answer("hipSetDeviceFlags", 0, &flags, sizeof flags)); /* no out pointer */
  IS(-1, fakehip_answer("hipGetDeviceFlags", 1, &flags, sizeof flags)); /* no such argument */
  IS(-1, fakehip_answer("hipGetDeviceFlags", FAKEHIP_POINTED_TO, &flags, sizeof flags));
  /* A call that fails answers nothing. */
  flags = 5;
  IS(0, fakehip_answer("hipGetDeviceFlags", 0, &flags, sizeof flags));
  flags = 9;
  IS(0, fakehip_fail("hipGetDeviceFlags", 1, 1, 1));
  IS(1, hipGetDeviceFlags(&flags));
  CHECK(flags == 9);
  IS(0, hipGetDeviceFlags(&flags));
  CHECK(flags == 5);
  /* A name with _spt is a function of its own. */
  IS(0, hipMemcpy_spt(&flags, &device, 4, 0));
  CHECK(fakehip_given("hipMemcpy", 2, NULL, 0) == 0);
  GIVEN(hipMemcpy_spt, 2, size_t, 4);

  fakehip_reset();
  CHECK(fakehip_given("hipMemcpy_spt", 2, NULL, 0) == 0);
  IS(0, hipGetDeviceFlags(&flags));
  CHECK(flags == 2);
  /* Answers work without recording, which keeps nothing. */
  flags = 6;
  IS(0, fakehip_answer("hipGetDeviceFlags", 0, &flags, sizeof flags));
  IS(0, hipGetDeviceFlags(&flags));
  CHECK(flags == 6);
  IS(0, hipSetDeviceFlags(2));
  CHECK(fakehip_given("hipSetDeviceFlags", 0, NULL, 0) == 0);
}

int main(void) {
  fakehip_record(1);
  attributes_and_limits();
  handles_and_flags();
  hints();
  texts_and_arrays();
  pointers();
  controls();
  return 0;
}
