// The stand-in driver: libcuda's entry points on this machine's memory, kernels by the interpreter. It is strict where the real
// one is quick: streams run as late as they may, host buffers are read and written only then, and device memory can't be touched
// by the host, so that missing waits and wrong pointers show.
#include "runtime/cuda/Entries.h"
#include "runtime/emulator/Launch.h"
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <sys/mman.h>
#include <vector>

namespace torchc::cuda {
namespace {

constexpr size_t totalBytes = size_t(4) << 30;
constexpr size_t pageBytes = 4096;

struct Event {
  bool done = true;
  double time = 0;
};
using Work = std::function<bool()>; // false: it has to wait for another stream
struct Stream {
  std::deque<Work> queue;
};
struct LoadedModule {
  ptx::Module module;
};

struct Driver {
  std::recursive_mutex mutex;
  bool initialized = false;
  std::map<Pointer, size_t> memory;
  size_t used = 0;
  ptx::Blocks blocks;
  Stream defaultStream;
  std::vector<Stream *> streams{&defaultStream}; // in the order of creation, which work runs in where nothing else says
  std::map<Event *, std::shared_ptr<Event>> events; // queued work holds them too
  Result failed = success; // sticky, as a context's
  std::string fault;

  std::shared_ptr<Event> event(Handle h) {
    auto it = events.find(static_cast<Event *>(h));
    return it == events.end() ? nullptr : it->second;
  }
  Stream *stream(Handle h) { return h ? static_cast<Stream *>(h) : &defaultStream; }
  void protect(int how) {
    for (const auto &[at, bytes] : memory)
      mprotect(reinterpret_cast<void *>(at), bytes, how);
  }
  bool step(Stream &s) {
    if (s.queue.empty() || !s.queue.front()())
      return false;
    s.queue.pop_front();
    return true;
  }
  /// Runs a stream's work, and as much of the others' as it waits for. After a fault nothing runs any more.
  Result drain(Stream &s) {
    if (s.queue.empty())
      return failed;
    protect(PROT_READ | PROT_WRITE);
    while (!s.queue.empty() && !failed) {
      bool moved = step(s);
      for (auto it = streams.begin(); it != streams.end() && !moved; ++it)
        moved = *it != &s && step(**it);
      if (!moved) {
        failed = errorLaunchFailed;
        fault = "streams wait for each other";
      }
    }
    protect(PROT_NONE);
    if (failed)
      for (Stream *each : streams)
        each->queue.clear();
    return failed;
  }
  Result drainAll() {
    for (Stream *s : streams)
      drain(*s);
    return failed;
  }
  bool owns(Pointer p, size_t bytes) const {
    auto it = memory.upper_bound(p);
    return it != memory.begin() && (--it, p + bytes <= it->first + it->second);
  }
};

Driver &driver() {
  static auto *d = new Driver; // outlives the threads that may still call
  return *d;
}

/// Locks, and is where every call refuses to work before cuInit or after a fault.
struct Call {
  std::lock_guard<std::recursive_mutex> lock{driver().mutex};
  Driver &d = driver();
  Result status() const { return d.initialized ? d.failed : errorNotInitialized; }
};

double now() {
  using namespace std::chrono;
  return duration<double, std::milli>(steady_clock::now().time_since_epoch()).count();
}

size_t rounded(size_t bytes) { return (bytes + pageBytes - 1) / pageBytes * pageBytes; }

Result faultCode(ptx::Fault::Kind kind) {
  switch (kind) {
  case ptx::Fault::None: return success;
  case ptx::Fault::Address: return errorIllegalAddress;
  case ptx::Fault::Misaligned: return errorMisalignedAddress;
  default: return errorLaunchFailed;
  }
}

struct ErrorText {
  Result code;
  const char *name, *text;
};
constexpr ErrorText errorTexts[] = {
    {success, "CUDA_SUCCESS", "no error"},
    {errorInvalidValue, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {errorOutOfMemory, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {errorNotInitialized, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {errorInvalidDevice, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {errorInvalidPtx, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
    {errorNotFound, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {errorNotReady, "CUDA_ERROR_NOT_READY", "device not ready"},
    {errorIllegalAddress, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {errorMisalignedAddress, "CUDA_ERROR_MISALIGNED_ADDRESS", "misaligned address"},
    {errorLaunchFailed, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
};

Result enqueue(Handle stream, Work work) {
  Call c;
  if (Result r = c.status())
    return r;
  c.d.stream(stream)->queue.push_back(std::move(work));
  return success;
}

} // namespace

#define TORCHC_DECLARE(name, symbol, arguments)                                                                        \
  extern "C" __attribute__((visibility("default"))) Result name arguments asm(#symbol);
TORCHC_CUDA_ENTRIES(TORCHC_DECLARE)
TORCHC_EMULATOR_ENTRIES(TORCHC_DECLARE)
#undef TORCHC_DECLARE

Result cuInit(unsigned flags) {
  Call c;
  if (flags)
    return errorInvalidValue;
  c.d.initialized = true;
  return success;
}
Result cuDriverGetVersion(int *version) { return *version = 13000, success; }

Result cuGetErrorName(Result error, const char **text) {
  for (const ErrorText &e : errorTexts)
    if (e.code == error)
      return *text = e.name, success;
  return errorInvalidValue;
}
Result cuGetErrorString(Result error, const char **text) {
  for (const ErrorText &e : errorTexts)
    if (e.code == error)
      return *text = e.text, success;
  return errorInvalidValue;
}

Result cuDeviceGetCount(int *count) { return *count = 1, success; }
Result cuDeviceGet(int *device, int ordinal) { return *device = ordinal, ordinal ? errorInvalidDevice : success; }
Result cuDeviceGetName(char *name, int bytes, int device) {
  if (device || bytes < 1)
    return errorInvalidDevice;
  std::strncpy(name, "PTX emulator", size_t(bytes) - 1);
  name[bytes - 1] = 0;
  return success;
}
Result cuDeviceTotalMem(size_t *bytes, int device) {
  return *bytes = totalBytes, device ? errorInvalidDevice : success;
}
Result cuDeviceGetAttribute(int *value, Attribute attribute, int device) {
  if (device)
    return errorInvalidDevice;
  switch (attribute) {
  case Attribute::WarpSize: *value = 32; return success;
  case Attribute::MultiprocessorCount: *value = 1; return success;
  case Attribute::ComputeCapabilityMajor: *value = 8; return success;
  case Attribute::ComputeCapabilityMinor: *value = 0; return success;
  case Attribute::MaxThreadsPerMultiprocessor: *value = 1024; return success;
  }
  return errorInvalidValue;
}
Result cuDevicePrimaryCtxRetain(Handle *context, int device) {
  *context = &driver();
  return device ? errorInvalidDevice : success;
}
Result cuCtxSetCurrent(Handle) { return Call().status(); }
Result cuCtxSynchronize() {
  Call c;
  return c.status() ? c.status() : c.d.drainAll();
}

/// A block ends where its pages do, before one that nobody may touch.
Result cuMemAlloc(Pointer *memory, size_t bytes) {
  Call c;
  if (Result r = c.status())
    return r;
  if (!bytes)
    return errorInvalidValue;
  size_t size = rounded(bytes);
  if (size > totalBytes - c.d.used)
    return errorOutOfMemory;
  void *p = mmap(nullptr, size + pageBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED)
    return errorOutOfMemory;
  *memory = Pointer(p);
  c.d.memory[*memory] = size;
  c.d.used += size;
  c.d.blocks.add(*memory, bytes);
  return success;
}
Result cuMemFree(Pointer memory) {
  Call c;
  c.d.drainAll();
  auto it = c.d.memory.find(memory);
  if (it == c.d.memory.end())
    return errorInvalidValue;
  munmap(reinterpret_cast<void *>(memory), it->second + pageBytes);
  c.d.used -= it->second;
  c.d.memory.erase(it);
  c.d.blocks.remove(memory);
  return c.status();
}
Result cuMemGetInfo(size_t *available, size_t *total) {
  Call c;
  *total = totalBytes;
  *available = totalBytes - c.d.used;
  return c.status();
}

Result cuMemcpyHtoDAsync(Pointer to, const void *from, size_t bytes, Handle stream) {
  if (!Call().d.owns(to, bytes))
    return errorInvalidValue;
  return enqueue(stream, [=] { return std::memcpy(reinterpret_cast<void *>(to), from, bytes), true; });
}
Result cuMemcpyDtoHAsync(void *to, Pointer from, size_t bytes, Handle stream) {
  if (!Call().d.owns(from, bytes))
    return errorInvalidValue;
  return enqueue(stream, [=] { return std::memcpy(to, reinterpret_cast<void *>(from), bytes), true; });
}
Result cuMemcpyDtoDAsync(Pointer to, Pointer from, size_t bytes, Handle stream) {
  if (!Call().d.owns(to, bytes) || !Call().d.owns(from, bytes))
    return errorInvalidValue;
  return enqueue(
      stream, [=] { return std::memmove(reinterpret_cast<void *>(to), reinterpret_cast<void *>(from), bytes), true; });
}
Result cuMemsetD8Async(Pointer to, unsigned char value, size_t bytes, Handle stream) {
  if (!Call().d.owns(to, bytes))
    return errorInvalidValue;
  return enqueue(stream, [=] { return std::memset(reinterpret_cast<void *>(to), value, bytes), true; });
}

Result cuStreamCreate(Handle *stream, unsigned) {
  Call c;
  if (Result r = c.status())
    return r;
  auto *s = new Stream;
  c.d.streams.push_back(s);
  *stream = s;
  return success;
}
Result cuStreamDestroy(Handle stream) {
  Call c;
  auto *s = static_cast<Stream *>(stream);
  auto it = std::find(c.d.streams.begin(), c.d.streams.end(), s);
  if (it == c.d.streams.end() || s == &c.d.defaultStream)
    return errorInvalidValue;
  c.d.drain(*s);
  c.d.streams.erase(it);
  delete s;
  return c.status();
}
Result cuStreamSynchronize(Handle stream) {
  Call c;
  return c.status() ? c.status() : c.d.drain(*c.d.stream(stream));
}
Result cuStreamQuery(Handle stream) {
  Call c;
  return c.status() ? c.status() : c.d.stream(stream)->queue.empty() ? success : errorNotReady;
}
Result cuStreamWaitEvent(Handle stream, Handle event, unsigned) {
  auto e = Call().d.event(event);
  return e ? enqueue(stream, [e] { return e->done; }) : errorInvalidValue;
}

Result cuEventCreate(Handle *event, unsigned) {
  Call c;
  if (Result r = c.status())
    return r;
  auto e = std::make_shared<Event>();
  *event = e.get();
  c.d.events[e.get()] = e;
  return success;
}
Result cuEventDestroy(Handle event) {
  return Call().d.events.erase(static_cast<Event *>(event)) ? success : errorInvalidValue;
}
Result cuEventRecord(Handle event, Handle stream) {
  auto e = Call().d.event(event);
  if (!e)
    return errorInvalidValue;
  e->done = false;
  return enqueue(stream, [e] {
    e->time = now();
    return e->done = true;
  });
}
Result cuEventQuery(Handle event) {
  Call c;
  auto e = c.d.event(event);
  if (!e || c.status())
    return e ? c.status() : errorInvalidValue;
  return e->done ? success : errorNotReady;
}
Result cuEventSynchronize(Handle event) {
  Call c;
  auto e = c.d.event(event);
  if (!e || c.status())
    return e ? c.status() : errorInvalidValue;
  return e->done ? success : c.d.drainAll();
}
Result cuEventElapsedTime(float *milliseconds, Handle from, Handle to) {
  Call c;
  auto a = c.d.event(from), b = c.d.event(to);
  if (!a || !b)
    return errorInvalidValue;
  if (!a->done || !b->done)
    return errorNotReady;
  *milliseconds = float(b->time - a->time);
  return success;
}

Result cuModuleLoadData(Handle *module, const void *image) {
  Call c;
  if (Result r = c.status())
    return r;
  auto m = std::make_unique<LoadedModule>();
  if (!ptx::parse(static_cast<const char *>(image), m->module, c.d.fault))
    return errorInvalidPtx;
  *module = m.release(); // modules stay for the life of the process
  return success;
}
Result cuModuleGetFunction(Handle *function, Handle module, const char *name) {
  auto &kernels = static_cast<LoadedModule *>(module)->module.kernels;
  auto it = kernels.find(name);
  if (it == kernels.end())
    return errorNotFound;
  *function = &it->second;
  return success;
}

Result cuLaunchKernel(Handle function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX, unsigned blockY,
                      unsigned blockZ, unsigned sharedBytes, Handle stream, void **parameters, void **extra) {
  auto *k = static_cast<const ptx::Kernel *>(function);
  ptx::Shape shape{{gridX, gridY, gridZ}, {blockX, blockY, blockZ}};
  uint64_t threads = uint64_t(blockX) * blockY * blockZ;
  bool fits = gridX && gridY && gridZ && gridX <= 0x7fffffff && gridY <= 65535 && gridZ <= 65535 && threads &&
              threads <= 1024 && blockZ <= 64 && k->sharedBytes <= 48 << 10 && !sharedBytes && !extra;
  if (!fits)
    return errorInvalidValue;
  auto values = std::make_shared<std::vector<std::vector<char>>>();
  for (size_t i = 0; i < k->parameters.size(); ++i) {
    auto *p = static_cast<const char *>(parameters[i]);
    values->emplace_back(p, p + k->parameters[i].size);
  }
  return enqueue(stream, [=] {
    Driver &d = driver();
    std::vector<const void *> pointers;
    for (const auto &v : *values)
      pointers.push_back(v.data());
    ptx::Fault f = ptx::launch(*k, shape, pointers.data(), d.blocks);
    if (f.kind != ptx::Fault::None && !d.failed) {
      d.failed = faultCode(f.kind);
      d.fault = f.text;
    }
    return true;
  });
}

Result emulatorNote(Pointer memory, size_t bytes, int lives, Handle stream) {
  return enqueue(stream, [=] { return driver().blocks.note(memory, bytes, lives), true; });
}
Result emulatorFault(const char **text) {
  Call c;
  *text = c.d.fault.c_str();
  return success;
}

} // namespace torchc::cuda
