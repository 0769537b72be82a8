// Helpers to write kernels with the ABI of rule E5: values are scalars (lanes == 1) or vectors of a fixed number of lanes.
#pragma once
#include "compiler/codegen/Target.h"
#include "dialects/rules/DType.h"
#include "dialects/rules/Symbols.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace torchc::lower {

using mlir::Type;
using mlir::Value;
using mlir::ValueRange;
using Values = llvm::SmallVector<Value, 4>;

/// Memory of kernels is only aligned to the element.
class KernelBuilder : public mlir::ImplicitLocOpBuilder {
public:
  KernelBuilder(mlir::ModuleOp module, const codegen::TargetInfo &target);

  const codegen::TargetInfo &target() const { return targetInfo; }
  mlir::ModuleOp module() const { return theModule; }

  // --- functions
  /// Starts `void name(ptrs, sizesStrides, scalars, begin, end)`; the builder stands in its body. Kernels find the symbols'
  /// sizes in front of sizesStrides, an entry has them there.
  mlir::LLVM::LLVMFuncOp beginKernel(llvm::StringRef name, bool isEntry = false);
  /// Starts a function of any signature.
  mlir::LLVM::LLVMFuncOp beginFunction(llvm::StringRef name, llvm::ArrayRef<Type> args);
  /// Ends the body with `return` and leaves the builder at the end of the module.
  void endKernel();
  Value arg(unsigned i);
  Value ptrs() { return arg(0); }
  Value sizes() { return arg(1); }
  Value scalars() { return arg(2); }
  Value begin() { return arg(3); }
  Value end() { return arg(4); }
  /// ptrs[i], loaded here.
  Value pointer(unsigned i);
  /// sizesStrides[i], loaded here.
  Value sizeAt(unsigned i);

  // --- types
  Type ptrType() { return mlir::LLVM::LLVMPointerType::get(getContext()); }
  /// The type of a value in registers: Bool is i1, f16 and bf16 are their bits in i16.
  Type elementType(DType t);
  /// The type in memory: Bool is i8.
  Type memoryType(DType t);
  /// `element`, or a vector of it.
  Type wide(Type element, unsigned lanes);
  Type wide(DType t, unsigned lanes) { return wide(elementType(t), lanes); }
  static unsigned lanesOf(Value v);
  static Type scalarOf(Type t);

  // --- constants, of scalar or vector type
  Value intConst(Type type, int64_t v);
  Value floatConst(Type type, double v);
  /// `bits` is the pattern of one element.
  Value bitsConst(Type type, uint64_t bits);
  Value i64(int64_t v) { return intConst(getI64Type(), v); }
  /// A size, stride or offset of a graph with symbols: computed from them where the function starts. Without symbols a
  /// constant.
  Value dim(int64_t v);
  /// Whether such a size is a multiple of `of` whatever the symbols' sizes are: `%` would ask it of their point.
  bool isMultiple(int64_t size, int64_t of) const;
  /// Some dim() was no polynomial of the symbols: the module is of no use.
  bool unreadable = false;
  Symbols symbols;
  Value splat(Value scalar, unsigned lanes);
  /// 0, 1, 2 ... of i64 or another integer type.
  Value step(Type element, unsigned lanes);

  // --- memory; `index` counts elements of `element`
  Value address(Value base, Value index, Type element);
  Value addressAt(Value base, int64_t index, Type element);
  Value loadRaw(Value address, Type type, unsigned align);
  void storeRaw(Value value, Value address, unsigned align);
  /// A value in register form; with `mask` (vectors only) lanes outside get zero and aren't touched.
  Value load(Value base, Value index, DType t, unsigned lanes, Value mask = {});
  void store(Value value, Value base, Value index, DType t, Value mask = {});
  /// All bits zero.
  Value zero(Type type);
  /// In the entry block, so that loops don't grow the stack.
  Value stackSlots(Type element, int64_t count, unsigned align);

  // --- integer arithmetic on i64 scalars
  Value add(Value a, Value b) { return mlir::arith::AddIOp::create(*this, a, b); }
  Value sub(Value a, Value b) { return mlir::arith::SubIOp::create(*this, a, b); }
  Value mul(Value a, Value b) { return mlir::arith::MulIOp::create(*this, a, b); }
  Value compare(mlir::arith::CmpIPredicate p, Value a, Value b) { return mlir::arith::CmpIOp::create(*this, p, a, b); }
  Value select(Value c, Value a, Value b) { return mlir::arith::SelectOp::create(*this, c, a, b); }
  /// x rounded down to a multiple of `m`, a power of two; x >= 0.
  Value roundDown(Value x, int64_t m);
  Value minimum(Value a, Value b) { return mlir::arith::MinSIOp::create(*this, a, b); }

  // --- control flow
  using LoopBody = llvm::function_ref<Values(Value iv, ValueRange carried)>;
  using PlainBody = llvm::function_ref<void(Value iv)>;
  /// for (iv = from; iv < to; iv += step) carrying values; returns their last state.
  Values loop(Value from, Value to, int64_t step, ValueRange init, LoopBody body);
  void loop(Value from, Value to, int64_t step, PlainBody body);
  /// while (condition(carried)) carried = body(carried).
  Values whileLoop(ValueRange init, llvm::function_ref<Value(ValueRange)> condition,
                   llvm::function_ref<Values(ValueRange)> body);
  void ifThen(Value condition, llvm::function_ref<void()> then);
  Values ifElse(Value condition, mlir::TypeRange types, llvm::function_ref<Values()> then,
                llvm::function_ref<Values()> otherwise);

private:
  mlir::ModuleOp theModule;
  const codegen::TargetInfo &targetInfo;
  mlir::LLVM::LLVMFuncOp function;
  llvm::DenseMap<int64_t, Value> dims; // of this function
  int64_t firstSymbol = 0; // its index in sizesStrides
};

} // namespace torchc::lower
