/* Functions whose result is not a code: they must exist with their own type,
 * or a caller reads garbage. */
#include "call.h"

/* Twenty bytes: returned through a pointer that the caller passes. */
VALUE(hipChannelFormatDesc, hipCreateChannelDesc, (in, int, x), (in, int, y), (in, int, z),
      (in, int, w), (in, unsigned, format)) {
  return (hipChannelFormatDesc){x, y, z, w, format};
}

VALUE(const char *, hipApiName, (in, uint32_t, id)) {
  (void)id;
  return "unknown";
}

VOID(__hipGetPCH, (out, const char *, header), (out, unsigned, size)) {
  /* The fake carries no precompiled header. */
  if (header) *header = "";
  if (size) *size = 0;
}
