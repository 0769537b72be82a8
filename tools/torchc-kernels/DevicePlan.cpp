#include "DevicePlan.h"
#include "PackPlan.h"
#include "compiler/lower/device/DeviceKernels.h"
#include "llvm/ADT/STLExtras.h"

namespace torchc::pack {

using llvm::StringRef;
using lower::DeviceBuilder;
using lower::ReduceKind;

namespace {

class Planner {
public:
  std::vector<DeviceKernel> run();

private:
  void elementwise(OpId id, const OpInfo &info);
  void reduction(OpId id, const OpInfo &info);
  void dots(OpId id, const OpInfo &info);
  void casts();
  void products();
  void indices();
  void add(uint64_t key, std::string stem, decltype(DeviceKernel::emit) emit) {
    kernels.push_back({key, "torchc_d_" + stem, std::move(emit)});
  }
  static std::string text(DType t) { return std::string(shortName(t)); }

  std::vector<DeviceKernel> kernels;
};

void Planner::elementwise(OpId id, const OpInfo &info) {
  for (int d = 0; d < numComputeDTypes; ++d) {
    DType t = DType(d);
    if (takes(info, t))
      add(deviceKey(DeviceForm::Elementwise, uint32_t(id), t), info.name + ("_" + text(t)),
          [&info, t](DeviceBuilder &b, StringRef name, Diag &diag) {
            return emitDeviceElementwise(b, name, info, t, diag);
          });
  }
}

void Planner::reduction(OpId id, const OpInfo &info) {
  std::optional<ReduceKind> kind = lower::reduceKind(info);
  if (!kind)
    return;
  for (int d = 0; d < numComputeDTypes; ++d) {
    DType t = DType(d);
    std::string stem = info.name + ("_" + text(t));
    add(deviceKey(DeviceForm::Reduce, uint32_t(id), t), stem + "_blocks",
        [k = *kind, t](DeviceBuilder &b, StringRef name, Diag &) { return emitDeviceReduce(b, name, k, t); });
    add(deviceKey(DeviceForm::Combine, uint32_t(id), t), stem + "_pairs",
        [k = *kind, t](DeviceBuilder &b, StringRef name, Diag &) { return emitDeviceCombine(b, name, k, t); });
    if (*kind == ReduceKind::ArgMax || *kind == ReduceKind::ArgMin)
      add(deviceKey(DeviceForm::Find, uint32_t(id), t), stem + "_find",
          [k = *kind, t](DeviceBuilder &b, StringRef name, Diag &) { return emitDeviceFind(b, name, k, t); });
  }
}

void Planner::dots(OpId id, const OpInfo &info) {
  for (int d = 0; d < numComputeDTypes; ++d) {
    DType t = DType(d);
    if (t == DType::Bool)
      continue;
    std::string stem = info.name + ("_" + text(t));
    add(deviceKey(DeviceForm::Dot, uint32_t(id), t), stem + "_blocks",
        [t](DeviceBuilder &b, StringRef name, Diag &) { return emitDeviceReduce(b, name, ReduceKind::Dot, t); });
    add(deviceKey(DeviceForm::Combine, uint32_t(id), t), stem + "_pairs",
        [t](DeviceBuilder &b, StringRef name, Diag &) { return emitDeviceCombine(b, name, ReduceKind::Dot, t); });
  }
}

/// From a type to itself too: copies between layouts, and fills.
void Planner::casts() {
  for (int f = 0; f < numComputeDTypes; ++f)
    for (int t = 0; t < numComputeDTypes; ++t) {
      DType from = DType(f), to = DType(t);
      add(deviceKey(DeviceForm::Cast, 0, from, unsigned(to)), "cast_" + text(from) + "_" + text(to),
          [from, to](DeviceBuilder &b, StringRef name, Diag &) { return emitDeviceCast(b, name, from, to); });
    }
}

void Planner::products() {
  for (DType t : {DType::U8, DType::I8, DType::I16, DType::I32, DType::I64, DType::F32, DType::F64})
    add(deviceKey(DeviceForm::Matmul, 0, t), "matmul_" + text(t),
        [t](DeviceBuilder &b, StringRef name, Diag &) { return emitDeviceMatmul(b, name, t); });
  for (DType t : {DType::I64, DType::F64})
    add(deviceKey(DeviceForm::Arange, 0, t), "arange_" + text(t),
        [t](DeviceBuilder &b, StringRef name, Diag &) { return emitDeviceArange(b, name, t); });
}

void Planner::indices() {
  auto index = [&](DeviceForm form, const char *stem, DType t) {
    add(deviceKey(form, 0, t), stem + text(t),
        [form, t](DeviceBuilder &b, StringRef name, Diag &) { return emitDeviceIndex(b, name, form, t); });
  };
  for (DType t : {DType::U8, DType::I16, DType::I32, DType::I64}) { // by the size of elements
    index(DeviceForm::Gather, "gather_", t);
    index(DeviceForm::Scatter, "scatter_", t);
  }
  for (DType t : {DType::Bool, DType::U8, DType::I8, DType::I16, DType::I32, DType::I64, DType::F32, DType::F64})
    index(DeviceForm::ScatterAdd, "scatter_add_", t);
}

std::vector<DeviceKernel> Planner::run() {
  for (int i = 0; i < numOps; ++i) {
    const OpInfo &info = opTable[i];
    if (info.family == Family::Elementwise)
      elementwise(OpId(i), info);
    else if (info.family == Family::Reduction && info.shape != ShapeRule::Scan)
      reduction(OpId(i), info);
    else if (info.family == Family::Contraction && info.shape == ShapeRule::Dot)
      dots(OpId(i), info);
  }
  casts();
  products();
  indices();
  llvm::sort(kernels, [](const auto &a, const auto &b) { return a.key < b.key; });
  return std::move(kernels);
}

} // namespace

std::vector<DeviceKernel> planDevice() { return Planner().run(); }

} // namespace torchc::pack
