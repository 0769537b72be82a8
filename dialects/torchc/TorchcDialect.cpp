#include "dialects/torchc/TorchcDialect.h"
#include "mlir/IR/Builders.h"

#include "torchc-gen/TorchcDialect.cpp.inc"

using namespace mlir;

namespace torchc::ir {

void TorchcDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "torchc-gen/TorchcOps.cpp.inc"
      ,
#define GET_OP_LIST
#include "torchc-gen/ControlOps.cpp.inc"
      >();
}

std::optional<DType> dtypeOf(Type t) {
  if (auto i = dyn_cast<IntegerType>(t)) {
    switch (i.getWidth()) {
    case 1: return DType::Bool;
    case 8: return i.isUnsigned() ? DType::U8 : DType::I8;
    case 16: return i.isUnsigned() ? DType::U16 : DType::I16;
    case 32: return i.isUnsigned() ? DType::U32 : DType::I32;
    case 64: return i.isUnsigned() ? DType::U64 : DType::I64;
    default: return std::nullopt;
    }
  }
  if (t.isF16())
    return DType::F16;
  if (t.isBF16())
    return DType::BF16;
  if (t.isF32())
    return DType::F32;
  if (t.isF64())
    return DType::F64;
  if (isa<Float8E4M3FNType>(t))
    return DType::F8E4M3FN;
  if (isa<Float8E5M2Type>(t))
    return DType::F8E5M2;
  if (isa<Float8E4M3FNUZType>(t))
    return DType::F8E4M3FNUZ;
  if (isa<Float8E5M2FNUZType>(t))
    return DType::F8E5M2FNUZ;
  return std::nullopt;
}

Type elementType(MLIRContext *c, DType t) {
  switch (t) {
  case DType::Bool: return IntegerType::get(c, 1);
  case DType::U8: return IntegerType::get(c, 8, IntegerType::Unsigned);
  case DType::I8: return IntegerType::get(c, 8);
  case DType::I16: return IntegerType::get(c, 16);
  case DType::I32: return IntegerType::get(c, 32);
  case DType::I64: return IntegerType::get(c, 64);
  case DType::F16: return Float16Type::get(c);
  case DType::BF16: return BFloat16Type::get(c);
  case DType::F32: return Float32Type::get(c);
  case DType::F64: return Float64Type::get(c);
  case DType::U16: return IntegerType::get(c, 16, IntegerType::Unsigned);
  case DType::U32: return IntegerType::get(c, 32, IntegerType::Unsigned);
  case DType::U64: return IntegerType::get(c, 64, IntegerType::Unsigned);
  case DType::F8E4M3FN: return Float8E4M3FNType::get(c);
  case DType::F8E5M2: return Float8E5M2Type::get(c);
  case DType::F8E4M3FNUZ: return Float8E4M3FNUZType::get(c);
  case DType::F8E5M2FNUZ: return Float8E5M2FNUZType::get(c);
  default: return Type();
  }
}

RankedTensorType tensorType(MLIRContext *c, const TensorType &t) {
  return RankedTensorType::get(llvm::ArrayRef(t.dims.data(), size_t(t.dims.size())), elementType(c, t.dtype));
}

Dims dimsOf(RankedTensorType t) { return Dims(t.getShape().data(), int(t.getRank())); }

std::optional<OpId> opIdOf(Operation *op) {
  if (!isa_and_nonnull<TorchcDialect>(op->getDialect()))
    return std::nullopt;
  return lookupOp(op->getName().stripDialect());
}

Attribute toMlir(MLIRContext *c, const AttrInfo &info, const Attr &a) {
  Builder b(c);
  switch (a.tag) {
  case AttrTag::Bool: return b.getBoolAttr(a.i);
  case AttrTag::Int: return b.getI64IntegerAttr(a.i);
  case AttrTag::Float: return b.getF64FloatAttr(a.f);
  case AttrTag::Str: return b.getStringAttr(StringRef(a.str, a.size));
  case AttrTag::DType: return TypeAttr::get(elementType(c, a.asDType()));
  case AttrTag::IntList: return b.getDenseI64ArrayAttr(llvm::ArrayRef(a.list, a.size));
  default: return Attribute();
  }
}

static bool readAttr(Attribute m, Attr &out) {
  if (auto v = dyn_cast_or_null<BoolAttr>(m))
    out = Attr::boolean(v.getValue());
  else if (auto v = dyn_cast_or_null<IntegerAttr>(m))
    out = Attr::integer(v.getInt());
  else if (auto v = dyn_cast_or_null<FloatAttr>(m))
    out = Attr::number(v.getValueAsDouble());
  else if (auto v = dyn_cast_or_null<StringAttr>(m))
    out = Attr::string(v.getValue().data(), uint32_t(v.getValue().size()));
  else if (auto v = dyn_cast_or_null<DenseI64ArrayAttr>(m))
    out = Attr::ints(v.asArrayRef().data(), uint32_t(v.size()));
  else if (auto v = dyn_cast_or_null<TypeAttr>(m); v && dtypeOf(v.getValue()))
    out = Attr::dtype(*dtypeOf(v.getValue()));
  else
    return false;
  return true;
}

bool readAttrs(Operation *op, const OpInfo &info, SmallVectorImpl<Attr> &out) {
  for (int i = 0; i < info.numAttrs; i++) {
    Attr a;
    if (!readAttr(op->getAttr(info.attrs[i].name), a))
      return false;
    out.push_back(a);
  }
  return true;
}

/// Operands of pointwise ops have the common type already; a 0-d operand may be a number in its op-math type (N2).
static LogicalResult verifyOperandTypes(Operation *op, const OpInfo &info, ArrayRef<OperandType> in) {
  if (info.promote == Promote::None)
    return success();
  unsigned first = info.promote == Promote::Branch ? 1 : 0;
  std::optional<DType> common;
  for (const OperandType &o : in.drop_front(first))
    if (!common || o.rank() || computeType(*common) == *common)
      common = common && !o.rank() && computeType(o.dtype) == o.dtype ? *common : o.dtype;
  for (auto [i, o] : llvm::enumerate(in.drop_front(first)))
    if (o.dtype != *common && !(o.rank() == 0 && o.dtype == computeType(*common)))
      return op->emitOpError("expected operands of one element type, got ")
             << torchName(*common) << " and " << torchName(o.dtype) << " (operand " << i + first << ")";
  return success();
}

LogicalResult verifyTorchcOp(Operation *op) {
  std::optional<OpId> id = opIdOf(op);
  if (!id)
    return op->emitOpError("is not in the op table");
  const OpInfo &info = opInfo(*id);
  SmallVector<Attr> attrs;
  if (!readAttrs(op, info, attrs))
    return op->emitOpError("has a missing or unsupported attribute");
  SmallVector<OperandType> in;
  std::vector<Dims> shapes;
  shapes.reserve(op->getNumOperands());
  for (Value v : op->getOperands()) {
    auto t = cast<RankedTensorType>(v.getType());
    std::optional<DType> dtype = dtypeOf(t.getElementType());
    if (!dtype || t.getRank() > maxRank)
      return op->emitOpError("has an operand of unsupported type ") << t;
    if (!t.hasStaticShape())
      return success(); // shapes that are only known at run time are checked there
    shapes.push_back(dimsOf(t));
    in.push_back({*dtype, false, &shapes.back()});
  }
  if (failed(verifyOperandTypes(op, info, in)))
    return failure();
  TensorType want;
  Diag diag;
  if (!inferOp(*id, in.data(), int(in.size()), attrs.data(), int(attrs.size()), DType::F32, want, diag))
    return op->emitOpError(diag.text);
  auto have = cast<RankedTensorType>(op->getResult(0).getType());
  if (!have.hasStaticShape())
    return success();
  std::optional<DType> dtype = dtypeOf(have.getElementType());
  bool promoted = info.promote != Promote::None && info.promote != Promote::Compare && info.promote != Promote::Truth;
  bool typeFits = dtype && (*dtype == want.dtype || (promoted && computeType(*dtype) == want.dtype));
  if (!(dimsOf(have) == want.dims) || !typeFits)
    return op->emitOpError("expected a result of type ") << tensorType(op->getContext(), want) << ", got " << have;
  return success();
}

} // namespace torchc::ir
