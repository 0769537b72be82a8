// Locks that no other thread holds in a forked child: fork() takes all of them first, in one order.
#pragma once
#include <cstdint>
#include <mutex>

namespace torchc {

/// What locks guard, in the order in which fork() takes them. Whoever holds one waits for later ones alone, and for none
/// that another fork handler takes.
enum class LockOrder : uint8_t {
  Function,
  Recording,
  Compiled,
  Records,
  Pack,
  ReleaseHooks,
  Gradients,
  Allocator,
  Count
};

/// Objects of a kind share a few locks, so that fork() needs no list of them. Use as a std::mutex.
class ForkMutex {
public:
  constexpr explicit ForkMutex(LockOrder order) : order(order) {}
  ForkMutex(const ForkMutex &) = delete;
  operator std::mutex &() const;

private:
  LockOrder order;
};

} // namespace torchc
