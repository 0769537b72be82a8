#include "runtime/core/Storage.h"
#include "runtime/core/ForkMutex.h"
#include "runtime/device/Device.h"
#include <unordered_map>
#include <vector>

namespace torchc {
namespace {

struct Hook {
  void (*fn)(Storage *, void *);
  void *context;
};
struct HookTable {
  ForkMutex mutex{LockOrder::ReleaseHooks};
  std::unordered_map<Storage *, std::vector<Hook>> hooks;
};
HookTable &hookTable() {
  static auto *t = new HookTable; // outlives every static destructor
  return *t;
}

void runReleaseHooks(Storage *s) {
  std::vector<Hook> hooks;
  {
    HookTable &t = hookTable();
    std::lock_guard<std::mutex> lock(t.mutex);
    auto it = t.hooks.find(s);
    if (it == t.hooks.end())
      return;
    hooks.swap(it->second);
    t.hooks.erase(it);
  }
  for (const Hook &h : hooks)
    h.fn(s, h.context);
}

void freeDeviceMemory(Storage *s) {
  if (Device *d = deviceFor(DeviceKind(s->device), s->deviceIndex))
    d->free(s->data, size_t(s->nbytes));
}

} // namespace

Storage *detail::newStorageLarge(size_t nbytes) {
  if (nbytes > size_t(maxAllocation))
    return nullptr;
  int blockClass;
  auto *s = static_cast<Storage *>(allocLarge(nbytes + sizeof(Storage), blockClass));
  if (s)
    initStorage(s, reinterpret_cast<char *>(s + 1), int64_t(nbytes), blockClass);
  return s;
}

void detail::freeStorageSlow(Storage *s) {
  if (s->releaseHooks)
    runReleaseHooks(s);
  if (s->blockClass < 0) {
    if (s->deleter)
      s->deleter(s);
    freeSmall(s, 1);
    return;
  }
  countFree(s->nbytes);
  if (s->blockClass < numSmallClasses)
    freeSmall(s, s->blockClass);
  else
    freeLarge(s, s->blockClass);
}

Storage *newForeignStorage(void *data, int64_t nbytes, void (*deleter)(Storage *), void *context) {
  auto *s = static_cast<Storage *>(allocSmall(1));
  if (!s)
    return nullptr;
  detail::initStorage(s, static_cast<char *>(data), nbytes, -1);
  s->deleter = deleter;
  s->context = context;
  return s;
}

Storage *newStorageOn(uint8_t deviceKind, int deviceIndex, int64_t nbytes) {
  if (DeviceKind(deviceKind) == DeviceKind::Cpu)
    return newStorage(nbytes);
  Device *d = deviceFor(DeviceKind(deviceKind), deviceIndex);
  if (!d || nbytes < 0)
    return nullptr;
  void *p = nullptr;
  if (!d->allocate(size_t(nbytes), &p))
    return nullptr;
  Storage *s = newForeignStorage(p, nbytes, freeDeviceMemory, nullptr);
  if (!s) {
    d->free(p, size_t(nbytes));
    return nullptr;
  }
  s->device = deviceKind;
  s->deviceIndex = int8_t(deviceIndex);
  return s;
}

void onRelease(Storage *s, void (*hook)(Storage *, void *), void *context) {
  HookTable &t = hookTable();
  std::lock_guard<std::mutex> lock(t.mutex);
  t.hooks[s].push_back({hook, context});
  if (s->releaseHooks != 255)
    ++s->releaseHooks;
}

bool removeReleaseHook(Storage *s, void (*hook)(Storage *, void *), void *context) {
  HookTable &t = hookTable();
  std::lock_guard<std::mutex> lock(t.mutex);
  auto it = t.hooks.find(s);
  if (it == t.hooks.end())
    return false;
  for (size_t i = 0; i < it->second.size(); ++i)
    if (it->second[i].fn == hook && it->second[i].context == context) {
      it->second.erase(it->second.begin() + long(i));
      if (s->releaseHooks != 255)
        --s->releaseHooks;
      if (it->second.empty())
        t.hooks.erase(it);
      return true;
    }
  return false;
}

} // namespace torchc
