// What the test runs: every part of the runtime once, and an error on purpose.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <vector>

#include "device.h"
#include "error.h"
#include "module.h"

namespace tvm_shaped {
namespace {

constexpr char kImage[] = "FAKEHIP MODULE 1\nkernel scale 8 4\nglobal counter 4\nend\n";

void UseMemory(const Device& device) {
  std::vector<std::uint32_t> there(1024);
  std::iota(there.begin(), there.end(), 1u);
  const std::size_t bytes = there.size() * sizeof(there[0]);
  PinnedMemory back(bytes);
  void* first = device.Allocate(bytes);
  void* second = device.Allocate(bytes);
  device.CopyTo(first, there.data(), bytes, nullptr);
  device.CopyAcross(second, device, first, bytes, nullptr);
  device.CopyFrom(back.data(), second, bytes, nullptr);
  device.Wait(nullptr);
  const bool same = std::memcmp(back.data(), there.data(), bytes) == 0;
  std::printf("memory: %s\n", same ? "came back" : "changed");
  device.Release(first);
  device.Release(second);
}

void UseModule(const Device& device) {
  const Module module(kImage);
  const auto [counter, bytes] = module.Global("counter");
  std::printf("global: %zu bytes%s\n", bytes, counter ? "" : ", nowhere");
  std::vector<unsigned char> arguments(12);
  const float milliseconds = device.Time(
      [&] { module.Launch("scale", {4, 1, 1}, {64, 1, 1}, arguments, nullptr); }, nullptr);
  std::printf("launch: %s\n", milliseconds >= 0 ? "timed" : "not timed");
}

void UseDevice() {
  const Device device(0);
  std::printf("device: %s, %s, warp size %d\n", device.Name().c_str(),
              device.Architecture().c_str(), device.Attribute(hipDeviceAttributeWarpSize));
  UseMemory(device);
  UseModule(device);
}

}  // namespace
}  // namespace tvm_shaped

extern "C" int consume() {
  using namespace tvm_shaped;
  int failures = 0;
  const int devices = DeviceCount();
  std::printf("compiled with: %d\ndevices: %d\n", static_cast<int>(HIP_VERSION), devices);
  try {
    if (devices > 0) {
      UseDevice();
    }
  } catch (const RocmError& error) {
    std::printf("unexpected: %s\n", error.what());
    failures++;
  }
  try {
    // No machine has it: the error must arrive as an exception with HIP's own text.
    Device(4711).Allocate(64);
    std::printf("thrown: nothing\n");
    failures++;
  } catch (const RocmError& error) {
    std::printf("thrown: %d, %s\n", static_cast<int>(error.code()), error.what());
  }
  {
    const Hsa hsa;
    std::printf("hsa: %s\n", hsa.started() ? "started" : "not to be had");
  }
  std::fflush(stdout);
  return failures;
}
