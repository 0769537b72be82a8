// Reads and writes through indices along one dimension: a thread owns a line of it, so that writes keep their order and no two
// threads meet.
#include "compiler/lower/device/DeviceKernels.h"
#include "dialects/rules/Status.h"

using namespace mlir;
using Pred = arith::CmpIPredicate;

namespace torchc::lower {

/// The fault is a code, then the index; both from some thread that failed.
static void fault(DeviceBuilder &b, Value where, Value index) {
  Value code = b.intConst(b.getI32Type(), int64_t(KernelStatus::IndexOutOfRange));
  LLVM::AtomicRMWOp::create(b, LLVM::AtomicBinOp::umax, where, code, LLVM::AtomicOrdering::monotonic);
  Value second = b.addressAt(where, 1, b.getI64Type());
  LLVM::AtomicRMWOp::create(b, LLVM::AtomicBinOp::xchg, second, index, LLVM::AtomicOrdering::monotonic);
}

bool emitDeviceIndex(DeviceBuilder &b, llvm::StringRef name, DeviceForm form, DType t) {
  llvm::SmallVector<Type, deviceArguments> types;
  b.addWords(types, 2 + deviceRank);
  for (int operand = 0; operand < 3; ++operand) {
    b.addPointers(types, 1);
    b.addWords(types, deviceRank);
  }
  b.addWords(types, 5);
  b.addPointers(types, 1);
  b.beginEntry(name, types);
  Value lines = b.next();
  DeviceBuilder::Space space = b.nextSpace();
  Values memory;
  llvm::SmallVector<Values, 3> strides;
  for (int operand = 0; operand < 3; ++operand) {
    memory.push_back(b.next());
    strides.push_back(b.nextStrides());
  }
  Value count = b.next();
  Values along = {b.next(), b.next(), b.next()};
  Value bound = b.next(), status = b.next(), line = b.globalIndex();
  b.ifThen(b.compare(Pred::slt, line, lines), [&] {
    Values at = b.offsets(space, line, strides);
    auto place = [&](unsigned operand, Value j) { return b.add(at[operand], b.mul(j, along[operand])); };
    b.loop(b.i64(0), count, 1, [&](Value j) {
      Value index = b.load(memory[2], place(2, j), DType::I64, 1);
      Value inside = b.compare(Pred::ult, index, bound);
      b.ifThen(inside, [&] {
        Value target = place(0, form == DeviceForm::Gather ? j : index);
        Value v = b.load(memory[1], place(1, form == DeviceForm::Gather ? index : j), t, 1);
        if (form == DeviceForm::ScatterAdd) {
          Value old = b.load(memory[0], target, t, 1);
          v = isFloat(t)         ? Value(arith::AddFOp::create(b, old, v))
              : t == DType::Bool ? Value(arith::OrIOp::create(b, old, v))
                                 : b.add(old, v);
        }
        b.store(v, memory[0], target, t);
      });
      b.ifThen(b.compare(Pred::uge, index, bound), [&] { fault(b, status, index); });
    });
  });
  b.endKernel();
  return true;
}

} // namespace torchc::lower
