#include "compiler/lower/Indexing.h"
#include "compiler/lower/BodyEmitter.h"
#include "dialects/rules/OpInfo.h"
#include "dialects/rules/Status.h"

using namespace mlir;

namespace torchc::lower {
namespace {

class IndexLoopEmitter {
public:
  IndexLoopEmitter(KernelBuilder &b, const IndexLoop &loop, Diag &diag) : b(b), loop(loop), diag(diag) {}

  bool emit() {
    out = b.pointer(0);
    in = b.pointer(1);
    index = b.pointer(2);
    Value bad = checkAll();
    Value good = b.compare(arith::CmpIPredicate::eq, bad, b.i64(0));
    b.ifThen(b.compare(arith::CmpIPredicate::ne, bad, b.i64(0)), [&] { storeStatus(); });
    b.ifThen(good, [&] {
      Offsets zero{b.i64(0), b.i64(0), b.i64(0)};
      nest(0, zero, [&](const Offsets &at) { element(at); });
    });
    return diag.ok();
  }

private:
  /// Element offsets into out, in and index while the looked-up coordinate is still missing from one of them.
  struct Offsets {
    Value out, in, index;
  };
  template <class F> void nest(int d, const Offsets &at, F body) {
    if (d == loop.sizes.size())
      return body(at);
    b.loop(b.i64(0), b.dim(loop.sizes[d]), 1, [&](Value i) {
      bool looked = d == loop.dim;
      auto step = [&](Value base, int64_t stride, bool skip) {
        return skip || stride == 0 ? base : b.add(base, b.mul(i, b.dim(stride)));
      };
      nest(d + 1,
           Offsets{step(at.out, loop.outStrides[d], looked && loop.mode != IndexMode::Read),
                   step(at.in, loop.inStrides[d], looked && loop.mode == IndexMode::Read),
                   step(at.index, loop.indexStrides[d], false)},
           body);
    });
  }
  Value lookUp(Value at) {
    Value i = b.load(index, at, loop.indexType, 1);
    return loop.indexType == DType::I64 ? i : arith::ExtSIOp::create(b, b.getI64Type(), i);
  }
  /// Non-zero when some index lies outside; dimensions along which the index doesn't move are skipped.
  Value checkAll() {
    Value bad = b.stackSlots(b.getI64Type(), 1, 8);
    b.storeRaw(b.i64(0), bad, 8);
    if (loop.sizes.numel() != 0)
      checkNest(0, b.i64(0), bad);
    return b.loadRaw(bad, b.getI64Type(), 8);
  }
  void checkNest(int d, Value at, Value bad) {
    if (d == loop.sizes.size()) {
      Value outside = b.compare(arith::CmpIPredicate::uge, lookUp(at), b.dim(loop.bound));
      b.ifThen(outside, [&] { b.storeRaw(b.i64(1), bad, 8); });
      return;
    }
    if (loop.indexStrides[d] == 0)
      return checkNest(d + 1, at, bad);
    b.loop(b.i64(0), b.dim(loop.sizes[d]), 1,
           [&](Value i) { checkNest(d + 1, b.add(at, b.mul(i, b.dim(loop.indexStrides[d]))), bad); });
  }
  void storeStatus() {
    Value status = b.pointer(3);
    b.storeRaw(b.intConst(b.getI32Type(), int64_t(KernelStatus::IndexOutOfRange)), status, 4);
  }
  void element(Offsets at) {
    Value i = lookUp(at.index);
    if (loop.mode == IndexMode::Read)
      at.in = b.add(at.in, b.mul(i, b.dim(loop.inStrides[loop.dim])));
    else
      at.out = b.add(at.out, b.mul(i, b.dim(loop.outStrides[loop.dim])));
    Value v = b.load(in, at.in, loop.dtype, 1);
    if (loop.mode == IndexMode::Accumulate) {
      Values x{b.load(out, at.out, loop.dtype, 1)}, y{v};
      Values sum = emitBody(b, opBody(OpId::Add, loop.dtype), loop.dtype, {x, y}, {}, 1, 1, diag);
      if (sum.empty())
        return;
      v = sum[0];
    }
    b.store(v, out, at.out, loop.dtype);
  }

  KernelBuilder &b;
  const IndexLoop &loop;
  Diag &diag;
  Value out, in, index;
};

} // namespace

bool emitIndexLoop(KernelBuilder &b, llvm::StringRef name, const IndexLoop &loop, Diag &diag) {
  if (loop.mode == IndexMode::Accumulate && isReducedFloat(loop.dtype))
    return diag.fail(ErrorKind::Internal, "accumulation through an index in " + std::string(torchName(loop.dtype)));
  b.beginKernel(name);
  bool ok = IndexLoopEmitter(b, loop, diag).emit();
  b.endKernel();
  return ok;
}

} // namespace torchc::lower
