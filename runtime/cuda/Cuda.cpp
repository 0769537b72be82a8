#include "runtime/cuda/Cuda.h"
#include "dialects/rules/DeviceKernel.h"
#include "runtime/cuda/DevicePack.h"
#include "runtime/cuda/Driver.h"

namespace torchc::cuda {
namespace {

constexpr size_t statusBytes = 16;
thread_local std::string lastError;
thread_local int threadDevice = 0;
thread_local CudaStream *threadStreams[maxDeviceIndex] = {};

Properties read(int d) {
  Properties p{};
  char name[128] = {};
  driver()->cuDeviceGetName(name, sizeof name, d);
  p.name = name;
  driver()->cuDeviceTotalMem(&p.totalBytes, d);
  auto get = [&](Attribute a) {
    int v = 0;
    driver()->cuDeviceGetAttribute(&v, a, d);
    return v;
  };
  p.major = get(Attribute::ComputeCapabilityMajor);
  p.minor = get(Attribute::ComputeCapabilityMinor);
  p.multiprocessors = get(Attribute::MultiprocessorCount);
  p.warpSize = get(Attribute::WarpSize);
  p.threadsPerMultiprocessor = get(Attribute::MaxThreadsPerMultiprocessor);
  return p;
}

} // namespace

bool check(Result r) {
  if (r == success)
    return true;
  if (lastError.empty())
    lastError = errorText(r);
  return false;
}
std::string takeError() { return std::exchange(lastError, std::string()); }

Device &CudaStream::device() const { return owner; }
void CudaStream::synchronize() {
  owner.use();
  check(driver()->cuStreamSynchronize(handle));
}
bool CudaStream::query() {
  owner.use();
  Result r = driver()->cuStreamQuery(handle);
  return r == errorNotReady ? false : check(r);
}

CudaDevice::CudaDevice(int index, Handle context, Properties properties)
    : number(index), context(context), props(std::move(properties)), first(*this, nullptr, 0) {}

void CudaDevice::use() const { check(driver()->cuCtxSetCurrent(context)); }

bool CudaDevice::allocate(size_t bytes, void **out) {
  use();
  return memory.allocate(bytes, currentStream(*this).raw(), out);
}
void CudaDevice::free(void *p, size_t) {
  driver()->cuCtxSetCurrent(context); // a destructor has nobody to tell of an error
  memory.free(p);
}

bool CudaDevice::copyFrom(void *dst, const void *src, size_t bytes, Device &from, Stream *stream) {
  if (!bytes)
    return true;
  use();
  CudaStream &s = stream ? static_cast<CudaStream &>(*stream) : currentStream(*this);
  if (from.kind() == DeviceKind::Cuda)
    return check(driver()->cuMemcpyDtoDAsync(Pointer(dst), Pointer(src), bytes, s.raw()));
  if (from.kind() != DeviceKind::Cpu)
    return false;
  return check(driver()->cuMemcpyHtoDAsync(Pointer(dst), src, bytes, s.raw())) &&
         check(driver()->cuStreamSynchronize(s.raw()));
}

bool CudaDevice::copyToHost(void *dst, const void *src, size_t bytes, CudaStream &stream) {
  if (!bytes)
    return true;
  use();
  return check(driver()->cuMemcpyDtoHAsync(dst, Pointer(src), bytes, stream.raw())) &&
         check(driver()->cuStreamSynchronize(stream.raw()));
}

bool CudaDevice::fill(void *p, int value, size_t bytes, CudaStream &stream) {
  use();
  return !bytes || check(driver()->cuMemsetD8Async(Pointer(p), static_cast<unsigned char>(value), bytes, stream.raw()));
}

/// Assembled by the driver when it is first used; stays.
Handle CudaDevice::function(uint64_t key, bool &missing) {
  std::lock_guard<std::mutex> lock(mutex);
  auto [it, isNew] = functions.try_emplace(key, nullptr);
  if (!isNew)
    return it->second;
  const DevicePackEntry *e = findDeviceKernel(key);
  missing = !e;
  Handle module = nullptr, f = nullptr;
  if (!e || !check(driver()->cuModuleLoadData(&module, e->text)) ||
      !check(driver()->cuModuleGetFunction(&f, module, e->name))) {
    functions.erase(it);
    return nullptr;
  }
  return it->second = f;
}

bool CudaDevice::launch(uint64_t key, const unsigned (&grid)[3], const unsigned (&block)[3], uint64_t *arguments,
                        int count, CudaStream &stream, bool &missing) {
  use();
  missing = false;
  Handle f = function(key, missing);
  if (!f)
    return false;
  void *parameters[deviceArguments];
  for (int i = 0; i < count; ++i)
    parameters[i] = arguments + i;
  return check(driver()->cuLaunchKernel(f, grid[0], grid[1], grid[2], block[0], block[1], block[2], 0, stream.raw(),
                                        parameters, nullptr));
}

CudaStream *CudaDevice::newStream() {
  use();
  Handle h = nullptr;
  if (!check(driver()->cuStreamCreate(&h, streamNonBlocking)))
    return nullptr;
  return new CudaStream(*this, h, ++streams);
}

void CudaDevice::synchronize() {
  use();
  check(driver()->cuCtxSynchronize());
}

void *CudaDevice::statusWord() {
  std::lock_guard<std::mutex> lock(mutex);
  Pointer p = 0; // not the allocator's: memory numbers are the program's
  if (!status && check(driver()->cuMemAlloc(&p, statusBytes))) {
    status = reinterpret_cast<void *>(p);
    if (fill(status, 0, statusBytes, first))
      first.synchronize();
  }
  return status;
}

int openDevices() {
  static const int count = [] {
    const Driver *d = driver();
    int opened = 0;
    for (int i = 0; d && i < d->devices && i < maxDeviceIndex; ++i) {
      int number;
      Handle context;
      if (check(d->cuDeviceGet(&number, i)) && check(d->cuDevicePrimaryCtxRetain(&context, number)) &&
          registerDevice(new CudaDevice(i, context, read(number))))
        ++opened;
    }
    return opened;
  }();
  return count;
}

CudaDevice *device(int index) {
  openDevices();
  return static_cast<CudaDevice *>(deviceFor(DeviceKind::Cuda, index < 0 ? threadDevice : index));
}
int currentDevice() { return threadDevice; }
void setCurrentDevice(int index) { threadDevice = index; }

CudaStream &currentStream(CudaDevice &d) {
  CudaStream *s = threadStreams[d.index()];
  return s ? *s : static_cast<CudaStream &>(d.defaultStream());
}
void setCurrentStream(CudaStream &s) { threadStreams[s.cudaDevice().index()] = &s; }

Event::~Event() {
  if (handle)
    driver()->cuEventDestroy(handle);
}
bool Event::record(CudaStream &s) {
  s.cudaDevice().use();
  if (!handle && !check(driver()->cuEventCreate(&handle, timing ? 0 : eventDisableTiming)))
    return false;
  return check(driver()->cuEventRecord(handle, s.raw()));
}
bool Event::wait(CudaStream &s) const { return !handle || check(driver()->cuStreamWaitEvent(s.raw(), handle, 0)); }
bool Event::query() const {
  Result r = handle ? driver()->cuEventQuery(handle) : success;
  return r == errorNotReady ? false : check(r);
}
bool Event::synchronize() const { return !handle || check(driver()->cuEventSynchronize(handle)); }
bool Event::elapsed(const Event &to, float &milliseconds) const {
  return check(driver()->cuEventElapsedTime(&milliseconds, handle, to.handle));
}

} // namespace torchc::cuda
