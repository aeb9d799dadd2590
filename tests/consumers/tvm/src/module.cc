#include "module.h"

#include "error.h"

namespace tvm_shaped {

Module::Module(const std::string& image) { ROCM_CALL(hipModuleLoadData(&module_, image.c_str())); }

Module::~Module() {
  // A destructor has nobody to tell.
  (void)hipModuleUnload(module_);
}

std::pair<void*, std::size_t> Module::Global(const char* name) const {
  hipDeviceptr_t address = nullptr;
  std::size_t bytes = 0;
  ROCM_CALL(hipModuleGetGlobal(&address, &bytes, module_, name));
  return {address, bytes};
}

void Module::Launch(const char* kernel, Extent grid, Extent block,
                    std::vector<unsigned char> arguments, hipStream_t stream) const {
  hipFunction_t function = nullptr;
  ROCM_CALL(hipModuleGetFunction(&function, module_, kernel));
  std::size_t bytes = arguments.size();
  void* extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, arguments.data(),
                   HIP_LAUNCH_PARAM_BUFFER_SIZE, &bytes, HIP_LAUNCH_PARAM_END};
  ROCM_CALL(hipModuleLaunchKernel(function, grid.x, grid.y, grid.z, block.x, block.y, block.z, 0,
                                  stream, nullptr, extra));
}

}  // namespace tvm_shaped
