// Work by blocks that stay in the second-level cache: the passes that an op is made of cost no memory traffic on a block.
#pragma once
#include "frontends/eager/Modes.h"
#include "frontends/eager/Tensor.h"
#include "runtime/device/ThreadPool.h"
#include <exception>
#include <mutex>

namespace torchc {

inline constexpr int64_t blockBytes = 128 << 10;

/// Rows [first, first + rows) of t, which is contiguous, as sizes [rows, tail]: shares the memory.
inline Tensor rowsOf(TensorImpl *t, int64_t first, int64_t rows, const Dims &tail) {
  Dims dims;
  dims.push(rows);
  for (int i = 0; i < tail.size(); i++)
    dims.push(tail[i]);
  return Tensor(newAlias(t, dims.size(), dims.data(), nullptr, first * tail.numel()));
}

/// body(first, n) for blocks of at most `each` of `count` rows, on the pool's threads; neither tape nor tracer see the
/// ops in it. What it throws is thrown once all threads are done.
template <class F> void eachBlock(int64_t count, int64_t each, F body) {
  std::mutex mutex;
  std::exception_ptr error;
  parallelFor(0, (count + each - 1) / each, 2, [&](int64_t begin, int64_t end) {
    try {
      InternalGuard quiet;
      for (int64_t b = begin; b < end; b++)
        body(b * each, std::min(each, count - b * each));
    } catch (...) {
      std::lock_guard<std::mutex> lock(mutex);
      error = std::current_exception();
    }
  });
  if (error)
    std::rethrow_exception(error);
}

} // namespace torchc
