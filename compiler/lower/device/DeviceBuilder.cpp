#include "compiler/lower/device/DeviceBuilder.h"

using namespace mlir;
using Pred = arith::CmpIPredicate;

namespace torchc::lower {

void DeviceBuilder::beginEntry(llvm::StringRef name, llvm::ArrayRef<Type> types) {
  LLVM::LLVMFuncOp f = beginFunction(name, types);
  f.setVisibility_(LLVM::Visibility::Default);
  f.setCConv(LLVM::CConv::PTX_Kernel);
  used = 0;
}

Value DeviceBuilder::special(llvm::StringRef what, char dim) {
  std::string name = "llvm.nvvm.read.ptx.sreg." + what.str() + "." + dim;
  Value v = LLVM::CallIntrinsicOp::create(*this, getI32Type(), getStringAttr(name), ValueRange()).getResult(0);
  return arith::ExtUIOp::create(*this, getI64Type(), v);
}

Value DeviceBuilder::globalIndex() { return add(mul(blockIndex(), special("ntid", 'x')), threadIndex()); }

void DeviceBuilder::barrier() {
  LLVM::CallIntrinsicOp::create(*this, getStringAttr("llvm.nvvm.barrier.cta.sync.aligned.all"),
                                ValueRange{intConst(getI32Type(), 0)});
}

Value DeviceBuilder::sharedArray(llvm::StringRef name, Type element, int64_t count) {
  constexpr unsigned shared = 3; // NVPTX's address space
  auto type = LLVM::LLVMArrayType::get(element, uint64_t(count));
  LLVM::GlobalOp global;
  {
    OpBuilder::InsertionGuard guard(*this);
    setInsertionPointToStart(module().getBody());
    // Aligned for the widest access: without, the backend may use wider ones than the text declares.
    global = LLVM::GlobalOp::create(*this, type, /*isConstant=*/false, LLVM::Linkage::Internal, name, Attribute(),
                                    /*alignment=*/16, shared);
    OpBuilder::InsertionGuard inner(*this);
    Block *block = createBlock(&global.getInitializerRegion());
    setInsertionPointToStart(block);
    LLVM::ReturnOp::create(*this, ValueRange{LLVM::UndefOp::create(*this, type)});
  }
  return LLVM::AddressOfOp::create(*this, LLVM::LLVMPointerType::get(getContext(), shared), name);
}

Value DeviceBuilder::sharedAddress(Value array, Value index, Type element) {
  return LLVM::GEPOp::create(*this, array.getType(), element, array, ValueRange{index});
}

DeviceBuilder::Space DeviceBuilder::nextSpace() {
  Space s;
  s.rank = next();
  s.sizes = nextStrides();
  return s;
}

Values DeviceBuilder::nextStrides() {
  Values v;
  for (int d = 0; d < deviceRank; ++d)
    v.push_back(next());
  return v;
}

/// Divides by sizes only as far as there are dimensions: a dense operand costs one comparison.
Values DeviceBuilder::offsetsFrom(const Space &space, unsigned dim, Value rest, Values sums,
                                  llvm::ArrayRef<Values> strides) {
  auto step = [&](Value at) {
    Values next;
    for (size_t k = 0; k < sums.size(); ++k)
      next.push_back(add(sums[k], mul(at, strides[k][dim])));
    return next;
  };
  if (dim + 1 == unsigned(deviceRank))
    return step(rest);
  return ifElse(
      compare(Pred::sgt, space.rank, i64(dim + 1)), ValueRange(sums).getTypes(),
      [&] {
        Value quotient = arith::DivUIOp::create(*this, rest, space.sizes[dim]);
        Value at = sub(rest, mul(quotient, space.sizes[dim]));
        return offsetsFrom(space, dim + 1, quotient, step(at), strides);
      },
      [&] { return step(rest); });
}

Values DeviceBuilder::offsets(const Space &space, Value i, llvm::ArrayRef<Values> strides) {
  return offsetsFrom(space, 0, i, Values(strides.size(), i64(0)), strides);
}

} // namespace torchc::lower
