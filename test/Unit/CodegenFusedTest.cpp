// Fused expressions, iteration spaces with broadcasting and strides, reductions with producers: compiled here, loaded by
// the runtime's object loader, compared bit for bit with loops.
#include "compiler/codegen/Emit.h"
#include "compiler/lower/Elementwise.h"
#include "compiler/lower/Reduce.h"
#include "runtime/exec/ObjectLoader.h"
#include "test/Unit/CodegenSupport.h"
#include <functional>
#include <gtest/gtest.h>

using namespace torchc;
using namespace torchc::lower;
using namespace torchc::test;

namespace {

struct Compiled {
  ObjectImage image;
  Kernel kernel = nullptr;
};

/// Compiles one kernel for the running CPU, and for the other targets to see that it can be.
Compiled compile(const std::function<bool(KernelBuilder &, Diag &)> &emit) {
  Compiled out;
  for (codegen::Isa isa : {codegen::Isa::V3, codegen::Isa::V4, codegen::Isa::A64}) {
    Diag diag;
    auto &ctx = codegen::context();
    mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(mlir::UnknownLoc::get(&ctx));
    KernelBuilder b(*module, codegen::targetInfo(isa));
    EXPECT_TRUE(emit(b, diag)) << diag.text;
    codegen::EmitOptions options;
    options.target = &codegen::targetInfo(isa);
    options.verify = true;
    llvm::SmallVector<char, 0> object;
    EXPECT_TRUE(codegen::emit(*module, options, object, diag)) << diag.text;
    if (isa != codegen::hostIsa())
      continue;
    EXPECT_TRUE(out.image.load(object.data(), object.size(), nullptr, nullptr, diag)) << diag.text;
    out.kernel = reinterpret_cast<Kernel>(out.image.symbol("k"));
    EXPECT_TRUE(out.kernel);
  }
  return out;
}

Body bodyOf(const char *op, DType t) { return opBody(*lookupOp(op), t); }

ExprInput strided(DType t, unsigned slot, llvm::ArrayRef<int64_t> strides) {
  ExprInput in;
  in.dtype = t;
  in.access = ExprInput::Strided;
  in.slot = slot;
  in.strides.assign(strides.begin(), strides.end());
  return in;
}

/// (a[i, j] + b[j]) * c[i], and whether it is above 0; sizes known or read at run time.
void checkBroadcast(int64_t rows, int64_t cols, bool dynamic, int64_t innerStride) {
  Rng rng(uint64_t(rows * 131 + cols));
  ElementwiseSpec spec;
  Expr &e = spec.expr;
  int a = e.addInput(strided(DType::F32, 2, {dynamic ? dynamicStride : cols * innerStride, innerStride}));
  int bias = e.addInput(strided(DType::F32, 3, {0, 1})), scale = e.addInput(strided(DType::F32, 4, {1, 0}));
  int sum = e.addOp(bodyOf("add", DType::F32), DType::F32, {a, bias});
  int product = e.addOp(bodyOf("mul", DType::F32), DType::F32, {sum, scale});
  ExprInput zero;
  zero.dtype = DType::F32;
  zero.access = ExprInput::ScalarSlot;
  int above = e.addOp(bodyOf("gt", DType::F32), DType::F32, {product, e.addInput(zero)}, true);
  spec.outputs = {{product, 0, {}}, {above, 1, {}}};
  spec.sizes = {dynamic ? -1 : rows, dynamic ? -1 : cols};
  Compiled c = compile([&](KernelBuilder &b, Diag &d) { return emitElementwise(b, "k", spec, d); });
  ASSERT_TRUE(c.kernel);
  Array x(DType::F32, rows * cols * innerStride), y(DType::F32, cols), z(DType::F32, rows);
  Array out(DType::F32, rows * cols), mask(DType::Bool, rows * cols);
  for (Array *p : {&x, &y, &z})
    fillRandom(*p, rng);
  void *ptrs[] = {out.at(0), mask.at(0), x.at(0), y.at(0), z.at(0), nullptr};
  // Sizes, then strides per pointer: row-major outputs and the first input are read by the dynamic form.
  int64_t sizes[] = {rows, cols, cols, 1, cols, 1, cols * innerStride, innerStride, 0, 1, 1, 0};
  float none = 0;
  c.kernel(ptrs, sizes, &none, 0, rows / 2);
  c.kernel(ptrs, sizes, &none, rows / 2, rows);
  EXPECT_TRUE(out.intact() && mask.intact());
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < cols; ++j) {
      float r = (float(x.get((i * cols + j) * innerStride).f) + float(y.get(j).f)) * float(z.get(i).f);
      ASSERT_TRUE(same(DType::F32, out.at(i * cols + j), &r)) << rows << "x" << cols << " at " << i << "," << j;
      ASSERT_EQ(mask.get(i * cols + j).i, r > 0);
    }
}

} // namespace

TEST(CodegenFused, Broadcast) {
  for (auto [rows, cols] : {std::pair<int64_t, int64_t>{1, 1}, {3, 7}, {2, 64}, {5, 100}})
    for (bool dynamic : {false, true})
      for (int64_t stride : {1, 2})
        checkBroadcast(rows, cols, dynamic, stride);
}

/// A chain in bf16 rounds after each op (N6).
TEST(CodegenFused, ReducedFloatChain) {
  Rng rng(2);
  for (DType t : {DType::F16, DType::BF16}) {
    ElementwiseSpec spec;
    Expr &e = spec.expr;
    ExprInput in;
    in.dtype = t;
    in.slot = 1;
    int x = e.addInput(in);
    in.slot = 2;
    int y = e.addInput(in);
    int sum = e.addCast(e.addOp(bodyOf("add", DType::F32), DType::F32, {x, y}), t);
    int product = e.addCast(e.addOp(bodyOf("mul", DType::F32), DType::F32, {sum, x}), t);
    spec.outputs = {{product, 0, {}}};
    Compiled c = compile([&](KernelBuilder &b, Diag &d) { return emitElementwise(b, "k", spec, d); });
    ASSERT_TRUE(c.kernel);
    for (int64_t n : testSizes) {
      Array p(t, n), q(t, n), out(t, n), expected(t, n), mid(t, 1);
      fillRandom(p, rng);
      fillRandom(q, rng);
      void *ptrs[] = {out.at(0), p.at(0), q.at(0), nullptr};
      c.kernel(ptrs, nullptr, nullptr, 0, n);
      for (int64_t i = 0; i < n; ++i) {
        mid.set(0, {double(float(p.get(i).f) + float(q.get(i).f)), 0});
        expected.set(i, {double(float(mid.get(0).f) * float(p.get(i).f)), 0});
        ASSERT_TRUE(same(t, out.at(i), expected.at(i))) << show(t, out.at(i)) << " " << show(t, expected.at(i));
      }
    }
  }
}

/// The linear index is row-major over the whole space, whatever part of it runs.
TEST(CodegenFused, LinearIndex) {
  static const BodyNode nodes[] = {{BodyOp::Index}, {BodyOp::Arg}, {BodyOp::Add, 0, 1}};
  ElementwiseSpec spec;
  ExprInput in;
  in.dtype = DType::I64;
  in.access = ExprInput::ScalarSlot;
  int node = spec.expr.addOp(Body{nodes, 3}, DType::I64, {spec.expr.addInput(in)});
  spec.outputs = {{node, 0, {}}};
  spec.sizes = {4, 3, 37};
  Compiled c = compile([&](KernelBuilder &b, Diag &d) { return emitElementwise(b, "k", spec, d); });
  ASSERT_TRUE(c.kernel);
  std::vector<int64_t> out(4 * 3 * 37);
  void *ptrs[] = {out.data(), nullptr};
  int64_t start = 1000;
  c.kernel(ptrs, nullptr, &start, 0, 1);
  c.kernel(ptrs, nullptr, &start, 1, 4);
  for (size_t i = 0; i < out.size(); ++i)
    ASSERT_EQ(out[i], int64_t(1000 + i));
}

/// sum of a * b over rows and over columns, the chains of N4 around the product.
TEST(CodegenFused, ReduceOfProduct) {
  Rng rng(4);
  for (bool columns : {false, true}) {
    ReduceSpec spec;
    spec.kind = ReduceKind::Sum;
    spec.columns = columns;
    ExprInput in;
    in.dtype = DType::F32;
    in.slot = 1;
    int a = spec.expr.addInput(in), w = spec.expr.addInput(strided(DType::F32, 2, {0, 1}));
    spec.node = spec.expr.addOp(bodyOf("mul", DType::F32), DType::F32, {a, w});
    spec.out = DType::F32;
    Compiled c = compile([&](KernelBuilder &b, Diag &d) { return emitReduce(b, "k", spec, d); });
    ASSERT_TRUE(c.kernel);
    for (auto [rows, cols] : {std::pair<int64_t, int64_t>{3, 1500}, {70, 13}, {1100, 70}}) {
      Array x(DType::F32, rows * cols), y(DType::F32, cols), out(DType::F32, columns ? cols : rows);
      fillRandom(x, rng, false);
      fillRandom(y, rng, false);
      void *ptrs[] = {out.at(0), x.at(0), y.at(0), nullptr};
      int64_t sizes[] = {columns ? rows : cols, cols};
      c.kernel(ptrs, sizes, nullptr, 0, out.size);
      for (int64_t o = 0; o < out.size; ++o) {
        std::vector<float> level;
        int64_t n = columns ? rows : cols;
        for (int64_t base = 0; base < n; base += 1024) {
          std::vector<float> chain(64, -0.0f);
          for (int64_t i = base; i < std::min(n, base + 1024); ++i) {
            int64_t r = columns ? i : o, q = columns ? o : i;
            chain[size_t((i - base) % 64)] += float(x.get(r * cols + q).f) * float(y.get(q).f);
          }
          for (size_t half = 32; half >= 1; half /= 2)
            for (size_t i = 0; i < half; ++i)
              chain[i] += chain[i + half];
          level.push_back(chain[0]);
        }
        float r = level.size() == 2 ? level[0] + level[1] : level[0];
        ASSERT_TRUE(same(DType::F32, out.at(o), &r)) << rows << "x" << cols << " " << columns << " at " << o;
      }
    }
  }
}

/// A call outside the allow list is refused by name.
TEST(CodegenFused, RefusesUndefinedSymbols) {
  auto &ctx = codegen::context();
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(mlir::UnknownLoc::get(&ctx));
  KernelBuilder b(*module, codegen::targetInfo(codegen::Isa::V3));
  auto type = mlir::LLVM::LLVMFunctionType::get(b.getF32Type(), {b.getF32Type()});
  auto callee = mlir::LLVM::LLVMFuncOp::create(b, "expf", type);
  b.beginKernel("k");
  auto r = mlir::LLVM::CallOp::create(b, callee, mlir::ValueRange{b.floatConst(b.getF32Type(), 1)});
  b.storeRaw(r.getResult(), b.pointer(0), 4);
  b.endKernel();
  Diag diag;
  llvm::SmallVector<char, 0> object;
  EXPECT_FALSE(codegen::emit(*module, codegen::EmitOptions(), object, diag));
  EXPECT_NE(diag.text.find("'expf'"), std::string::npos) << diag.text;
}
