// What kernels report in their int32 status word (E5): stored by compiled code, read by the runtime.
#pragma once
#include "dialects/rules/Diag.h"
#include <cstdint>

namespace torchc {

/// Numbers are part of the kernel ABI (compiled code stores them): append only.
enum class KernelStatus : int32_t {
  Ok = 0,
  IndexOutOfRange = 1,   // index_select, gather, scatter, embedding, targets of a loss
  DivisionByZero = 2,    // integer division or remainder (N8)
  GuardFailed = 4,       // a relation assumed by a compiled kernel doesn't hold (J5)
  NoMemory = 5,
  MissingKernel = 6,     // the pack has no kernel of that name: a bug, found by a structure test
  Unsupported = 7,
};

/// A text for the code, lower case, without a final period.
constexpr const char *statusText(KernelStatus s) {
  switch (s) {
  case KernelStatus::Ok: return "ok";
  case KernelStatus::IndexOutOfRange: return "index out of range in self";
  case KernelStatus::DivisionByZero: return "ZeroDivisionError";
  case KernelStatus::GuardFailed: return "a compiled kernel met sizes or strides that it wasn't made for";
  case KernelStatus::NoMemory: return "out of memory";
  case KernelStatus::MissingKernel: return "the kernel pack lacks a kernel";
  case KernelStatus::Unsupported: return "not supported by this kernel";
  }
  return "unknown kernel status";
}

/// The exception class PyTorch raises for the code.
constexpr ErrorKind statusKind(KernelStatus s) {
  switch (s) {
  case KernelStatus::Ok: return ErrorKind::None;
  case KernelStatus::IndexOutOfRange: return ErrorKind::Index;
  case KernelStatus::NoMemory: return ErrorKind::Memory;
  case KernelStatus::Unsupported: return ErrorKind::NotImplemented;
  case KernelStatus::GuardFailed:
  case KernelStatus::MissingKernel: return ErrorKind::Internal;
  default: return ErrorKind::Runtime;
  }
}

} // namespace torchc
