/* Copies described by a struct, whose layout and memory types are this version's.
 *
 * The arguments are checked as far as they are numbers. Bytes move only where the
 * device's side is memory of the fake's with room for them: programs that test how
 * a struct arrives can pass any addresses. Arrays are not modelled. */
#include <string.h>

#include "call.h"
#include "layouts.h"
#include "memory.h"
#include "stream.h"

/* One side of a copy; NULL: nowhere that the fake could copy from or to. */
struct side {
  char *start;
  size_t pitch, slice;
  bool is_live; /* in the fake's heap, with room for the whole box */
};

struct box {
  size_t width, height, depth;
};

/* Offset behind the last byte of a box; false if it does not fit in a size_t. */
static bool box_end(const struct side *side, const struct box *box, size_t *end) {
  size_t rows, slices;
  return !__builtin_mul_overflow(box->height - 1, side->pitch, &rows) &&
         !__builtin_mul_overflow(box->depth - 1, side->slice, &slices) &&
         !__builtin_add_overflow(rows, slices, end) &&
         !__builtin_add_overflow(*end, box->width, end);
}

static struct side side_of(hipMemoryType type, const void *host, hipDeviceptr_t device, size_t x,
                           size_t y, size_t z, size_t pitch, size_t height,
                           const struct box *box) {
  struct side side = {0};
  const char *base;
  switch (type) {
    case hipMemoryTypeHost: base = host; break;
    case hipMemoryTypeDevice:
    case hipMemoryTypeUnified: base = device; break;
#if HIP_SINCE(5, 3)
    case hipMemoryTypeManaged: base = device; break;
#endif
    default: return side;
  }
  size_t before, rows, end;
  side.pitch = pitch ? pitch : box->width;
  if (!base || __builtin_mul_overflow(side.pitch, height ? height : box->height, &side.slice) ||
      __builtin_mul_overflow(z, side.slice, &before) ||
      __builtin_mul_overflow(y, side.pitch, &rows) ||
      __builtin_add_overflow(before, rows, &before) || __builtin_add_overflow(before, x, &before))
    return side;
  side.start = (char *)(uintptr_t)((uintptr_t)base + before);
  struct block *block = heap_live_block(side.start);
  side.is_live = block && box_end(&side, box, &end) &&
                 end <= block->size - (size_t)(side.start - block->address);
  return side;
}

static void copy_box(struct side to, struct side from, struct box box) {
  if (!to.start || !from.start || !(to.is_live || from.is_live)) return;
  /* An address in the heap without room is not memory to touch. */
  if ((!to.is_live && heap_block(to.start)) || (!from.is_live && heap_block(from.start))) return;
  for (size_t z = 0; z < box.depth; z++)
    for (size_t y = 0; y < box.height; y++)
      memmove(to.start + z * to.slice + y * to.pitch, from.start + z * from.slice + y * from.pitch,
              box.width);
}

static hipError_t copy_2d(const hip_Memcpy2D *copy) {
  if (!copy || !is_memory_type(copy->srcMemoryType) || !is_memory_type(copy->dstMemoryType))
    return hipErrorInvalidValue;
  struct box box = {copy->WidthInBytes, copy->Height, 1};
  if (box.width == 0 || box.height == 0) return hipSuccess;
  copy_box(side_of(copy->dstMemoryType, copy->dstHost, copy->dstDevice, copy->dstXInBytes,
                   copy->dstY, 0, copy->dstPitch, 0, &box),
           side_of(copy->srcMemoryType, copy->srcHost, copy->srcDevice, copy->srcXInBytes,
                   copy->srcY, 0, copy->srcPitch, 0, &box),
           box);
  return hipSuccess;
}

static hipError_t copy_3d(const HIP_MEMCPY3D *copy) {
  if (!copy || !is_memory_type(copy->srcMemoryType) || !is_memory_type(copy->dstMemoryType))
    return hipErrorInvalidValue;
  struct box box = {copy->WidthInBytes, copy->Height, copy->Depth};
  if (box.width == 0 || box.height == 0 || box.depth == 0) return hipSuccess;
  copy_box(side_of(copy->dstMemoryType, copy->dstHost, copy->dstDevice, copy->dstXInBytes,
                   copy->dstY, copy->dstZ, copy->dstPitch, copy->dstHeight, &box),
           side_of(copy->srcMemoryType, copy->srcHost, copy->srcDevice, copy->srcXInBytes,
                   copy->srcY, copy->srcZ, copy->srcPitch, copy->srcHeight, &box),
           box);
  return hipSuccess;
}

HIP(hipMemcpyParam2D, (given, hip_Memcpy2D, copy)) { return copy_2d(copy); }

HIP(hipMemcpyParam2DAsync, (given, hip_Memcpy2D, copy), (in, hipStream_t, stream)) {
  CHECK_STREAM(stream);
  return copy_2d(copy);
}

HIP(hipDrvMemcpy2DUnaligned, (given, hip_Memcpy2D, copy)) { return copy_2d(copy); }

HIP(hipDrvMemcpy3D, (given, HIP_MEMCPY3D, copy)) { return copy_3d(copy); }

HIP(hipDrvMemcpy3DAsync, (given, HIP_MEMCPY3D, copy), (in, hipStream_t, stream)) {
  CHECK_STREAM(stream);
  return copy_3d(copy);
}
