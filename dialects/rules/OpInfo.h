// The op table as data: what every layer may ask about an op. Generated from dialects/ops by torchc-tblgen.
#pragma once
#include "dialects/rules/Attr.h"
#include "dialects/rules/Body.h"
#include <optional>
#include <string_view>

namespace torchc {

/// Builtin ops in record order; private to a build (J2). Files use names; ids from 0x10000 on are custom ops.
enum class OpId : uint32_t {
#define TORCHC_OP(ident, name) ident,
#include "torchc-gen/OpIds.inc"
#undef TORCHC_OP
  NumOps
};
inline constexpr int numOps = int(OpId::NumOps);

enum class Family : uint8_t {
  Elementwise,
  Cast,
  Reduction,
  Contraction,
  View,
  Indexing,
  Creation,
  Random,
  Fused,
  Library,
  Pooling
};

/// How operands meet before the kernel runs (OpSpec.td).
enum class Promote : uint8_t { None, Common, Float, Compare, Truth, Branch, Magnitude };

/// Which rule of Infer.cpp gives the result's shape.
enum class ShapeRule : uint8_t {
  Broadcast,
  Cast,
  Reduce,
  ArgReduce,
  Matmul,
  Dot,
  Reshape,
  Transpose,
  Expand,
  Slice,
  SliceUpdate,
  Cat,
  IndexSelect,
  IndexUpdate,
  Gather,
  Scatter,
  Full,
  Arange,
  Random,
  Like,
  RandomInt,
  Sort,
  Mode,
  Search,
  Conv,
  ConvInput,
  ConvWeight,
  Pool,
  PoolIndex,
  PoolInput,
  PoolScatter,
  AsStrided,
  AsStridedUpdate,
  Scan,
  Attention,
  RealParts,
  ComplexPairs,
  Norm
};

enum OpFlag : uint32_t {
  OpIsView = 1,      // the eager result aliases operand 0
  OpIsRandom = 2,    // takes an ordinal of a generator
  OpMayRaise = 4,    // may fail on its data (J3)
  OpAccumulates = 32, // adds up in f32 when its type is f16 or bf16 (N6): computed there and cast down once
  OpRowMajor = 64,   // the result's memory is row-major whatever the operands'
  OpWideInt = 128,   // of the integer types only int64 has kernels: the API widens
  OpConjugates = 256, // the derivative is written in PyTorch's convention for complex numbers
  OpUnsigned = 512,  // also computes in uint16, uint32 and uint64
  OpFloat8 = 1024,   // also computes in the float8 types
  OpByRows = 2048,   // along the dimensions of the first attribute, which doesn't look at others
  OpVariadic = 16    // any number of operands of one kind
};

struct AttrInfo {
  const char *name;
  AttrTag tag; // None: any number
};

/// Bit of `saves` that stands for the op's result.
inline constexpr uint16_t savesResult = 1u << 15;
inline constexpr int maxFixedOperands = 5;

struct OpInfo {
  const char *name;
  const char *summary;
  Family family;
  Promote promote;
  ShapeRule shape;
  uint32_t flags;
  uint8_t numOperands; // of a variadic op: 1, repeated
  uint8_t numAttrs;
  const char *const *operands;
  const AttrInfo *attrs;
  Body bodies[int(BodyClass::NumClasses)];
  uint16_t differentiable;           // bit i: operand i has a gradient (variadic: bit 0 for all)
  uint16_t saves[maxFixedOperands];  // operands and result that the gradient of operand i reads
  const char *decompose;             // Fused ops: the template of rules/Decompose.h, else ""
  const char *gradName;              // of its nodes in the tape, "" for its own name
};

extern const OpInfo opTable[numOps];

inline const OpInfo &opInfo(OpId id) { return opTable[uint32_t(id)]; }
inline const Body &opBody(OpId id, DType compute) { return opInfo(id).bodies[int(bodyClass(compute))]; }

/// Finds a builtin by its name ("mul"), without overload.
std::optional<OpId> lookupOp(std::string_view name);

} // namespace torchc
