// Ops on cuda tensors: the pack's device kernels on the thread's current stream. What has no kernel raises.
#pragma once
#include "frontends/eager/Families.h"
#include "runtime/device/Device.h"

namespace torchc {

inline constexpr auto cudaDevice = uint8_t(DeviceKind::Cuda);

/// How ops of each family run on cuda; throws NotImplementedError for those without kernels.
TensorImpl *runOnCuda(Resolved &r);

namespace cuda {

/// dst[...] = src[...], src broadcast and converted. At least one is on cuda; of memory on the host both ends are kept until it
/// is done.
void copyTensor(TensorImpl *dst, TensorImpl *src);
/// Every element of `out` becomes `bits`, an element of its type.
void fillTensor(TensorImpl *out, uint64_t bits);
/// start + i * step of type I64 or F64 into `out`, which is contiguous.
void fillRange(TensorImpl *out, uint64_t startBits, uint64_t stepBits);
/// `input` on another device, converted to `t`; on the tape, whose gradient goes the way back.
Tensor moved(const Tensor &input, DeviceId device, DType t);
/// Throws what CUDA last reported.
void checkErrors();
/// Throws PyTorch's error where there is no such device.
void requireDevice(DeviceId device);

} // namespace cuda
} // namespace torchc
