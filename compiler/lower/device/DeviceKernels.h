// Kernels of a device with threads of its own: elementwise, casts, reductions by N4, products by N3. The arithmetic is that
// of the CPU's kernels: BodyEmitter, Convert and ReduceOps. Forms and arguments: dialects/rules/DeviceKernel.h.
#pragma once
#include "compiler/lower/Reduce.h"
#include "compiler/lower/device/DeviceBuilder.h"

namespace torchc::lower {

/// An op of the elementwise family on operands of type `t`. False, with a text in `diag`, when it has no body for it.
bool emitDeviceElementwise(DeviceBuilder &b, llvm::StringRef name, const OpInfo &info, DType t, Diag &diag);
bool emitDeviceCast(DeviceBuilder &b, llvm::StringRef name, DType from, DType to);
bool emitDeviceArange(DeviceBuilder &b, llvm::StringRef name, DType t);

bool emitDeviceReduce(DeviceBuilder &b, llvm::StringRef name, ReduceKind kind, DType in);
bool emitDeviceCombine(DeviceBuilder &b, llvm::StringRef name, ReduceKind kind, DType in);
/// The second half of argmax and argmin.
bool emitDeviceFind(DeviceBuilder &b, llvm::StringRef name, ReduceKind kind, DType in);

/// Gather, Scatter or ScatterAdd.
bool emitDeviceIndex(DeviceBuilder &b, llvm::StringRef name, DeviceForm form, DType t);

/// In the compute type `t`: f32, f64 or an integer.
bool emitDeviceMatmul(DeviceBuilder &b, llvm::StringRef name, DType t);

} // namespace torchc::lower
