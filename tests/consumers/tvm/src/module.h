// A code object: loaded, its kernels and globals found by name, launched.
#ifndef TVM_SHAPED_MODULE_H_
#define TVM_SHAPED_MODULE_H_

#include <hip/hip_runtime_api.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace tvm_shaped {

struct Extent {
  unsigned x, y, z;
};

class Module {
 public:
  explicit Module(const std::string& image);
  ~Module();
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  // The device address and size of a global variable.
  std::pair<void*, std::size_t> Global(const char* name) const;

  // Arguments go as one packed buffer, as compiled runtimes pass them.
  void Launch(const char* kernel, Extent grid, Extent block, std::vector<unsigned char> arguments,
              hipStream_t stream) const;

 private:
  hipModule_t module_ = nullptr;
};

}  // namespace tvm_shaped

#endif  // TVM_SHAPED_MODULE_H_
