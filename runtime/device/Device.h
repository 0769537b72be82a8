// Devices (E7): where tensors live. cpu and meta are always there; others register themselves when they are opened.
#pragma once
#include "dialects/rules/Diag.h"
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace torchc {

/// Numbers are part of the trace format: append only.
enum class DeviceKind : uint8_t { Cpu = 0, Meta = 1, Cuda = 2 };
inline constexpr int numDeviceKinds = 3;
inline constexpr int maxDeviceIndex = 64;

class Stream;

/// One device. Methods may be called from any thread.
class Device {
public:
  virtual ~Device() = default;
  virtual DeviceKind kind() const = 0;
  virtual int index() const { return 0; }
  /// What a person calls it: "cpu", "NVIDIA H200".
  virtual std::string name() const = 0;
  /// Uninitialised memory; *out may be null for 0 bytes and on meta. False: the device hasn't as much.
  virtual bool allocate(size_t bytes, void **out) = 0;
  virtual void free(void *p, size_t bytes) = 0;
  /// Copies into this device's `dst` from `src` on `from`, in order with `stream` (null: the default one). False: no way
  /// from there to here.
  virtual bool copyFrom(void *dst, const void *src, size_t bytes, Device &from, Stream *stream) = 0;
  virtual Stream &defaultStream() = 0;
};

/// The device, or null. Index -1 means the current one of that kind: 0.
Device *deviceFor(DeviceKind kind, int index = 0);
/// Makes a device known; it stays for ever. False: there is one with that kind and index already.
bool registerDevice(Device *device);
/// How many devices of the kind there are.
int deviceCount(DeviceKind kind);

/// "cpu", "meta", "cuda".
std::string_view deviceKindName(DeviceKind kind);
/// "cpu", "cuda:1"; index -1 leaves the number out.
std::string deviceString(DeviceKind kind, int index);

struct DeviceId {
  DeviceKind kind = DeviceKind::Cpu;
  int8_t index = -1;
  friend bool operator==(DeviceId, DeviceId) = default;
};
/// Reads "cpu", "cuda:1". Malformed text and unknown kinds are reported as Runtime, as PyTorch does.
bool parseDevice(std::string_view text, DeviceId &out, Diag &diag);

} // namespace torchc
