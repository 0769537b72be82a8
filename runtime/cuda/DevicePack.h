// The PTX texts that torchc-kernels wrote for the cuda device, one per kernel: what dialects/rules/DeviceKernel.h describes.
#pragma once
#include <cstdint>

namespace torchc {

extern "C" {
struct DevicePackEntry {
  uint64_t key; // deviceKey()
  const char *name; // of the entry point
  const char *text;
};
/// Entries are sorted by key.
struct DevicePack {
  uint64_t count;
  const DevicePackEntry *entries;
};
}

/// The pack of this program: null where it is linked without.
const DevicePack *devicePack();
/// Null if there is no such kernel.
const DevicePackEntry *findDeviceKernel(uint64_t key);

} // namespace torchc
