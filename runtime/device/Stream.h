// A queue of work on a device. The cpu's runs everything at once, in the calling thread and the pool.
#pragma once
#include <cstdint>

namespace torchc {

class Device;

class Stream {
public:
  virtual ~Stream() = default;
  virtual Device &device() const = 0;
  /// Waits until all work queued so far is done.
  virtual void synchronize() = 0;
  /// True if synchronize() would return at once.
  virtual bool query() = 0;
  /// Number that Python shows; 0 for default streams.
  virtual uint64_t id() const { return 0; }
};

} // namespace torchc
