#include "compiler/schedule/Entry.h"

using namespace mlir;

namespace torchc::schedule {
namespace {

class EntryEmitter {
public:
  EntryEmitter(lower::KernelBuilder &b, const Plan &plan) : b(b), plan(plan) {}

  void emit(StringRef name) {
    declareExternals();
    b.beginKernel(name, /*isEntry=*/true);
    size_t pointers = 1, sizes = 1, scalars = 1;
    for (const Step &s : plan.steps) {
      pointers = std::max(pointers, s.writes.size() + s.reads.size() + 2);
      sizes = std::max(sizes, s.sizes.size());
      scalars = std::max(scalars, s.scalars.size());
    }
    pointerSlots = b.stackSlots(b.ptrType(), int64_t(pointers), 8);
    auto numSymbols = int64_t(plan.symbols.size());
    Value slots = b.stackSlots(b.getI64Type(), int64_t(sizes) + numSymbols, 8);
    sizeSlots = b.addressAt(slots, numSymbols, b.getI64Type());
    scalarSlots = b.stackSlots(b.getI64Type(), int64_t(scalars), 8);
    if (numSymbols) {
      for (int64_t s = 0; s < numSymbols; s++)
        b.storeRaw(b.sizeAt(unsigned(s)), b.addressAt(slots, s, b.getI64Type()), 8);
      Value bytes = placeSlots();
      Value run = b.compare(arith::CmpIPredicate::ne, b.end(), b.i64(0));
      b.ifThen(b.compare(arith::CmpIPredicate::eq, b.end(), b.i64(0)), [&] { b.storeRaw(bytes, b.pointer(0), 8); });
      goOnIf(run);
    }
    status = b.pointer(plan.numResults + plan.numArguments);
    arena = b.pointer(plan.numResults + plan.numArguments + 1);
    for (size_t s = 0; s < plan.steps.size(); s++) {
      call(plan.steps[s]);
      if (plan.steps[s].mayTrap && s + 1 < plan.steps.size())
        goOnWhereFine();
    }
    if (!end)
      return b.endKernel();
    LLVM::BrOp::create(b, ValueRange(), end);
    region->push_back(end);
    b.setInsertionPointToEnd(end);
    b.endKernel();
  }

private:
  void declareExternals() {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(b.module().getBody());
    Type p = b.ptrType(), i = b.getI64Type();
    auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()), {p, p, p, i, i});
    for (const Step &s : plan.steps)
      if (s.external && !b.module().lookupSymbol(s.callee))
        LLVM::LLVMFuncOp::create(b, s.callee, type);
  }

  /// On with what follows where `fine`, else to the end. Blocks, since regions would nest without bound.
  void goOnIf(Value fine) {
    region = b.getInsertionBlock()->getParent();
    if (!end)
      end = new Block;
    Block *next = new Block;
    region->push_back(next);
    LLVM::CondBrOp::create(b, fine, next, end);
    b.setInsertionPointToEnd(next);
  }

  /// Behind a step that may trap.
  void goOnWhereFine() {
    Value code = b.loadRaw(status, b.getI32Type(), 4);
    goOnIf(b.compare(arith::CmpIPredicate::eq, code, b.intConst(b.getI32Type(), 0)));
  }

  /// Where each slot begins in the arena; returns where they end. Slots too large for any memory count as that, so that the
  /// sum doesn't wrap.
  Value placeSlots() {
    constexpr int64_t mostBytes = int64_t(1) << 48;
    Value at = b.i64(0);
    for (const std::vector<unsigned> &slot : plan.slots) {
      Value most;
      for (unsigned buffer : slot) {
        slotOffsets[buffer] = at;
        const Buffer &own = plan.buffers[buffer];
        int64_t item = itemSize(own.dtype);
        Value bytes = b.mul(b.minimum(b.dim(own.elements), b.i64(mostBytes / item)), b.i64(item));
        most = most ? Value(arith::MaxSIOp::create(b, most, bytes)) : bytes;
      }
      at = b.add(at, b.roundDown(b.add(most, b.i64(63)), 64));
    }
    return at;
  }

  Value movingAddress(const Pointer &p) {
    const Buffer &buffer = plan.buffers[p.buffer];
    Value bytes = b.mul(b.dim(p.offset), b.i64(itemSize(buffer.dtype))), base = arena;
    if (buffer.place == Buffer::Arena)
      bytes = b.add(bytes, slotOffsets.lookup(p.buffer));
    else
      base = b.pointer(buffer.place == Buffer::Result ? buffer.index : plan.numResults + buffer.index);
    return b.address(base, bytes, b.getI8Type());
  }

  Value address(const Pointer &p) {
    if (!plan.symbols.empty())
      return movingAddress(p);
    const Buffer &buffer = plan.buffers[p.buffer];
    Value base = arena;
    int64_t bytes = p.offset * itemSize(buffer.dtype);
    if (buffer.place == Buffer::Arena)
      bytes += buffer.offset;
    else
      base = b.pointer(buffer.place == Buffer::Result ? buffer.index : plan.numResults + buffer.index);
    return bytes ? b.addressAt(base, bytes, b.getI8Type()) : base;
  }

  /// An entry of a nested plan on pointers in its order: results, arguments, status, arena.
  void enter(const Step &s, unsigned which, llvm::ArrayRef<Value> pointers) {
    int64_t slot = 0;
    for (Value v : pointers)
      b.storeRaw(v, b.addressAt(pointerSlots, slot++, b.ptrType()), 8);
    LLVM::CallOp::create(b, TypeRange(), s.callee + "_" + std::to_string(which),
                         ValueRange{pointerSlots, sizeSlots, scalarSlots, b.i64(0), b.i64(1)});
  }

  Value is(Value predicate, bool wanted) {
    return b.compare(wanted ? arith::CmpIPredicate::ne : arith::CmpIPredicate::eq,
                     b.loadRaw(predicate, b.getI8Type(), 1), b.intConst(b.getI8Type(), 0));
  }

  void branch(const Step &s, Value scratch) {
    llvm::SmallVector<Value> pointers;
    for (const Pointer &p : s.writes)
      pointers.push_back(address(p));
    for (size_t i = 1; i < s.reads.size(); i++)
      pointers.push_back(address(s.reads[i]));
    pointers.append({status, scratch});
    Value predicate = address(s.reads[0]), yes = is(predicate, true), no = is(predicate, false);
    b.ifThen(yes, [&] { enter(s, 0, pointers); });
    b.ifThen(no, [&] { enter(s, 1, pointers); });
  }

  void repeat(const Step &s, Value scratch) {
    llvm::SmallVector<Value> pointers;
    for (size_t i = 1; i < s.writes.size(); i++)
      pointers.push_back(address(s.writes[i]));
    for (const Pointer &p : s.reads)
      pointers.push_back(address(p));
    pointers.append({status, scratch});
    llvm::SmallVector<Value> question = {address(s.writes[0])};
    question.append(pointers.begin(), pointers.end());
    b.whileLoop(
        ValueRange(),
        [&](ValueRange) {
          enter(s, 0, question);
          Value fine =
              b.compare(arith::CmpIPredicate::eq, b.loadRaw(status, b.getI32Type(), 4), b.intConst(b.getI32Type(), 0));
          return Value(arith::AndIOp::create(b, fine, is(question[0], true)));
        },
        [&](ValueRange) {
          enter(s, 1, pointers);
          return lower::Values();
        });
  }

  void call(const Step &s) {
    if (s.control != Control::None) {
      Value scratch = s.scratch < 0 ? arena : address({unsigned(s.scratch), 0});
      return s.control == Control::Cond ? branch(s, scratch) : repeat(s, scratch);
    }
    if (s.elements < 0 || !plan.symbols.moves(s.elements))
      return callAlways(s);
    Value some = b.compare(arith::CmpIPredicate::ne, b.dim(s.elements), b.i64(0));
    b.ifThen(some, [&] { callAlways(s); });
  }

  void callAlways(const Step &s) {
    int64_t slot = 0;
    auto put = [&](Value v) { b.storeRaw(v, b.addressAt(pointerSlots, slot++, b.ptrType()), 8); };
    for (const Pointer &p : s.writes)
      put(address(p));
    for (const Pointer &p : s.reads)
      put(address(p));
    put(status);
    for (size_t i = 0; i < s.sizes.size(); i++)
      b.storeRaw(b.dim(s.sizes[i]), b.addressAt(sizeSlots, int64_t(i), b.getI64Type()), 8);
    for (size_t i = 0; i < s.scalars.size(); i++)
      b.storeRaw(b.i64(int64_t(s.scalars[i])), b.addressAt(scalarSlots, int64_t(i), b.getI64Type()), 8);
    Value scalars = s.scalarBuffer >= 0 ? address({unsigned(s.scalarBuffer), 0}) : scalarSlots;
    LLVM::CallOp::create(b, TypeRange(), s.callee,
                         ValueRange{pointerSlots, sizeSlots, scalars, b.dim(s.begin), b.dim(s.end)});
  }

  lower::KernelBuilder &b;
  const Plan &plan;
  Value pointerSlots, sizeSlots, scalarSlots, status, arena;
  llvm::DenseMap<unsigned, Value> slotOffsets;
  Region *region = nullptr;
  Block *end = nullptr; // where a trap leads, and who asks for the arena's size; once there is one
};

} // namespace

void emitEntry(lower::KernelBuilder &b, StringRef name, const Plan &plan) {
  for (const Step &s : plan.steps)
    for (unsigned k = 0; k < 2 && s.control != Control::None; k++)
      emitEntry(b, s.callee + "_" + std::to_string(k), plan.nested[s.nested + k]);
  EntryEmitter(b, plan).emit(name);
}

} // namespace torchc::schedule
