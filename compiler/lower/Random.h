// Counter-based random numbers by rule N9.
#pragma once
#include "compiler/lower/KernelBuilder.h"

namespace torchc::lower {

/// Philox4x32-10 on `lanes` counters at once. `counter` and `ordinal` are 64 bits a lane; the four words come back as
/// i64 lanes below 2^32.
llvm::SmallVector<Value, 4> emitPhilox(KernelBuilder &b, Value seed, Value ordinal, Value counter, unsigned subDraw);

/// Adds the kernel (E5) of uniform numbers of [0, 1): ptrs = {out}, scalars = {seed u64, ordinal u64}, [begin, end) over
/// elements of the whole draw, element i at out + i. f32, f64, f16, bf16.
void emitUniform(KernelBuilder &b, llvm::StringRef name, DType t);

/// The same for integers of [low, low + range), int64: scalars = {seed, ordinal, low, range}. One word a number, range
/// at most 2^32; `wide`: two words a number, range 0 meaning 2^64.
void emitRandint(KernelBuilder &b, llvm::StringRef name, bool wide);

} // namespace torchc::lower
