#include "runtime/cuda/DevicePack.h"
#include <algorithm>

extern "C" __attribute__((weak)) const torchc::DevicePack torchc_device_pack;

namespace torchc {

const DevicePack *devicePack() { return &torchc_device_pack; }

const DevicePackEntry *findDeviceKernel(uint64_t key) {
  const DevicePack *pack = devicePack();
  if (!pack)
    return nullptr;
  const DevicePackEntry *end = pack->entries + pack->count;
  auto less = [](const DevicePackEntry &e, uint64_t k) { return e.key < k; };
  const DevicePackEntry *e = std::lower_bound(pack->entries, end, key, less);
  return e != end && e->key == key ? e : nullptr;
}

} // namespace torchc
