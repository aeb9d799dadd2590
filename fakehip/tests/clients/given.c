/* Every function that was given a struct of this version keeps its bytes and no
 * others, and writes one of this version where it has to. */
#define FAKE_HIP_MAJOR HIP_MAJOR
#define FAKE_HIP_MINOR HIP_MINOR
#define _GNU_SOURCE
#include <sys/mman.h>

#include "assert_that.h"
#include "layouts.h"

/* NULL where this version does not export the function. */
#define WEAK __attribute__((weak))
typedef unsigned long long flags64;
WEAK int hipMemcpyParam2D(const hip_Memcpy2D *);
WEAK int hipMemcpyParam2DAsync(const hip_Memcpy2D *, hipStream_t);
WEAK int hipDrvMemcpy2DUnaligned(const hip_Memcpy2D *);
WEAK int hipDrvMemcpy3D(const HIP_MEMCPY3D *);
WEAK int hipDrvMemcpy3DAsync(const HIP_MEMCPY3D *, hipStream_t);
WEAK int hipDrvGraphAddMemcpyNode(void **, void *, void **, size_t, const HIP_MEMCPY3D *, void *);
WEAK int hipDrvGraphMemcpyNodeSetParams(void *, const HIP_MEMCPY3D *);
WEAK int hipDrvGraphMemcpyNodeGetParams(void *, HIP_MEMCPY3D *);
WEAK int hipDrvGraphExecMemcpyNodeSetParams(void *, void *, const HIP_MEMCPY3D *, void *);
WEAK int hipImportExternalMemory(void **, const hipExternalMemoryHandleDesc *);
WEAK int hipExternalMemoryGetMappedBuffer(void **, void *, const hipExternalMemoryBufferDesc *);
WEAK int hipImportExternalSemaphore(void **, const hipExternalSemaphoreHandleDesc *);
WEAK int hipSignalExternalSemaphoresAsync(void **, const hipExternalSemaphoreSignalParams *,
                                          unsigned, hipStream_t);
WEAK int hipWaitExternalSemaphoresAsync(void **, const hipExternalSemaphoreWaitParams *, unsigned,
                                        hipStream_t);
typedef hipExternalSemaphoreSignalNodeParams signal_node;
typedef hipExternalSemaphoreWaitNodeParams wait_node;
WEAK int hipGraphAddExternalSemaphoresSignalNode(void **, void *, void **, size_t,
                                                 const signal_node *);
WEAK int hipGraphAddExternalSemaphoresWaitNode(void **, void *, void **, size_t, const wait_node *);
WEAK int hipGraphExternalSemaphoresSignalNodeSetParams(void *, const signal_node *);
WEAK int hipGraphExternalSemaphoresWaitNodeSetParams(void *, const wait_node *);
WEAK int hipGraphExternalSemaphoresSignalNodeGetParams(void *, signal_node *);
WEAK int hipGraphExternalSemaphoresWaitNodeGetParams(void *, wait_node *);
WEAK int hipGraphExecExternalSemaphoresSignalNodeSetParams(void *, void *, const signal_node *);
WEAK int hipGraphExecExternalSemaphoresWaitNodeSetParams(void *, void *, const wait_node *);
WEAK int hipMemCreate(void **, size_t, const hipMemAllocationProp *, flags64);
WEAK int hipMemGetAllocationGranularity(size_t *, const hipMemAllocationProp *, unsigned);
WEAK int hipMemGetAllocationPropertiesFromHandle(hipMemAllocationProp *, void *);
WEAK int hipMemPoolCreate(void **, const hipMemPoolProps *);
WEAK int hipGraphNodeGetType(void *, unsigned *);
WEAK int hipDrvGraphAddMemsetNode(void **, void *, void **, size_t, const void *, void *);
WEAK int hipDrvGraphExecMemsetNodeSetParams(void *, void *, const void *, void *);
WEAK int hipGraphKernelNodeGetAttribute(void *, unsigned, void *);
WEAK int hipGraphKernelNodeSetAttribute(void *, unsigned, const void *);
WEAK int hipGraphAddMemAllocNode(void **, void *, void **, size_t, hipMemAllocNodeParams *);
WEAK int hipGraphMemAllocNodeGetParams(void *, hipMemAllocNodeParams *);
WEAK int hipGraphAddNode(void **, void *, void **, size_t, hipGraphNodeParams *);
WEAK int hipGraphNodeSetParams(void *, hipGraphNodeParams *);
WEAK int hipGraphExecNodeSetParams(void *, void *, hipGraphNodeParams *);
WEAK int hipChooseDevice(int *, const void *);
WEAK int hipChooseDeviceR0000(int *, const void *);
WEAK int hipChooseDeviceR0600(int *, const void *);
WEAK int hipDeviceGetTexture1DLinearMaxWidth(size_t *, const hipChannelFormatDesc *, int);
WEAK int hipPointerGetAttributes(void *, const void *);
int hipMalloc(void **, size_t);

#define HANDLE ((void *)0x1000)

static unsigned char *page;
static long page_bytes;
static unsigned checked;

/* A copy that ends where memory ends: whoever reads more than it crashes. */
static void *at_the_edge(const void *bytes, size_t size) {
  void *copy = page + page_bytes - size;
  return memcpy(copy, bytes, size);
}

static void is_given(const char *function, unsigned argument, const void *bytes, size_t size) {
  unsigned char kept[2048];
  size_t got = fakehip_given(function, argument, kept, sizeof kept);
  if (got != size || memcmp(kept, bytes, size) != 0)
    fprintf(stderr, "%s, argument %u: %zu bytes, not these %zu\n", function, argument, got, size);
  CHECK(got == size && memcmp(kept, bytes, size) == 0);
  checked++;
}

/* Calls a function, which may not exist, with `edge` for the struct. */
#define GIVE(function, argument, value, ...)                          \
  if (function) {                                                     \
    void *edge = at_the_edge(&(value), sizeof(value));                \
    (void)edge;                                                       \
    IS(0, function(__VA_ARGS__));                                     \
    is_given(#function, argument, &(value), sizeof(value));           \
  }

/* Fills a struct between canaries: first with the function's own answer, which must
 * leave no byte of a member `untouched`, then with ours. */
#define TAKE(function, argument, type, own, ...)                                     \
  if (function) {                                                                    \
    static FAKEHIP_GUARDED(type) out;                                                \
    FAKEHIP_GUARD(out);                                                              \
    IS(0, function(__VA_ARGS__));                                                    \
    CHECK(FAKEHIP_GUARD_BROKEN(out) == 0 && (own));                                  \
    unsigned char ours[sizeof(type)];                                                \
    for (size_t i = 0; i < sizeof ours; i++) ours[i] = (unsigned char)(i * 7 + 1);   \
    IS(-1, fakehip_answer(#function, argument, ours, sizeof ours - 1));              \
    IS(-1, fakehip_answer(#function, argument, ours, sizeof ours + 8));              \
    IS(0, fakehip_answer(#function, argument, ours, sizeof ours));                   \
    FAKEHIP_GUARD(out);                                                              \
    IS(0, function(__VA_ARGS__));                                                    \
    CHECK(FAKEHIP_GUARD_BROKEN(out) == 0 && memcmp(&out.value, ours, sizeof ours) == 0); \
    IS(0, fakehip_answer(#function, argument, NULL, 0));                             \
    IS(0, function(__VA_ARGS__));                                                    \
    CHECK(own);                                                                      \
    checked++;                                                                       \
  }

/* Bytes that differ, so that a struct of another size or place is noticed. */
static void paint(void *value, size_t size, unsigned char first) {
  for (size_t i = 0; i < size; i++) ((unsigned char *)value)[i] = (unsigned char)(first + i);
}

static void copies(void) {
  hip_Memcpy2D two;
  paint(&two, sizeof two, 1);
  two.srcMemoryType = hipMemoryTypeUnified;
  two.dstMemoryType = hipMemoryTypeArray;
  GIVE(hipMemcpyParam2D, 0, two, edge);
  GIVE(hipMemcpyParam2DAsync, 0, two, edge, NULL);
  GIVE(hipDrvMemcpy2DUnaligned, 0, two, edge);

  HIP_MEMCPY3D three;
  paint(&three, sizeof three, 3);
  three.srcMemoryType = hipMemoryTypeDevice;
  three.dstMemoryType = hipMemoryTypeHost;
  void *node = NULL, *after[2] = {HANDLE, (void *)0x2000};
  GIVE(hipDrvMemcpy3D, 0, three, edge);
  GIVE(hipDrvMemcpy3DAsync, 0, three, edge, NULL);
  GIVE(hipDrvGraphAddMemcpyNode, 4, three, &node, HANDLE, after, 2, edge, NULL);
  if (hipDrvGraphAddMemcpyNode) {
    CHECK(node != NULL);
    is_given("hipDrvGraphAddMemcpyNode", 2, after, sizeof after);
  }
  GIVE(hipDrvGraphMemcpyNodeSetParams, 1, three, HANDLE, edge);
  GIVE(hipDrvGraphExecMemcpyNodeSetParams, 2, three, HANDLE, HANDLE, edge, NULL);
  TAKE(hipDrvGraphMemcpyNodeGetParams, 1, HIP_MEMCPY3D,
       out.value.srcMemoryType == hipMemoryTypeHost && out.value.Depth == 0x3d0f, HANDLE,
       &out.value);

  /* A memory type of another version is refused, and kept all the same. */
  three.srcMemoryType = 77;
  IS(hipErrorInvalidValue, hipDrvMemcpy3D(&three));
  is_given("hipDrvMemcpy3D", 0, &three, sizeof three);
  two.dstMemoryType = 12;
  IS(hipErrorInvalidValue, hipMemcpyParam2D(&two));
  IS(hipErrorInvalidValue, hipMemcpyParam2D(NULL));
  CHECK(fakehip_given("hipMemcpyParam2D", 0, NULL, 0) == 0);
}

/* Where the fake owns the device's side, bytes really move. */
static void moved(void) {
  char *device, host[64] = "abcdefghijklmnopqrstuvwxyz", back[64] = {0};
  IS(0, hipMalloc((void **)&device, 64));
  memset(device, '.', 64);
  hip_Memcpy2D in = {.srcMemoryType = hipMemoryTypeHost, .srcHost = host, .srcPitch = 8,
                     .srcXInBytes = 1, .srcY = 1, .dstMemoryType = hipMemoryTypeDevice,
                     .dstDevice = device, .dstPitch = 16, .WidthInBytes = 3, .Height = 2};
  IS(0, hipMemcpyParam2D(&in));
  CHECK(memcmp(device, "jkl.............rst.", 20) == 0);
  HIP_MEMCPY3D out = {.srcMemoryType = hipMemoryTypeDevice, .srcDevice = device, .srcPitch = 16,
                      .srcHeight = 1, .dstMemoryType = hipMemoryTypeHost, .dstHost = back,
                      .dstPitch = 4, .dstHeight = 2, .dstY = 1, .WidthInBytes = 3, .Height = 1,
                      .Depth = 2};
  IS(0, hipDrvMemcpy3D(&out));
  CHECK(memcmp(back, "\0\0\0\0jkl\0\0\0\0\0rst\0", 16) == 0);
  in.Height = 5; /* no room: nothing moves */
  IS(0, hipMemcpyParam2D(&in));
  CHECK(memcmp(device, "jkl.............rst.", 20) == 0 && device[63] == '.');
}

static void external(void) {
  void *handle = NULL, *semaphores[3] = {HANDLE, (void *)0x2000, (void *)0x3000};
  hipExternalMemoryHandleDesc memory;
  hipExternalMemoryBufferDesc buffer;
  hipExternalSemaphoreHandleDesc semaphore;
  paint(&memory, sizeof memory, 11);
  paint(&buffer, sizeof buffer, 12);
  paint(&semaphore, sizeof semaphore, 13);
  GIVE(hipImportExternalMemory, 1, memory, &handle, edge);
  GIVE(hipExternalMemoryGetMappedBuffer, 2, buffer, &handle, HANDLE, edge);
  GIVE(hipImportExternalSemaphore, 1, semaphore, &handle, edge);
  memory.type = 0;
  IS(hipErrorInvalidValue, hipImportExternalMemory(&handle, &memory));

  struct { hipExternalSemaphoreSignalParams each[3]; } signals;
  struct { hipExternalSemaphoreWaitParams each[3]; } waits;
  paint(&signals, sizeof signals, 14);
  paint(&waits, sizeof waits, 15);
  GIVE(hipSignalExternalSemaphoresAsync, 1, signals, semaphores, edge, 3, NULL);
  GIVE(hipWaitExternalSemaphoresAsync, 1, waits, semaphores, edge, 3, NULL);
  is_given("hipWaitExternalSemaphoresAsync", 0, semaphores, sizeof semaphores);
  IS(hipErrorInvalidValue, hipSignalExternalSemaphoresAsync(semaphores, NULL, 3, NULL));

  signal_node signal = {(void *)semaphores, signals.each, 3};
  wait_node wait = {(void *)semaphores, waits.each, 3};
#define NODE(function, argument, value, array, ...)                        \
  GIVE(function, argument, value, __VA_ARGS__);                            \
  if (function) is_given(#function, FAKEHIP_POINTED_TO, &array, sizeof array)
  NODE(hipGraphAddExternalSemaphoresSignalNode, 4, signal, signals, &handle, HANDLE, NULL, 0, edge);
  NODE(hipGraphAddExternalSemaphoresWaitNode, 4, wait, waits, &handle, HANDLE, NULL, 0, edge);
  NODE(hipGraphExternalSemaphoresSignalNodeSetParams, 1, signal, signals, HANDLE, edge);
  NODE(hipGraphExternalSemaphoresWaitNodeSetParams, 1, wait, waits, HANDLE, edge);
  NODE(hipGraphExecExternalSemaphoresSignalNodeSetParams, 2, signal, signals, HANDLE, HANDLE, edge);
  NODE(hipGraphExecExternalSemaphoresWaitNodeSetParams, 2, wait, waits, HANDLE, HANDLE, edge);
  TAKE(hipGraphExternalSemaphoresSignalNodeGetParams, 1, signal_node,
       out.value.numExtSems == 2 && out.value.paramsArray[1].flags == 0x5121, HANDLE, &out.value);
  TAKE(hipGraphExternalSemaphoresWaitNodeGetParams, 1, wait_node,
       out.value.numExtSems == 2 && out.value.paramsArray[1].params.keyedMutex.timeoutMs == 0x5221,
       HANDLE, &out.value);
  if (hipGraphAddExternalSemaphoresSignalNode) {
    signal.numExtSems = 0;
    IS(hipErrorInvalidValue, hipGraphExternalSemaphoresSignalNodeSetParams(HANDLE, &signal));
  }
}

static void virtual_memory(void) {
  void *handle = NULL;
  size_t granularity = 0;
  hipMemAllocationProp properties;
  paint(&properties, sizeof properties, 21);
  properties.type = hipMemAllocationTypePinned;
  GIVE(hipMemCreate, 2, properties, &handle, 4096, edge, 0);
  size_t size = 4096;
  is_given("hipMemCreate", 1, &size, sizeof size);
  CHECK(fakehip_given("hipMemCreate", 0, NULL, 0) == 0);
  GIVE(hipMemGetAllocationGranularity, 1, properties, &granularity, edge, 1);
  CHECK(granularity == 2 << 20);
  TAKE(hipMemGetAllocationPropertiesFromHandle, 0, hipMemAllocationProp,
       out.value.type == hipMemAllocationTypePinned && out.value.requestedHandleType == 2,
       &out.value, HANDLE);
  properties.type = 5;
  IS(hipErrorInvalidValue, hipMemCreate(&handle, 4096, &properties, 0));

  hipMemPoolProps pool;
  paint(&pool, sizeof pool, 22);
  pool.allocType = hipMemAllocationTypePinned;
  GIVE(hipMemPoolCreate, 1, pool, &handle, edge);
}

static void nodes(void) {
  void *node = NULL;
  drv_memset_params fill;
  paint(&fill, sizeof fill, 31);
  fill.elementSize = 2;
  GIVE(hipDrvGraphAddMemsetNode, 4, fill, &node, HANDLE, NULL, 0, edge, NULL);
  GIVE(hipDrvGraphExecMemsetNodeSetParams, 2, fill, HANDLE, HANDLE, edge, NULL);

  hipLaunchAttributeValue value;
  paint(&value, sizeof value, 32);
  GIVE(hipGraphKernelNodeSetAttribute, 2, value, HANDLE, 1, edge);
  TAKE(hipGraphKernelNodeGetAttribute, 2, hipLaunchAttributeValue,
       ((unsigned char *)&out.value)[sizeof out.value - 1] == 0xa0 + sizeof out.value - 1, HANDLE,
       1, &out.value);

  hipMemAllocNodeParams allocation;
  hipMemAccessDesc access = {{1, 0}, 3};
  paint(&allocation, sizeof allocation, 33);
  allocation.accessDescs = &access;
  allocation.accessDescCount = 1;
  GIVE(hipGraphAddMemAllocNode, 4, allocation, &node, HANDLE, NULL, 0, edge);
  if (hipGraphAddMemAllocNode) {
    is_given("hipGraphAddMemAllocNode", FAKEHIP_POINTED_TO, &access, sizeof access);
    IS(0, hipGraphAddMemAllocNode(&node, HANDLE, NULL, 0, &allocation));
    uintptr_t address = (uintptr_t)allocation.dptr;
    CHECK(address >> 48 == 0xfa4e);
  }
  TAKE(hipGraphMemAllocNodeGetParams, 1, hipMemAllocNodeParams,
       out.value.bytesize == 0xa120000 && out.value.accessDescs->flags == 3, HANDLE, &out.value);

  hipGraphNodeParams any;
  paint(&any, sizeof any, 34);
  any.type = hipGraphNodeTypeMemset;
  GIVE(hipGraphAddNode, 4, any, &node, HANDLE, NULL, 0, edge);
  GIVE(hipGraphNodeSetParams, 1, any, HANDLE, edge);
  GIVE(hipGraphExecNodeSetParams, 2, any, HANDLE, HANDLE, edge);
#if HIP_SINCE(6, 2)
  hipExternalSemaphoreWaitParams waits[2];
  paint(waits, sizeof waits, 35);
  any.type = hipGraphNodeTypeExtSemaphoreWait;
  any.extSemWait = (wait_node){NULL, waits, 2};
  GIVE(hipGraphAddNode, 4, any, &node, HANDLE, NULL, 0, edge);
  is_given("hipGraphAddNode", FAKEHIP_POINTED_TO, waits, sizeof waits);
  any.type = hipGraphNodeTypeCount;
  IS(hipErrorInvalidValue, hipGraphAddNode(&node, HANDLE, NULL, 0, &any));
#endif

  unsigned type = 99, memcpy_from = hipGraphNodeTypeMemcpyFromSymbol;
  IS(0, hipGraphNodeGetType(HANDLE, &type));
  CHECK(type == hipGraphNodeTypeKernel);
  IS(0, fakehip_answer("hipGraphNodeGetType", 1, &memcpy_from, sizeof memcpy_from));
  IS(0, hipGraphNodeGetType(HANDLE, &type));
  CHECK(type == hipGraphNodeTypeMemcpyFromSymbol);
}

static void properties(void) {
  int device;
  size_t width;
  static struct r0000 old;
  static struct r0600 new;
  paint(&old, sizeof old, 41);
  paint(&new, sizeof new, 42);
  GIVE(hipChooseDevice, 1, old, &device, edge);
  GIVE(hipChooseDeviceR0000, 1, old, &device, edge);
  GIVE(hipChooseDeviceR0600, 1, new, &device, edge);
  hipChannelFormatDesc format = {32, 32, 0, 0, 2};
  GIVE(hipDeviceGetTexture1DLinearMaxWidth, 1, format, &width, edge, 0);
  void *pointer;
  IS(0, hipMalloc(&pointer, 8));
  TAKE(hipPointerGetAttributes, 0, hipPointerAttribute_t, out.value.devicePointer == pointer,
       &out.value, pointer);
}

int main(void) {
  page_bytes = 4096;
  page = mmap(NULL, (size_t)page_bytes * 2, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
              0);
  CHECK(page != MAP_FAILED && mprotect(page + page_bytes, (size_t)page_bytes, PROT_NONE) == 0);
  fakehip_record(1);
  copies();
  moved();
  external();
  virtual_memory();
  nodes();
  properties();
  printf("%u", checked);
  return 0;
}
