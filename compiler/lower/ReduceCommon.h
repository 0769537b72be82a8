// What the rows and columns forms share: the combining operation, identities, the fold of chains, the block tree.
#pragma once
#include "compiler/lower/Reduce.h"

namespace torchc::lower {

inline constexpr int64_t reduceBlock = 1024;

class ReduceOps {
public:
  ReduceOps(KernelBuilder &b, ReduceKind kind, DType in)
      : b(b), kind(kind), acc(accumulatorType(kind, in)), lanes(b.target().lanes(accBits())),
        chains(accBits() == 64 ? 32 : 64) {}

  unsigned accBits() const { return acc == DType::Bool ? 8 : unsigned(itemSize(acc)) * 8; }
  Value combine(Value x, Value y);
  /// One step of a chain of Dot.
  Value multiplyAdd(Value x, Value y, Value acc);
  /// Of scalar or vector type.
  Value identity(unsigned lanes);
  Value emptyResult();
  /// One scalar from `chains` chains in vectors: for w = chains/2 ... 1, c[i] = c[i] o c[i+w].
  Value fold(Values accs);
  /// Order matters only for float sums and products.
  bool ordered() const {
    return isFloat(acc) && (kind == ReduceKind::Sum || kind == ReduceKind::Prod || kind == ReduceKind::Dot);
  }
  bool isArg() const { return kind == ReduceKind::ArgMax || kind == ReduceKind::ArgMin; }
  bool isMax() const { return kind == ReduceKind::Max || kind == ReduceKind::ArgMax; }

  KernelBuilder &b;
  ReduceKind kind;
  DType acc;
  unsigned lanes;
  int64_t chains;
};

bool emitReduceRows(KernelBuilder &b, llvm::StringRef name, const ReduceSpec &spec, Diag &diag);
bool emitReduceColumns(KernelBuilder &b, llvm::StringRef name, const ReduceSpec &spec, Diag &diag);

} // namespace torchc::lower
