// The cpu and meta devices, and the table of all.
#include "runtime/device/Allocator.h"
#include "runtime/device/Device.h"
#include "runtime/device/Stream.h"
#include <atomic>
#include <cstring>

namespace torchc {
namespace {

class ImmediateStream final : public Stream {
public:
  explicit ImmediateStream(Device &d) : owner(d) {}
  Device &device() const override { return owner; }
  void synchronize() override {}
  bool query() override { return true; }

private:
  Device &owner;
};

class CpuDevice final : public Device {
public:
  DeviceKind kind() const override { return DeviceKind::Cpu; }
  std::string name() const override { return "cpu"; }
  bool allocate(size_t bytes, void **out) override {
    // The class isn't kept here, so that free() derives it from `bytes` alone.
    if (bytes > size_t(maxAllocation))
      return false;
    int c = smallClass(bytes);
    *out = c ? allocSmall(c) : allocLarge(bytes, c, /*exact=*/true);
    return *out != nullptr;
  }
  void free(void *p, size_t bytes) override {
    if (int c = smallClass(bytes))
      freeSmall(p, c);
    else
      freeLarge(p, largeClass(bytes));
  }
  bool copyFrom(void *dst, const void *src, size_t bytes, Device &from, Stream *) override {
    if (from.kind() != DeviceKind::Cpu)
      return false;
    if (bytes)
      std::memcpy(dst, src, bytes);
    return true;
  }
  Stream &defaultStream() override { return stream; }

private:
  static int smallClass(size_t bytes) { return bytes > 1024 ? 0 : bytes ? int((bytes + 63) / 64) : 1; }
  ImmediateStream stream{*this};
};

/// Shapes without memory.
class MetaDevice final : public Device {
public:
  DeviceKind kind() const override { return DeviceKind::Meta; }
  std::string name() const override { return "meta"; }
  bool allocate(size_t, void **out) override {
    *out = nullptr;
    return true;
  }
  void free(void *, size_t) override {}
  bool copyFrom(void *, const void *, size_t, Device &, Stream *) override { return true; }
  Stream &defaultStream() override { return stream; }

private:
  ImmediateStream stream{*this};
};

struct Table {
  std::atomic<Device *> slots[numDeviceKinds][maxDeviceIndex] = {};
  Table() {
    slots[int(DeviceKind::Cpu)][0] = new CpuDevice; // never freed: storages may outlive static destructors
    slots[int(DeviceKind::Meta)][0] = new MetaDevice;
  }
};
Table &table() {
  static auto *t = new Table;
  return *t;
}

} // namespace

Device *deviceFor(DeviceKind kind, int index) {
  if (index < 0)
    index = 0;
  if (int(kind) >= numDeviceKinds || index >= maxDeviceIndex)
    return nullptr;
  return table().slots[int(kind)][index].load(std::memory_order_acquire);
}

bool registerDevice(Device *device) {
  int kind = int(device->kind()), index = device->index();
  if (kind >= numDeviceKinds || index < 0 || index >= maxDeviceIndex)
    return false;
  Device *none = nullptr;
  return table().slots[kind][index].compare_exchange_strong(none, device);
}

int deviceCount(DeviceKind kind) {
  int n = 0;
  for (int i = 0; i < maxDeviceIndex; ++i)
    n += deviceFor(kind, i) != nullptr;
  return n;
}

std::string_view deviceKindName(DeviceKind kind) {
  static constexpr std::string_view names[numDeviceKinds] = {"cpu", "meta", "cuda"};
  return int(kind) < numDeviceKinds ? names[int(kind)] : "unknown";
}

std::string deviceString(DeviceKind kind, int index) {
  std::string s(deviceKindName(kind));
  return index < 0 ? s : s + ":" + std::to_string(index);
}

bool parseDevice(std::string_view text, DeviceId &out, Diag &diag) {
  auto invalid = [&] { return diag.fail(ErrorKind::Runtime, "Invalid device string: '" + std::string(text) + "'"); };
  std::string_view kind = text.substr(0, text.find(':'));
  int k = 0;
  while (k < numDeviceKinds && deviceKindName(DeviceKind(k)) != kind)
    ++k;
  if (k == numDeviceKinds)
    return diag.fail(ErrorKind::Runtime,
                     "Expected one of cpu, cuda, meta device type at start of device string: " + std::string(text));
  int index = -1;
  if (kind.size() != text.size()) {
    std::string_view digits = text.substr(kind.size() + 1);
    if (digits.empty() || digits.size() > 3 || (digits.size() > 1 && digits[0] == '0'))
      return invalid();
    index = 0;
    for (char c : digits) {
      if (c < '0' || c > '9')
        return invalid();
      index = index * 10 + (c - '0');
    }
    if (index >= maxDeviceIndex)
      return invalid();
  }
  out = {DeviceKind(k), int8_t(index)};
  return true;
}

} // namespace torchc
