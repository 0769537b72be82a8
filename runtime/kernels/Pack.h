// The kernel pack: every eager kernel, compiled ahead of time from the op table for each ISA (torchc-kernels).
//
// What torchc-kernels emits, all `extern "C"`, hidden visibility, in object files that are linked as objects (not as an
// archive member, which nothing would pull in):
//   - the kernels, named torchc_k_<op>_<dtype>_<form>_<isa> (isa = v3, v4, a64), with the ABI of Kernel.h;
//   - `const torchc::PackTable *const torchc_pack_tables[]`, ended by a null: one table per ISA. Entries are sorted by
//     key, ascending and unique. Pointers inside are ordinary relocations.
// The runtime refers to torchc_pack_tables weakly: a program without a pack links, and every lookup gives null.
#pragma once
#include "dialects/rules/DType.h"
#include "dialects/rules/Isa.h"
#include "runtime/kernels/Kernel.h"
#include <cstdint>
#include <type_traits>

namespace torchc {

inline constexpr uint32_t packAbi = 1;

/// What a kernel's arguments look like; numbers are part of the table format: append only. `aux` is the second small
/// field of the key, 0 where it isn't named.
enum class PackForm : uint8_t {
  /// ptrs = {out, in0, in1 .., status}; contiguous, elements [begin, end). aux = scalar mask: operand i with bit i set
  /// is read from scalars + 8*i (one value of the compute type, f16/bf16 as f32) and its pointer isn't used. dtype is
  /// the operands' type. The output has the op's type, Bool (u8 0/1) for comparisons.
  Elementwise = 1,
  /// ptrs = {out, in, status}, contiguous (N8). dtype = from, aux = to, op = 0.
  Cast = 2,
  /// Rows: ptrs = {out .., in, status}, sizesStrides = {n}, begin/end over rows, row r at in + r*n, result r at
  /// out + r: N4 over the row. dtype = the input's; out has the accumulator's type (ints and bool sum to i64).
  /// `dot` has two inputs of one type, and out has that type (rounded once).
  Reduce = 3,
  /// Columns: ptrs = {out .., in, status}, sizesStrides = {rows, row stride in elements}, begin/end over columns.
  ReduceCols = 4,
  /// One panel of a product by N3: arguments in compiler/lower/Gemm.h, aux = its variant. op = 0. Callers use gemm() of
  /// runtime/kernels/Gemm.h.
  Gemm = 5,
  /// ptrs = {out}, scalars = {seed u64, ordinal u64, op's own parameters, 8 bytes each}, begin/end over elements (N9).
  Random = 6,
  /// Rows of a Fused op (softmax, norms, losses): ptrs = {out .., in .., status}, sizesStrides = {n, ..}, begin/end
  /// over rows.
  FusedRows = 7,
  /// The same with the reduced axis outermost: begin/end over columns, sizesStrides = {rows, row stride, ..}.
  FusedCols = 8,
  /// One panel of a convolution by N5: arguments in compiler/lower/Window.h, aux = its variant. op = 0. Callers use conv()
  /// of runtime/kernels/Conv.h.
  Conv = 9,
  /// ptrs = {out, in, status}, sizesStrides = PoolGeometry, begin/end over planes.
  Pool = 10,
};

/// An op number: converts from OpId and from plain numbers.
struct PackOp {
  uint32_t id;
  constexpr PackOp(uint32_t id) : id(id) {}
  template <class E, class = std::enable_if_t<std::is_enum_v<E>>> constexpr PackOp(E op) : id(uint32_t(op)) {}
};

/// form << 56 | aux << 48 | dtype << 40 | op.
constexpr uint64_t packKey(PackForm form, PackOp op, DType dtype, uint32_t aux) {
  return uint64_t(form) << 56 | uint64_t(aux & 0xff) << 48 | uint64_t(dtype) << 40 | op.id;
}

extern "C" {
struct PackEntry {
  uint64_t key;
  Kernel fn;
  const char *name; // the symbol, for compiled code that calls it
};
struct PackTable {
  uint32_t abi; // packAbi
  Isa isa;
  uint64_t count;
  const PackEntry *entries;
};
}
static_assert(sizeof(PackEntry) == 24 && sizeof(PackTable) == 24);

namespace detail {
inline constexpr unsigned packMasks = 8; // of elementwise kernels that have a dense slot; others are searched for
/// Filled once at load from the table of the chosen ISA.
struct PackIndex {
  Kernel *elementwise = nullptr; // [op][compute dtype][mask]
  Kernel *reduce = nullptr; // [op][compute dtype][rows, columns]
  uint32_t numOps = 0;
  Kernel cast[numDTypes][numDTypes] = {};
};
extern PackIndex packIndex;
Kernel packSearch(uint64_t key);
} // namespace detail

/// All lookups are O(1), safe from any thread, and give null when the pack has no such kernel.
inline Kernel packElementwise(PackOp op, DType dtype, unsigned scalarMask) {
  const auto &ix = detail::packIndex;
  if (op.id < ix.numOps && scalarMask < detail::packMasks && unsigned(dtype) < unsigned(numComputeDTypes))
    return ix.elementwise[(op.id * numComputeDTypes + unsigned(dtype)) * detail::packMasks + scalarMask];
  return detail::packSearch(packKey(PackForm::Elementwise, op, dtype, scalarMask));
}
/// Also from and to the stored types, whose loops are the runtime's own (StoredTypes.h).
inline Kernel packCast(DType from, DType to) { return detail::packIndex.cast[unsigned(from)][unsigned(to)]; }
inline Kernel packReduce(PackOp op, DType in) {
  const auto &ix = detail::packIndex;
  return op.id < ix.numOps && unsigned(in) < unsigned(numComputeDTypes)
             ? ix.reduce[(op.id * numComputeDTypes + unsigned(in)) * 2]
             : nullptr;
}
inline Kernel packReduceCols(PackOp op, DType in) {
  const auto &ix = detail::packIndex;
  return op.id < ix.numOps && unsigned(in) < unsigned(numComputeDTypes)
             ? ix.reduce[(op.id * numComputeDTypes + unsigned(in)) * 2 + 1]
             : nullptr;
}
/// The rarer forms are searched for (about 20 ns): a caller in a loop keeps the result.
inline Kernel packGemm(DType dtype, uint32_t variant = 0) {
  return detail::packSearch(packKey(PackForm::Gemm, 0u, dtype, variant));
}
inline Kernel packConv(DType dtype, uint32_t variant) {
  return detail::packSearch(packKey(PackForm::Conv, 0u, dtype, variant));
}
inline Kernel packPool(PackOp op, DType dtype) { return detail::packSearch(packKey(PackForm::Pool, op, dtype, 0)); }
inline Kernel packRandom(PackOp op, DType dtype) { return detail::packSearch(packKey(PackForm::Random, op, dtype, 0)); }
inline Kernel packFused(PackForm form, PackOp op, DType dtype, uint32_t variant = 0) {
  return detail::packSearch(packKey(form, op, dtype, variant));
}

/// The kernel of that symbol name, for the object loader; null if there is none.
Kernel packSymbol(const char *name);

/// The ISA in use: the best one that the processor and the pack have, or the one TORCHC_ISA asks for.
Isa packIsa();
/// Why the pack isn't what was asked for ("TORCHC_ISA=v4, but this processor has only v3"); null if all is well.
const char *packProblem();
/// Every entry in use, for structure tests.
const PackTable *packTable();
/// Replaces the tables (tests). `tables` as torchc_pack_tables; they and their entries must stay alive.
void packUse(const PackTable *const *tables);

} // namespace torchc

extern "C" __attribute__((weak)) const torchc::PackTable *const torchc_pack_tables[];
