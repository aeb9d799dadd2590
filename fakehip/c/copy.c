/* Copies and fills. Everything happens before the call returns. */
#include <string.h>

#include "call.h"
#include "memory.h"
#include "registered.h"
#include "stream.h"

/* Foreign addresses pass; an address in the fake's heap must lie in live
 * memory with room for the whole range. */
static bool is_range(const void *pointer, size_t size) {
  struct block *block = heap_block(pointer);
  if (!block) return true;
  enum block_kind kind = block_kind(block);
  if (kind == BLOCK_FREE || (kind >= BLOCK_STREAM && kind != BLOCK_GLOBAL)) return false;
  size_t offset = (size_t)((const char *)pointer - block->address);
  return offset <= block->size && size <= block->size - offset;
}

enum direction { ANY, TO_DEVICE = 1, FROM_DEVICE = 2, ON_DEVICE = 3 };

static hipError_t direction_of(hipMemcpyKind kind, enum direction *direction) {
  switch (kind) {
    case hipMemcpyHostToHost:
    case hipMemcpyDefault: *direction = ANY; return hipSuccess;
    case hipMemcpyHostToDevice: *direction = TO_DEVICE; return hipSuccess;
    case hipMemcpyDeviceToHost: *direction = FROM_DEVICE; return hipSuccess;
    case hipMemcpyDeviceToDeviceNoCU:
      if (fake_model.major < 6) return hipErrorInvalidMemcpyDirection;
      *direction = ON_DEVICE;
      return hipSuccess;
    case hipMemcpyDeviceToDevice: *direction = ON_DEVICE; return hipSuccess;
    default: return hipErrorInvalidMemcpyDirection;
  }
}

static hipError_t check(void *to, const void *from, size_t size, enum direction direction) {
  if (!to || !from) return hipErrorInvalidValue;
  if (!is_range(to, size) || !is_range(from, size)) return hipErrorInvalidValue;
  if ((direction & TO_DEVICE) && !is_device_accessible(to)) return hipErrorInvalidValue;
  if ((direction & FROM_DEVICE) && !is_device_accessible(from)) return hipErrorInvalidValue;
  return hipSuccess;
}

static hipError_t copy_in(void *to, const void *from, size_t size, enum direction direction) {
  if (size == 0) return hipSuccess;
  hipError_t result = check(to, from, size, direction);
  if (result == hipSuccess) memmove(to, from, size);
  return result;
}

static hipError_t copy(void *to, const void *from, size_t size, hipMemcpyKind kind) {
  enum direction direction;
  hipError_t result = direction_of(kind, &direction);
  return result == hipSuccess ? copy_in(to, from, size, direction) : result;
}

HIP_SPT(hipMemcpy, (in, void *, dst), (in, const void *, src), (in, size_t, bytes),
        (copy, hipMemcpyKind, kind)) {
  return copy(dst, src, bytes, kind);
}

HIP_SPT(hipMemcpyAsync, (in, void *, dst), (in, const void *, src), (in, size_t, bytes),
        (copy, hipMemcpyKind, kind), (in, hipStream_t, stream)) {
  CHECK_STREAM(stream);
  return copy(dst, src, bytes, kind);
}

HIP(hipMemcpyWithStream, (in, void *, dst), (in, const void *, src), (in, size_t, bytes),
    (copy, hipMemcpyKind, kind), (in, hipStream_t, stream)) {
  CHECK_STREAM(stream);
  return copy(dst, src, bytes, kind);
}

HIP(hipMemcpyHtoD, (in, hipDeviceptr_t, dst), (in, const void *, src), (in, size_t, bytes)) {
  return copy_in(dst, src, bytes, TO_DEVICE);
}

HIP(hipMemcpyDtoH, (in, void *, dst), (in, hipDeviceptr_t, src), (in, size_t, bytes)) {
  return copy_in(dst, src, bytes, FROM_DEVICE);
}

HIP(hipMemcpyDtoD, (in, hipDeviceptr_t, dst), (in, hipDeviceptr_t, src), (in, size_t, bytes)) {
  return copy_in(dst, src, bytes, ON_DEVICE);
}

HIP(hipMemcpyHtoDAsync, (in, hipDeviceptr_t, dst), (in, const void *, src), (in, size_t, bytes),
    (in, hipStream_t, stream)) {
  CHECK_STREAM(stream);
  return copy_in(dst, src, bytes, TO_DEVICE);
}

HIP(hipMemcpyDtoHAsync, (in, void *, dst), (in, hipDeviceptr_t, src), (in, size_t, bytes),
    (in, hipStream_t, stream)) {
  CHECK_STREAM(stream);
  return copy_in(dst, src, bytes, FROM_DEVICE);
}

HIP(hipMemcpyDtoDAsync, (in, hipDeviceptr_t, dst), (in, hipDeviceptr_t, src), (in, size_t, bytes),
    (in, hipStream_t, stream)) {
  CHECK_STREAM(stream);
  return copy_in(dst, src, bytes, ON_DEVICE);
}

static hipError_t copy_peer(void *to, int to_device, const void *from, int from_device,
                            size_t size) {
  if (!is_device(to_device) || !is_device(from_device)) return hipErrorInvalidDevice;
  return copy_in(to, from, size, ON_DEVICE);
}

HIP(hipMemcpyPeer, (in, void *, dst), (in, int, dst_device), (in, const void *, src),
    (in, int, src_device), (in, size_t, bytes)) {
  return copy_peer(dst, dst_device, src, src_device, bytes);
}

HIP(hipMemcpyPeerAsync, (in, void *, dst), (in, int, dst_device), (in, const void *, src),
    (in, int, src_device), (in, size_t, bytes), (in, hipStream_t, stream)) {
  CHECK_STREAM(stream);
  return copy_peer(dst, dst_device, src, src_device, bytes);
}

/* Bytes from the first to the last one of a pitched area; false on overflow. */
static bool area(size_t pitch, size_t width, size_t height, size_t *bytes) {
  return !__builtin_mul_overflow(pitch, height - 1, bytes) &&
         !__builtin_add_overflow(*bytes, width, bytes);
}

static hipError_t copy_2d(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                          size_t width, size_t height, hipMemcpyKind kind) {
  enum direction direction;
  hipError_t result = direction_of(kind, &direction);
  if (result != hipSuccess) return result;
  if (width == 0 || height == 0) return hipSuccess;
  if (width > to_pitch || width > from_pitch) return hipErrorInvalidPitchValue;
  size_t to_bytes, from_bytes;
  if (!area(to_pitch, width, height, &to_bytes) || !area(from_pitch, width, height, &from_bytes))
    return hipErrorInvalidValue;
  result = check(to, from, 1, direction);
  if (result != hipSuccess) return result;
  if (!is_range(to, to_bytes) || !is_range(from, from_bytes)) return hipErrorInvalidValue;
  for (size_t row = 0; row < height; row++)
    memmove((char *)to + row * to_pitch, (const char *)from + row * from_pitch, width);
  return hipSuccess;
}

HIP_SPT(hipMemcpy2D, (in, void *, dst), (in, size_t, dst_pitch), (in, const void *, src),
        (in, size_t, src_pitch), (in, size_t, width), (in, size_t, height),
        (copy, hipMemcpyKind, kind)) {
  return copy_2d(dst, dst_pitch, src, src_pitch, width, height, kind);
}

HIP_SPT(hipMemcpy2DAsync, (in, void *, dst), (in, size_t, dst_pitch), (in, const void *, src),
        (in, size_t, src_pitch), (in, size_t, width), (in, size_t, height),
        (copy, hipMemcpyKind, kind), (in, hipStream_t, stream)) {
  CHECK_STREAM(stream);
  return copy_2d(dst, dst_pitch, src, src_pitch, width, height, kind);
}

/* --- symbols ----------------------------------------------------------------- */

static hipError_t symbol_range(const void *symbol, size_t bytes, size_t offset, char **address) {
  void *start;
  size_t size;
  if (!symbol || !registered_variable(symbol, &start, &size)) return hipErrorInvalidSymbol;
  if (offset > size || bytes > size - offset) return hipErrorInvalidValue;
  *address = (char *)start + offset;
  return hipSuccess;
}

static hipError_t to_symbol(const void *symbol, const void *from, size_t bytes, size_t offset,
                            hipMemcpyKind kind) {
  char *address;
  hipError_t result = symbol_range(symbol, bytes, offset, &address);
  if (result != hipSuccess) return result;
  if (kind == hipMemcpyHostToHost || kind == hipMemcpyDeviceToHost)
    return hipErrorInvalidMemcpyDirection;
  return copy(address, from, bytes, kind);
}

static hipError_t from_symbol(void *to, const void *symbol, size_t bytes, size_t offset,
                              hipMemcpyKind kind) {
  char *address;
  hipError_t result = symbol_range(symbol, bytes, offset, &address);
  if (result != hipSuccess) return result;
  if (kind == hipMemcpyHostToHost || kind == hipMemcpyHostToDevice)
    return hipErrorInvalidMemcpyDirection;
  return copy(to, address, bytes, kind);
}

HIP_SPT(hipMemcpyToSymbol, (in, const void *, symbol), (in, const void *, src),
        (in, size_t, bytes), (in, size_t, offset), (copy, hipMemcpyKind, kind)) {
  return to_symbol(symbol, src, bytes, offset, kind);
}

HIP_SPT(hipMemcpyToSymbolAsync, (in, const void *, symbol), (in, const void *, src),
        (in, size_t, bytes), (in, size_t, offset), (copy, hipMemcpyKind, kind),
        (in, hipStream_t, stream)) {
  CHECK_STREAM(stream);
  return to_symbol(symbol, src, bytes, offset, kind);
}

HIP_SPT(hipMemcpyFromSymbol, (in, void *, dst), (in, const void *, symbol), (in, size_t, bytes),
        (in, size_t, offset), (copy, hipMemcpyKind, kind)) {
  return from_symbol(dst, symbol, bytes, offset, kind);
}

HIP_SPT(hipMemcpyFromSymbolAsync, (in, void *, dst), (in, const void *, symbol),
        (in, size_t, bytes), (in, size_t, offset), (copy, hipMemcpyKind, kind),
        (in, hipStream_t, stream)) {
  CHECK_STREAM(stream);
  return from_symbol(dst, symbol, bytes, offset, kind);
}

HIP(hipGetSymbolAddress, (out, void *, address), (in, const void *, symbol)) {
  size_t size;
  if (!address) return hipErrorInvalidValue;
  return symbol && registered_variable(symbol, address, &size) ? hipSuccess
                                                               : hipErrorInvalidSymbol;
}

HIP(hipGetSymbolSize, (out, size_t, size), (in, const void *, symbol)) {
  void *address;
  if (!size) return hipErrorInvalidValue;
  return symbol && registered_variable(symbol, &address, size) ? hipSuccess
                                                               : hipErrorInvalidSymbol;
}

/* --- fills ----------------------------------------------------------------------- */

/* `count` elements of 1, 2 or 4 bytes. */
static hipError_t fill(void *to, uint32_t value, unsigned width, size_t count) {
  size_t bytes;
  if (__builtin_mul_overflow(count, width, &bytes)) return hipErrorInvalidValue;
  if (bytes == 0) return hipSuccess;
  if (!to || !is_range(to, bytes) || !is_device_accessible(to)) return hipErrorInvalidValue;
  if (width == 1) {
    memset(to, (int)(value & 0xff), bytes);
    return hipSuccess;
  }
  /* The API does not ask for alignment. */
  for (size_t i = 0; i < count; i++) memcpy((char *)to + i * width, &value, width);
  return hipSuccess;
}

static hipError_t fill_2d(void *to, size_t pitch, uint32_t value, size_t width, size_t height) {
  if (width == 0 || height == 0) return hipSuccess;
  if (width > pitch) return hipErrorInvalidPitchValue;
  size_t bytes;
  if (!area(pitch, width, height, &bytes)) return hipErrorInvalidValue;
  if (!to || !is_range(to, bytes) || !is_device_accessible(to)) return hipErrorInvalidValue;
  for (size_t row = 0; row < height; row++)
    memset((char *)to + row * pitch, (int)(value & 0xff), width);
  return hipSuccess;
}

HIP_SPT(hipMemset, (in, void *, dst), (in, int, value), (in, size_t, bytes)) {
  return fill(dst, (uint32_t)value, 1, bytes);
}

HIP_SPT(hipMemsetAsync, (in, void *, dst), (in, int, value), (in, size_t, bytes),
        (in, hipStream_t, stream)) {
  CHECK_STREAM(stream);
  return fill(dst, (uint32_t)value, 1, bytes);
}

HIP(hipMemsetD8, (in, hipDeviceptr_t, dst), (in, unsigned char, value), (in, size_t, count)) {
  return fill(dst, value, 1, count);
}

HIP(hipMemsetD8Async, (in, hipDeviceptr_t, dst), (in, unsigned char, value), (in, size_t, count),
    (in, hipStream_t, stream)) {
  CHECK_STREAM(stream);
  return fill(dst, value, 1, count);
}

HIP(hipMemsetD16, (in, hipDeviceptr_t, dst), (in, unsigned short, value), (in, size_t, count)) {
  return fill(dst, value, 2, count);
}

HIP(hipMemsetD16Async, (in, hipDeviceptr_t, dst), (in, unsigned short, value),
    (in, size_t, count), (in, hipStream_t, stream)) {
  CHECK_STREAM(stream);
  return fill(dst, value, 2, count);
}

HIP(hipMemsetD32, (in, hipDeviceptr_t, dst), (in, int, value), (in, size_t, count)) {
  return fill(dst, (uint32_t)value, 4, count);
}

HIP(hipMemsetD32Async, (in, hipDeviceptr_t, dst), (in, int, value), (in, size_t, count),
    (in, hipStream_t, stream)) {
  CHECK_STREAM(stream);
  return fill(dst, (uint32_t)value, 4, count);
}

HIP_SPT(hipMemset2D, (in, void *, dst), (in, size_t, pitch), (in, int, value),
        (in, size_t, width), (in, size_t, height)) {
  return fill_2d(dst, pitch, (uint32_t)value, width, height);
}

HIP_SPT(hipMemset2DAsync, (in, void *, dst), (in, size_t, pitch), (in, int, value),
        (in, size_t, width), (in, size_t, height), (in, hipStream_t, stream)) {
  CHECK_STREAM(stream);
  return fill_2d(dst, pitch, (uint32_t)value, width, height);
}
