// The cuda device behind Device and Stream: streams, events, the current device and stream of a thread, kernels by their key.
#pragma once
#include "runtime/cuda/Allocator.h"
#include "runtime/device/Device.h"
#include "runtime/device/Stream.h"
#include <atomic>
#include <memory>

namespace torchc::cuda {

class CudaDevice;

class CudaStream final : public Stream {
public:
  CudaStream(CudaDevice &device, Handle handle, uint64_t number) : owner(device), handle(handle), number(number) {}
  Device &device() const override;
  void synchronize() override;
  bool query() override;
  uint64_t id() const override { return number; }
  Handle raw() const { return handle; }
  CudaDevice &cudaDevice() const { return owner; }

private:
  CudaDevice &owner;
  Handle handle;
  uint64_t number;
};

struct Properties {
  std::string name;
  size_t totalBytes;
  int major, minor, multiprocessors, warpSize, threadsPerMultiprocessor;
};

class CudaDevice final : public Device {
public:
  CudaDevice(int index, Handle context, Properties properties);
  DeviceKind kind() const override { return DeviceKind::Cuda; }
  int index() const override { return number; }
  std::string name() const override { return props.name; }
  bool allocate(size_t bytes, void **out) override;
  void free(void *p, size_t bytes) override;
  /// From the host or a cuda device; host memory is free to use again when it returns.
  bool copyFrom(void *dst, const void *src, size_t bytes, Device &from, Stream *stream) override;
  Stream &defaultStream() override { return first; }

  /// To the host, after everything queued on `stream`; waits. False after a CUDA error, which takeError() names.
  bool copyToHost(void *dst, const void *src, size_t bytes, CudaStream &stream);
  bool fill(void *p, int value, size_t bytes, CudaStream &stream);
  /// Starts a kernel of the pack. `arguments` are 64-bit words (dialects/rules/DeviceKernel.h). False: no such kernel
  /// (`missing`), or a CUDA error.
  bool launch(uint64_t key, const unsigned (&grid)[3], const unsigned (&block)[3], uint64_t *arguments, int count,
              CudaStream &stream, bool &missing);
  /// A stream of the pool; never destroyed.
  CudaStream *newStream();
  void synchronize();
  Allocator &allocator() { return memory; }
  const Properties &properties() const { return props; }
  /// Makes this the context of the thread's driver calls.
  void use() const;
  /// What kernels that may fail report in: a code (0: none) and an index, 8 bytes each. One for the device.
  void *statusWord();

private:
  Handle function(uint64_t key, bool &missing);

  int number;
  Handle context;
  Properties props;
  CudaStream first;
  Allocator memory;
  std::mutex mutex;
  std::unordered_map<uint64_t, Handle> functions;
  std::atomic<uint64_t> streams{0};
  void *status = nullptr;
};

/// Registers every device of the driver, once; how many there are.
int openDevices();
/// Device `index`, -1 the thread's current one; null if there is none.
CudaDevice *device(int index = -1);
int currentDevice();
void setCurrentDevice(int index);
/// The thread's stream for work on the device.
CudaStream &currentStream(CudaDevice &device);
void setCurrentStream(CudaStream &stream);

/// A failed driver call is kept until takeError() takes its text; "" if there was none.
bool check(Result r);
std::string takeError();

/// An event of PyTorch's kind: made at the first record().
class Event {
public:
  explicit Event(bool timing) : timing(timing) {}
  ~Event();
  bool record(CudaStream &stream);
  bool wait(CudaStream &stream) const;
  /// True where nothing was recorded.
  bool query() const;
  bool synchronize() const;
  bool elapsed(const Event &to, float &milliseconds) const;
  bool recorded() const { return handle; }
  bool timed() const { return timing; }

private:
  bool timing;
  Handle handle = nullptr;
};

} // namespace torchc::cuda
