// What a runtime asks of a device: properties, memory, copies, streams, times.
#ifndef TVM_SHAPED_DEVICE_H_
#define TVM_SHAPED_DEVICE_H_

#include <hip/hip_runtime_api.h>

#include <cstddef>
#include <functional>
#include <string>

namespace tvm_shaped {

// The number of devices; 0 where there is none, or no runtime.
int DeviceCount();

class Device {
 public:
  explicit Device(int id);

  std::string Name() const;
  // From the device's property struct, whose layout depends on HIP's version.
  std::string Architecture() const;
  int Attribute(hipDeviceAttribute_t attribute) const;

  void* Allocate(std::size_t bytes) const;
  void Release(void* memory) const;
  void CopyTo(void* device, const void* host, std::size_t bytes, hipStream_t stream) const;
  void CopyFrom(void* host, const void* device, std::size_t bytes, hipStream_t stream) const;
  void CopyAcross(void* to, const Device& other, const void* from, std::size_t bytes,
                  hipStream_t stream) const;
  void Wait(hipStream_t stream) const;

  // Milliseconds between two events around `work`.
  float Time(const std::function<void()>& work, hipStream_t stream) const;

 private:
  void Select() const;

  int id_;
};

// Host memory that a device can copy from without staging.
class PinnedMemory {
 public:
  explicit PinnedMemory(std::size_t bytes);
  ~PinnedMemory();
  PinnedMemory(const PinnedMemory&) = delete;
  PinnedMemory& operator=(const PinnedMemory&) = delete;

  void* data() const { return data_; }

 private:
  void* data_ = nullptr;
};

// HSA, which the runtime starts for its own queries; false where it cannot be had.
class Hsa {
 public:
  Hsa();
  ~Hsa();
  Hsa(const Hsa&) = delete;
  Hsa& operator=(const Hsa&) = delete;

  bool started() const { return started_; }

 private:
  bool started_ = false;
};

}  // namespace tvm_shaped

#endif  // TVM_SHAPED_DEVICE_H_
