// Things that have names of HIP's and are none of its functions, but for one.
namespace other {
static int hipMalloc(int value) { return value; }
}

namespace {
int hipInit(int value) { return value; }
}

struct Pool {
  static int hipMemcpy(int value) { return value; }
  int hipMalloc(int value) { return value + hipStreamCreate; }
  int hipStreamCreate = 0;
};

extern "C" int hipFree(void *pointer);
int user(int hipMemset);

int user(int hipMemset) {
  const int hipSetDevice = hipMemset;
  Pool pool;
  return pool.hipMalloc(hipSetDevice) + Pool::hipMemcpy(1) + other::hipMalloc(2) + hipInit(3) +
         hipFree(nullptr);
}
