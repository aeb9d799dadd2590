#include "device.h"

#include <hsa/hsa.h>

#include "error.h"

namespace tvm_shaped {

int DeviceCount() {
  int count = 0;
  // A machine without a GPU is an answer, not a failure.
  return hipGetDeviceCount(&count) == hipSuccess ? count : 0;
}

Device::Device(int id) : id_(id) { Select(); }

void Device::Select() const {
  int current = -1;
  ROCM_CALL(hipGetDevice(&current));
  if (current != id_) {
    ROCM_CALL(hipSetDevice(id_));
  }
}

std::string Device::Name() const {
  char name[256] = {};
  ROCM_CALL(hipDeviceGetName(name, sizeof(name), id_));
  return name;
}

std::string Device::Architecture() const {
  hipDeviceProp_t properties;
  ROCM_CALL(hipGetDeviceProperties(&properties, id_));
  const std::string name = properties.gcnArchName;
  return name.substr(0, name.find(':'));
}

int Device::Attribute(hipDeviceAttribute_t attribute) const {
  int value = -1;
  ROCM_CALL(hipDeviceGetAttribute(&value, attribute, id_));
  return value;
}

void* Device::Allocate(std::size_t bytes) const {
  Select();
  void* memory = nullptr;
  ROCM_CALL(hipMalloc(&memory, bytes));
  return memory;
}

void Device::Release(void* memory) const {
  Select();
  ROCM_CALL(hipFree(memory));
}

void Device::CopyTo(void* device, const void* host, std::size_t bytes, hipStream_t stream) const {
  Select();
  if (stream == nullptr) {
    ROCM_CALL(hipMemcpy(device, host, bytes, hipMemcpyHostToDevice));
  } else {
    ROCM_CALL(hipMemcpyAsync(device, host, bytes, hipMemcpyHostToDevice, stream));
  }
}

void Device::CopyFrom(void* host, const void* device, std::size_t bytes,
                      hipStream_t stream) const {
  Select();
  ROCM_CALL(hipMemcpyAsync(host, device, bytes, hipMemcpyDeviceToHost, stream));
}

void Device::CopyAcross(void* to, const Device& other, const void* from, std::size_t bytes,
                        hipStream_t stream) const {
  Select();
  ROCM_CALL(hipMemcpyPeerAsync(to, id_, from, other.id_, bytes, stream));
}

void Device::Wait(hipStream_t stream) const {
  Select();
  ROCM_CALL(hipStreamSynchronize(stream));
}

float Device::Time(const std::function<void()>& work, hipStream_t stream) const {
  Select();
  hipEvent_t begin = nullptr;
  hipEvent_t end = nullptr;
  ROCM_CALL(hipEventCreate(&begin));
  ROCM_CALL(hipEventCreate(&end));
  ROCM_CALL(hipEventRecord(begin, stream));
  work();
  ROCM_CALL(hipEventRecord(end, stream));
  ROCM_CALL(hipEventSynchronize(end));
  float milliseconds = -1;
  ROCM_CALL(hipEventElapsedTime(&milliseconds, begin, end));
  ROCM_CALL(hipEventDestroy(begin));
  ROCM_CALL(hipEventDestroy(end));
  return milliseconds;
}

PinnedMemory::PinnedMemory(std::size_t bytes) {
  // C++ callers of HIP leave the flags out.
  ROCM_CALL(hipHostMalloc(&data_, bytes));
}

PinnedMemory::~PinnedMemory() {
  // A destructor has nobody to tell.
  (void)hipHostFree(data_);
}

Hsa::Hsa() : started_(hsa_init() == HSA_STATUS_SUCCESS) {}

Hsa::~Hsa() {
  if (started_) {
    (void)hsa_shut_down();
  }
}

}  // namespace tvm_shaped
