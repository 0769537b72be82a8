#include "PackPlan.h"
#include "compiler/lower/Elementwise.h"
#include "compiler/lower/Gemm.h"
#include "compiler/lower/Random.h"
#include "compiler/lower/Reduce.h"
#include "compiler/lower/Scan.h"
#include "compiler/lower/Window.h"
#include "dialects/rules/OpInfo.h"
#include "runtime/kernels/Pack.h"
#include "llvm/ADT/STLExtras.h"

namespace torchc::pack {

using lower::ElementwiseSpec;
using lower::ExprInput;
using lower::KernelBuilder;
using lower::ReduceKind;

namespace {

class Planner {
public:
  Planner(const codegen::TargetInfo &target) : target(target) {}
  std::vector<PlannedKernel> run();

private:
  void elementwise(OpId id, const OpInfo &info);
  void casts();
  void gemms();
  void convolutions();
  void pools(OpId id, const OpInfo &info);
  void random(OpId id, const OpInfo &info);
  void reduction(OpId id, const OpInfo &info);
  void dots(OpId id, const OpInfo &info);
  void scans(OpId id, const OpInfo &info);
  void add(uint64_t key, std::string stem, decltype(PlannedKernel::emit) emit) {
    kernels.push_back({key, "torchc_k_" + stem + "_" + target.name.str(), std::move(emit)});
  }

  const codegen::TargetInfo &target;
  std::vector<PlannedKernel> kernels;
};

} // namespace

/// The element types an op's kernels are made for, by its promotion class.
bool takes(const OpInfo &info, DType t) {
  if (info.promote == Promote::Truth)
    return t == DType::Bool;
  if (info.promote == Promote::Float && !isFloat(t))
    return false;
  if ((info.flags & OpWideInt) && isIntegral(t) && t != DType::I64)
    return false;
  return info.bodies[int(bodyClass(computeType(t)))].numNodes > 0;
}

namespace {

ElementwiseSpec elementwiseSpec(const OpInfo &info, DType t, unsigned mask) {
  ElementwiseSpec spec;
  DType compute = computeType(t);
  llvm::SmallVector<int, 3> operands;
  for (unsigned i = 0; i < info.numOperands; ++i) {
    bool isCondition = info.promote == Promote::Branch && i == 0;
    ExprInput in;
    bool scalar = mask >> i & 1;
    in.dtype = isCondition ? DType::Bool : scalar ? compute : t;
    in.access = scalar ? ExprInput::ScalarSlot : ExprInput::Contiguous;
    in.slot = scalar ? i : 1 + i;
    int node = spec.expr.addInput(std::move(in));
    operands.push_back(isCondition ? node : spec.expr.addCast(node, compute));
  }
  lower::ExprNode op{lower::ExprNode::Op, compute, compute};
  op.body = info.bodies[int(bodyClass(compute))];
  op.operands = operands;
  bool predicate = info.promote == Promote::Compare || info.promote == Promote::Truth;
  op.dtype = predicate ? DType::Bool : compute;
  spec.expr.nodes.push_back(std::move(op));
  int node = int(spec.expr.nodes.size()) - 1;
  if (!predicate)
    node = spec.expr.addCast(node, t);
  spec.outputs.push_back({node, 0, {}});
  spec.expr.statusSlot = 1 + int(info.numOperands);
  return spec;
}

void Planner::elementwise(OpId id, const OpInfo &info) {
  // A mask with every operand a number is no tensor op.
  unsigned masks = info.numOperands == 1 ? 1 : (1u << info.numOperands) - 1;
  for (int d = 0; d < numComputeDTypes; ++d) {
    DType t = DType(d);
    if (!takes(info, t))
      continue;
    for (unsigned mask = 0; mask < masks; ++mask)
      add(packKey(PackForm::Elementwise, id, t, mask),
          std::string(info.name) + "_" + std::string(shortName(t)) + "_m" + std::to_string(mask),
          [&info, t, mask](KernelBuilder &b, llvm::StringRef name, Diag &diag) {
            return lower::emitElementwise(b, name, elementwiseSpec(info, t, mask), diag);
          });
  }
}

void Planner::casts() {
  for (int f = 0; f < numComputeDTypes; ++f)
    for (int t = 0; t < numComputeDTypes; ++t) {
      DType from = DType(f), to = DType(t);
      if (from == to)
        continue;
      add(packKey(PackForm::Cast, 0u, from, unsigned(to)),
          "cast_" + std::string(shortName(from)) + "_" + std::string(shortName(to)),
          [from, to](KernelBuilder &b, llvm::StringRef name, Diag &diag) {
            ElementwiseSpec spec;
            ExprInput in;
            in.dtype = from;
            in.slot = 1;
            spec.outputs.push_back({spec.expr.addCast(spec.expr.addInput(std::move(in)), to), 0, {}});
            return lower::emitElementwise(b, name, spec, diag);
          });
    }
}

void Planner::gemms() {
  static const char *variants[lower::gemmVariants] = {"strided", "packed", "wide", "copy"};
  for (DType t : {DType::U8, DType::I8, DType::I16, DType::I32, DType::I64, DType::F32, DType::F64}) {
    for (unsigned v = 0; v < lower::gemmVariants; ++v)
      add(packKey(PackForm::Gemm, 0u, t, v), "gemm_" + std::string(shortName(t)) + "_" + variants[v],
          [t, v](KernelBuilder &b, llvm::StringRef name, Diag &) {
            lower::emitGemmStrip(b, name, t, lower::GemmVariant(v));
            return true;
          });
    add(packKey(PackForm::Gemm, 0u, t, lower::gemmVariants), "gemm_" + std::string(shortName(t)) + "_turn",
        [t](KernelBuilder &b, llvm::StringRef name, Diag &) {
          lower::emitTurn(b, name, t);
          return true;
        });
  }
}

void Planner::convolutions() {
  static const char *variants[lower::convVariants] = {"shared", "lanes", "stepped"};
  for (DType t : {DType::U8, DType::I8, DType::I16, DType::I32, DType::I64, DType::F32, DType::F64})
    for (unsigned v = 0; v < lower::convVariants; ++v)
      add(packKey(PackForm::Conv, 0u, t, v), "conv_" + std::string(shortName(t)) + "_" + variants[v],
          [t, v](KernelBuilder &b, llvm::StringRef name, Diag &) {
            lower::emitConvStrip(b, name, t, lower::ConvVariant(v));
            return true;
          });
}

lower::PoolKind poolKind(const OpInfo &info) {
  switch (info.shape) {
  case ShapeRule::PoolIndex: return lower::PoolKind::MaxIndex;
  case ShapeRule::PoolScatter: return lower::PoolKind::MaxInput;
  case ShapeRule::PoolInput: return lower::PoolKind::MeanInput;
  default: return info.flags & OpAccumulates ? lower::PoolKind::Mean : lower::PoolKind::Max;
  }
}

/// Ops that accumulate run in their op-math type; means only in types that divide.
void Planner::pools(OpId id, const OpInfo &info) {
  lower::PoolKind kind = poolKind(info);
  bool isMean = kind == lower::PoolKind::Mean || kind == lower::PoolKind::MeanInput;
  for (int d = int(DType::U8); d < numComputeDTypes; ++d) {
    DType t = DType(d);
    if ((isMean && t != DType::F32 && t != DType::F64 && t != DType::I64) ||
        ((info.flags & OpAccumulates) && isReducedFloat(t)))
      continue;
    add(packKey(PackForm::Pool, id, t, 0), std::string(info.name) + "_" + std::string(shortName(t)),
        [t, kind](KernelBuilder &b, llvm::StringRef name, Diag &) {
          lower::emitPool(b, name, t, kind);
          return true;
        });
  }
}

/// Every random op starts from uniform numbers; those with a body of their own compute on from them.
void Planner::random(OpId id, const OpInfo &info) {
  if (info.shape == ShapeRule::RandomInt) {
    bool wide = id == OpId::RandintWide;
    add(packKey(PackForm::Random, id, DType::I64, 0), std::string(info.name) + "_i64",
        [wide](KernelBuilder &b, llvm::StringRef name, Diag &) {
          lower::emitRandint(b, name, wide);
          return true;
        });
    return;
  }
  for (DType t : {DType::F16, DType::BF16, DType::F32, DType::F64})
    add(packKey(PackForm::Random, id, t, 0), std::string(info.name) + "_" + std::string(shortName(t)),
        [t](KernelBuilder &b, llvm::StringRef name, Diag &) {
          lower::emitUniform(b, name, t);
          return true;
        });
}

void Planner::reduction(OpId id, const OpInfo &info) {
  std::optional<ReduceKind> kind = lower::reduceKind(info);
  if (!kind)
    return;
  for (int d = 0; d < numComputeDTypes; ++d)
    for (bool columns : {false, true}) {
      DType t = DType(d);
      add(packKey(columns ? PackForm::ReduceCols : PackForm::Reduce, id, t, 0),
          std::string(info.name) + "_" + std::string(shortName(t)) + (columns ? "_cols" : "_rows"),
          [kind = *kind, t, columns](KernelBuilder &b, llvm::StringRef name, Diag &diag) {
            return lower::emitReduce(b, name, lower::plainReduce(kind, t, columns), diag);
          });
    }
}

/// Inner products of vectors, in the form of a reduction with two inputs.
void Planner::dots(OpId id, const OpInfo &info) {
  for (int d = 0; d < numComputeDTypes; ++d) {
    DType t = DType(d);
    if (t != DType::Bool)
      add(packKey(PackForm::Reduce, id, t, 0), std::string(info.name) + "_" + std::string(shortName(t)) + "_rows",
          [t](KernelBuilder &b, llvm::StringRef name, Diag &diag) {
            return lower::emitReduce(b, name, lower::plainDot(t), diag);
          });
  }
}

/// Running reductions, in the form of a reduction by rows.
void Planner::scans(OpId id, const OpInfo &info) {
  for (int d = 0; d < numComputeDTypes; ++d) {
    DType t = DType(d);
    add(packKey(PackForm::Reduce, id, t, 0), std::string(info.name) + "_" + std::string(shortName(t)) + "_rows",
        [kind = *lower::scanKind(info), t](KernelBuilder &b, llvm::StringRef name, Diag &) {
          lower::emitScan(b, name, kind, t);
          return true;
        });
  }
}

std::vector<PlannedKernel> Planner::run() {
  for (int i = 0; i < numOps; ++i) {
    const OpInfo &info = opTable[i];
    if (info.family == Family::Elementwise)
      elementwise(OpId(i), info);
    else if (info.family == Family::Reduction && info.shape == ShapeRule::Scan)
      scans(OpId(i), info);
    else if (info.family == Family::Reduction)
      reduction(OpId(i), info);
    else if (info.family == Family::Contraction && info.shape == ShapeRule::Dot)
      dots(OpId(i), info);
    else if (info.family == Family::Pooling)
      pools(OpId(i), info);
    else if (info.family == Family::Random)
      random(OpId(i), info);
  }
  casts();
  gemms();
  convolutions();
  llvm::sort(kernels, [](const auto &a, const auto &b) { return a.key < b.key; });
  return std::move(kernels);
}

} // namespace

std::vector<PlannedKernel> planPack(const codegen::TargetInfo &target) { return Planner(target).run(); }

} // namespace torchc::pack
