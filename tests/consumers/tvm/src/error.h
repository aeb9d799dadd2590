// Error codes of HIP and HSA as C++ exceptions.
#ifndef TVM_SHAPED_ERROR_H_
#define TVM_SHAPED_ERROR_H_

#include <hip/hip_runtime_api.h>
#include <hip/hip_version.h>

#include <stdexcept>
#include <string>

namespace tvm_shaped {

class RocmError : public std::runtime_error {
 public:
  RocmError(const char* call, hipError_t code)
      : std::runtime_error(std::string(call) + ": " + hipGetErrorString(code)), code_(code) {}

  hipError_t code() const { return code_; }

 private:
  hipError_t code_;
};

}  // namespace tvm_shaped

// The message has the call as it is spelled in the source.
#define ROCM_CALL(call)                                              \
  do {                                                               \
    const hipError_t rocm_code = (call);                             \
    if (rocm_code != hipSuccess) {                                   \
      throw ::tvm_shaped::RocmError(#call, rocm_code);               \
    }                                                                \
  } while (0)

#endif  // TVM_SHAPED_ERROR_H_
