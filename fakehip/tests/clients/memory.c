#include "check.h"

struct attributes {
  unsigned type;
  int device;
  void *device_pointer, *host_pointer;
  int is_managed;
  unsigned flags;
};

static unsigned type_of(const void *pointer) {
  struct attributes attributes;
  IS(0, hipPointerGetAttributes(&attributes, pointer));
  return attributes.type;
}

int main(void) {
  char *a, *b, text[300] = "hello", back[300] = "";
  size_t free_before, free_now, total;
  IS(0, hipMemGetInfo(&free_before, &total));
  CHECK(free_before == total && total >= (size_t)1 << 36);

  IS(0, hipMalloc((void **)&a, 300));
  IS(0, hipMalloc((void **)&b, 5000000));
  IS(0, hipMemGetInfo(&free_now, NULL));
  CHECK(free_before - free_now == 5000300);
  CHECK(fakehip_live(FAKEHIP_DEVICE_MEMORY) == 2 && fakehip_used_bytes(0) == 5000300);

  IS(0, hipMemcpy(a, text, 300, H2D));
  IS(0, hipMemcpyDtoD(b + 4000000, a, 300));
  IS(0, hipMemcpyDtoH(back, b + 4000000, 300));
  CHECK(memcmp(text, back, 300) == 0);
  IS(0, hipMemcpy_spt(back, a, 300, DEFAULT));
  IS(0, hipMemcpyPeer(b, 0, a, 0, 300));
  IS(INVALID_DEVICE, hipMemcpyPeer(b, 1, a, 0, 300));

  /* Bounds, directions, wild and missing pointers. */
  IS(INVALID_VALUE, hipMemcpy(a, text, 301, H2D));
  IS(INVALID_VALUE, hipMemcpy(a + 1, text, 300, H2D));
  IS(INVALID_VALUE, hipMemcpyHtoD(text, a, 4));
  IS(INVALID_VALUE, hipMemcpy(NULL, a, 4, D2H));
  IS(INVALID_VALUE, hipMemcpy(a, NULL, 4, H2D));
  IS(0, hipMemcpy(NULL, NULL, 0, H2D));
  IS(INVALID_DIRECTION, hipMemcpy(a, text, 4, 77));
  IS(INVALID_VALUE, hipMalloc(NULL, 4));
  void *none = text;
  IS(OUT_OF_MEMORY, hipMalloc(&none, (size_t)1 << 60));
  IS(0, hipMalloc(&none, 0));
  CHECK(none == NULL);

  /* Fills */
  IS(0, hipMemset(a, 0x11, 300));
  IS(0, hipMemsetD16(a, 0x2233, 3));
  IS(0, hipMemsetD32(a + 8, 0x44556677, 1));
  IS(0, hipMemsetD8(a + 12, 0x99, 2));
  IS(0, hipMemcpy(back, a, 15, D2H));
  CHECK(memcmp(back, "\x33\x22\x33\x22\x33\x22\x11\x11\x77\x66\x55\x44\x99\x99\x11", 15) == 0);
  IS(INVALID_VALUE, hipMemsetD32(a, 0, 76));
  IS(INVALID_VALUE, hipMemset(text, 0, 4));

  /* Two rows of three bytes from a pitch of 4 to one of 8. */
  IS(0, hipMemcpy2D(a, 8, "abc.def", 4, 3, 2, H2D));
  IS(0, hipMemcpy(back, a, 11, D2H));
  CHECK(memcmp(back, "abc", 3) == 0 && memcmp(back + 8, "def", 3) == 0);
  IS(INVALID_PITCH, hipMemcpy2D(a, 2, text, 4, 3, 2, H2D));
  IS(INVALID_VALUE, hipMemcpy2D(a, 200, text, 4, 3, 4, H2D));

  /* What a pointer is, in this version's own numbers. */
  void *host, *managed;
  IS(0, hipHostMalloc(&host, 64, 0));
  IS(0, hipMallocManaged(&managed, 64, 1));
  CHECK(type_of(a + 17) == (HIP_MAJOR >= 6 ? 2 : 1));
  CHECK(type_of(host) == (HIP_MAJOR >= 6 ? 1 : 0));
  CHECK(type_of(managed) == (HIP_MAJOR >= 6 ? 3 : 4));
  struct attributes attributes;
#if HIP_MAJOR >= 6
  CHECK(type_of(text) == 0);
#else
  IS(INVALID_VALUE, hipPointerGetAttributes(&attributes, text));
#endif
  IS(HIP_MAJOR >= 7 ? 0 : INVALID_VALUE, hipPointerGetAttributes(&attributes, NULL));
  IS(INVALID_VALUE, hipPointerGetAttributes(NULL, a));
  IS(0, hipHostRegister(text, sizeof text, 0));
  IS(712, hipHostRegister(text + 10, 10, 0));
  CHECK(type_of(text + 5) == (HIP_MAJOR >= 6 ? 1 : 0));
  IS(0, hipMemset(text, 7, 4));
  IS(713, hipHostUnregister(text + 1));
  IS(0, hipHostUnregister(text));

  /* Releases */
  IS(INVALID_VALUE, hipFree(host));
  IS(INVALID_VALUE, hipFree(a + 1));
  IS(INVALID_VALUE, hipFree(text));
  IS(0, hipFree(a));
  IS(INVALID_VALUE, hipFree(a));
  IS(INVALID_VALUE, hipMemcpy(back, a, 4, D2H));
  IS(0, hipFree(b));
  IS(INVALID_VALUE, hipFree(b));
  IS(0, hipFree(NULL));
  IS(0, hipHostFree(host));
  IS(0, hipFree(managed));
  IS(0, hipMallocAsync((void **)&a, 4, NULL));
  IS(0, hipFreeAsync(a, NULL));
  IS(HIP_MAJOR >= 7 ? 0 : INVALID_VALUE, hipFreeAsync(NULL, NULL));
  for (int kind = 0; kind < 3; kind++) CHECK(fakehip_live(kind) == 0);
  CHECK(fakehip_used_bytes(0) == 0);
  return 0;
}
