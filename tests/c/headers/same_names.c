/* Things that have names of HIP's and are none of its functions, but for one. */
static int hipInit(int value) { return value; }

struct pool {
  int hipMalloc;
  int (*hipMemcpy)(int);
};

int hipFree(void *pointer);
int user(int hipMemset);

int user(int hipMemset) {
  static int hipStreamCreate;
  int hipSetDevice = hipMemset;
  struct pool pool = {1, hipInit};
  return hipSetDevice + pool.hipMalloc + pool.hipMemcpy(hipStreamCreate++) + hipFree(0);
}
