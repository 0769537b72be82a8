#include "compiler/lower/BodyEmitter.h"
#include "compiler/lower/Convert.h"
#include "compiler/lower/device/DeviceKernels.h"
#include "dialects/rules/Status.h"

using namespace mlir;
using Pred = arith::CmpIPredicate;

namespace torchc::lower {

namespace {

struct Input {
  DType memory, compute; // a number comes in `compute`, as are the values
};

/// One element of each input by one thread, `body` of them, one element of `out`.
bool emitPointwise(DeviceBuilder &b, llvm::StringRef name, llvm::ArrayRef<Input> inputs, DType out,
                   llvm::function_ref<Value(llvm::ArrayRef<Values>, Value status)> body) {
  llvm::SmallVector<Type, deviceArguments> types;
  b.addWords(types, 3 + deviceRank); // n, mask, space
  for (unsigned i = 0; i <= inputs.size(); ++i) {
    b.addPointers(types, 1);
    b.addWords(types, deviceRank);
  }
  b.addWords(types, unsigned(inputs.size()));
  b.addPointers(types, 1);
  b.beginEntry(name, types);
  Value n = b.next(), mask = b.next();
  DeviceBuilder::Space space = b.nextSpace();
  Values pointers, numbers;
  llvm::SmallVector<Values, 4> strides;
  for (unsigned i = 0; i <= inputs.size(); ++i) {
    pointers.push_back(b.next());
    strides.push_back(b.nextStrides());
  }
  for (unsigned i = 0; i < inputs.size(); ++i)
    numbers.push_back(b.next());
  Value status = b.next(), i = b.globalIndex();
  bool ok = true;
  b.ifThen(b.compare(Pred::slt, i, n), [&] {
    Values at = b.offsets(space, i, strides);
    llvm::SmallVector<Values, 4> args;
    for (unsigned k = 0; k < inputs.size(); ++k) {
      Type type = b.elementType(inputs[k].compute);
      Value bit = arith::AndIOp::create(b, mask, b.i64(int64_t(1) << k));
      args.push_back(b.ifElse(
          b.compare(Pred::ne, bit, b.i64(0)), type,
          [&] {
            unsigned bits = type.getIntOrFloatBitWidth();
            Value v = numbers[k];
            if (bits < 64)
              v = arith::TruncIOp::create(b, b.getIntegerType(bits), v);
            return Values{isa<FloatType>(type) ? Value(arith::BitcastOp::create(b, type, v)) : v};
          },
          [&] {
            Value v = b.load(pointers[k + 1], at[k + 1], inputs[k].memory, 1);
            return Values{convert(b, v, inputs[k].memory, inputs[k].compute)};
          }));
    }
    Value result = body(args, status);
    ok = bool(result);
    if (ok)
      b.store(result, pointers[0], at[0], out);
  });
  b.endKernel();
  return ok;
}

/// Threads that fail store the same code; atomically, because they may be many.
void trap(DeviceBuilder &b, ValueRange failed, Value status) {
  Value any;
  for (Value f : failed)
    any = any ? Value(arith::OrIOp::create(b, any, f)) : f;
  if (!any)
    return;
  b.ifThen(any, [&] {
    Value code = b.intConst(b.getI32Type(), int64_t(KernelStatus::DivisionByZero));
    LLVM::AtomicRMWOp::create(b, LLVM::AtomicBinOp::umax, status, code, LLVM::AtomicOrdering::monotonic);
  });
}

} // namespace

bool emitDeviceElementwise(DeviceBuilder &b, llvm::StringRef name, const OpInfo &info, DType t, Diag &diag) {
  DType compute = computeType(t);
  llvm::SmallVector<Input, 4> inputs;
  for (unsigned i = 0; i < info.numOperands; ++i) {
    bool isCondition = info.promote == Promote::Branch && i == 0;
    inputs.push_back(isCondition ? Input{DType::Bool, DType::Bool} : Input{t, compute});
  }
  bool predicate = info.promote == Promote::Compare || info.promote == Promote::Truth;
  return emitPointwise(
      b, name, inputs, predicate ? DType::Bool : t, [&](llvm::ArrayRef<Values> args, Value status) -> Value {
        Values traps;
        Values r = emitBody(b, info.bodies[int(bodyClass(compute))], compute, args, {}, 1, 1, diag, &traps);
        if (r.empty())
          return {};
        trap(b, traps, status);
        return predicate ? r[0] : convert(b, r[0], compute, t);
      });
}

bool emitDeviceCast(DeviceBuilder &b, llvm::StringRef name, DType from, DType to) {
  return emitPointwise(b, name, Input{from, from}, to,
                       [&](llvm::ArrayRef<Values> args, Value) { return convert(b, args[0][0], from, to); });
}

bool emitDeviceArange(DeviceBuilder &b, llvm::StringRef name, DType t) {
  Type word = b.getI64Type(), type = b.elementType(t);
  b.beginEntry(name, {b.ptrType(), word, word, word});
  Value out = b.next(), n = b.next(), start = b.next(), step = b.next(), i = b.globalIndex();
  b.ifThen(b.compare(Pred::slt, i, n), [&] {
    Value v;
    if (isFloat(t)) {
      Value times = arith::MulFOp::create(b, Value(arith::SIToFPOp::create(b, type, i)),
                                          Value(arith::BitcastOp::create(b, type, step)));
      v = arith::AddFOp::create(b, Value(arith::BitcastOp::create(b, type, start)), times);
    } else {
      v = b.add(start, b.mul(i, step));
    }
    b.store(v, out, i, t);
  });
  b.endKernel();
  return true;
}

} // namespace torchc::lower
