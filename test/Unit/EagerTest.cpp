// Eager ops: broadcasting, promotion, views, writes, errors.
#include "EagerUtil.h"

using namespace torchc;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(Eager, BlockLayout) {
  Tensor a = vec({1, 2});
  EXPECT_EQ(uintptr_t(a.impl()) % 64, 0u);
  EXPECT_EQ(a.dataAs<float>()[1], 2);
  EXPECT_EQ(a.stride(-1), 1);
  ErrorKind kind;
  EXPECT_THAT(errorOf([&] { a.size(1); }, &kind), HasSubstr("Dimension out of range"));
  EXPECT_EQ(kind, ErrorKind::Index);
}

TEST(Eager, ManyDims) {
  Tensor a = ones({1, 2, 1, 2, 1, 2, 1});
  EXPECT_EQ(a.dim(), 7);
  Tensor b = add(a, a);
  EXPECT_EQ(shape(b), shape(a));
  EXPECT_EQ(values(sum(b))[0], 16);
  EXPECT_EQ(shape(transpose(a, 1, 6)), (std::vector<int64_t>{1, 1, 1, 2, 1, 2, 2}));
}

TEST(Eager, Broadcast) {
  Tensor a = make({1, 2, 3, 4, 5, 6}, {2, 3}), b = vec({10, 20, 30}), c = make({100, 200}, {2, 1});
  EXPECT_THAT(values(add(a, b)), ElementsAre(11, 22, 33, 14, 25, 36));
  EXPECT_THAT(values(mul(c, b)), ElementsAre(1000, 2000, 3000, 2000, 4000, 6000));
  EXPECT_THAT(values(sub(a, full({}, 1.0))), ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(errorOf([&] { add(a, vec({1, 2})); }),
              HasSubstr("The size of tensor a (3) must match the size of tensor b (2)"));
  EXPECT_EQ(shape(add(ones({0, 3}), b)), (std::vector<int64_t>{0, 3}));
}

TEST(Eager, Promotion) {
  Tensor i = arange(3), f = vec({1, 2, 3});
  EXPECT_EQ(add(i, f).dtype(), DType::F32);
  EXPECT_EQ(add(i, 1).dtype(), DType::I64);
  EXPECT_EQ(add(i, 1.5).dtype(), DType::F32);
  EXPECT_THAT(values(add(i, 1.5)), ElementsAre(1.5, 2.5, 3.5));
  EXPECT_EQ(div(i, 2).dtype(), DType::F32);
  EXPECT_EQ(lt(f, 2).dtype(), DType::Bool);
  EXPECT_THAT(values(lt(f, 2)), ElementsAre(1, 0, 0));
  EXPECT_EQ(add(f, full({}, 1.0, DType::F64)).dtype(), DType::F32);
  Tensor h = composite::toF16(f);
  EXPECT_EQ(mul(h, 0.1).dtype(), DType::F16);
  EXPECT_EQ(sum(h).dtype(), DType::F16);
  EXPECT_EQ(sum(lt(f, 3)).dtype(), DType::I64);
  EXPECT_THAT(values(rsub(f, 10)), ElementsAre(9, 8, 7));
  EXPECT_THAT(values(add(f, f, 2)), ElementsAre(3, 6, 9));
}

TEST(Eager, Views) {
  Tensor a = reshape(arange(6, {}, 1, DType::F32), {2, 3});
  Tensor t = transpose(a, 0, 1);
  EXPECT_FALSE(t.isContiguous());
  EXPECT_THAT(values(t), ElementsAre(0, 3, 1, 4, 2, 5));
  EXPECT_THAT(values(add(t, t)), ElementsAre(0, 6, 2, 8, 4, 10));
  EXPECT_THAT(errorOf([&] { view(t, {6}); }), HasSubstr("view size is not compatible"));
  EXPECT_THAT(values(reshape(t, {6})), ElementsAre(0, 3, 1, 4, 2, 5));
  EXPECT_THAT(values(select(a, 1, -1)), ElementsAre(2, 5));
  EXPECT_THAT(values(narrow(a, 1, 1, 2)), ElementsAre(1, 2, 4, 5));
  EXPECT_EQ(shape(unsqueeze(a, -1)), (std::vector<int64_t>{2, 3, 1}));
  EXPECT_EQ(shape(permute(ones({2, 3, 4}), {2, 0, 1})), (std::vector<int64_t>{4, 2, 3}));
  EXPECT_EQ(shape(flatten(ones({2, 3, 4}), 1)), (std::vector<int64_t>{2, 12}));
  EXPECT_EQ(split(a, 2, 1).size(), 2u);
  EXPECT_THAT(values(stack({vec({1}), vec({2})})), ElementsAre(1, 2));
  EXPECT_THAT(values(cat({a, ones({2, 1})}, 1)), ElementsAre(0, 1, 2, 1, 3, 4, 5, 1));
  mul_(select(a, 0, 0), 10);
  EXPECT_THAT(values(a), ElementsAre(0, 10, 20, 3, 4, 5));
}

TEST(Eager, InplaceAndVersions) {
  Tensor a = vec({1, 2}), v = view(a, {2, 1});
  EXPECT_EQ(a->version(), 0u);
  add_(a, 1);
  EXPECT_EQ(v->version(), 1u);
  EXPECT_EQ(add_(a, a).impl(), a.impl());
  EXPECT_THAT(values(a), ElementsAre(4, 6));
  zero_(v);
  EXPECT_THAT(values(a), ElementsAre(0, 0));
  EXPECT_EQ(a->version(), 3u);
  EXPECT_THAT(errorOf([&] { add_(vec({1}), a); }), HasSubstr("doesn't match the broadcast shape"));
  EXPECT_THAT(errorOf([&] { add_(arange(2), 1.5); }), HasSubstr("can't be cast to the desired output type"));
  EXPECT_THAT(errorOf([&] { add_(expand(vec({1}), {3}), 1); }), HasSubstr("single memory location"));
  Tensor l = arange(4, {}, 1, DType::F32);
  EXPECT_THAT(errorOf([&] { add_(narrow(l, 0, 1, 3), narrow(l, 0, 0, 3)); }), HasSubstr("single memory location"));
  Tensor m = make({1, 2, 3, 4}, {2, 2});
  EXPECT_THAT(errorOf([&] { add_(m, transpose(m, 0, 1)); }), HasSubstr("single memory location"));
  Tensor out = empty({0});
  add_out(out, a, 1);
  EXPECT_THAT(values(out), ElementsAre(1, 1));
}

TEST(Eager, Reductions) {
  Tensor a = reshape(arange(24, {}, 1, DType::F32), {2, 3, 4});
  EXPECT_EQ(values(sum(a))[0], 276);
  EXPECT_THAT(values(sum(a, IntList({0, 1}))), ElementsAre(60, 66, 72, 78));
  EXPECT_THAT(values(sum(a, IntList({2}), true)), ElementsAre(6, 22, 38, 54, 70, 86));
  EXPECT_THAT(values(sum(a, IntList({0, 2}))), ElementsAre(60, 92, 124));
  EXPECT_THAT(values(sum(transpose(a, 0, 2), IntList({0}))), ElementsAre(6, 54, 22, 70, 38, 86));
  EXPECT_EQ(values(mean(a))[0], 11.5);
  EXPECT_THAT(values(amax(a, {1, 2})), ElementsAre(11, 23));
  auto [v, i] = max(a, 2);
  EXPECT_THAT(values(v), ElementsAre(3, 7, 11, 15, 19, 23));
  EXPECT_THAT(values(i), ElementsAre(3, 3, 3, 3, 3, 3));
  EXPECT_EQ(values(argmax(a))[0], 23);
  EXPECT_EQ(values(sum(ones({0})))[0], 0);
  EXPECT_THAT(errorOf([] { mean(arange(3)); }), HasSubstr("Got: int64"));
  EXPECT_THAT(errorOf([] { amax(ones({0, 2}), {0}); }), HasSubstr("non-zero size"));
  Tensor wide = reshape(arange(4096, {}, 1, DType::F32), {16, 256});
  EXPECT_EQ(values(sum(wide, IntList({0}))), values(sum(contiguous(transpose(wide, 0, 1)), IntList({1}))));
}

TEST(Eager, Matmul) {
  Tensor a = make({1, 2, 3, 4, 5, 6}, {2, 3}), b = make({1, 0, 0, 1, 1, 1}, {3, 2});
  EXPECT_THAT(values(matmul(a, b)), ElementsAre(4, 5, 10, 11));
  EXPECT_THAT(values(matmul(t(b), t(a))), ElementsAre(4, 10, 5, 11));
  EXPECT_THAT(values(matmul(vec({1, 1}), a)), ElementsAre(5, 7, 9));
  EXPECT_THAT(values(matmul(a, vec({1, 1, 1}))), ElementsAre(6, 15));
  EXPECT_EQ(values(matmul(vec({1, 2}), vec({3, 4})))[0], 11);
  EXPECT_EQ(shape(matmul(ones({5, 1, 2, 3}), ones({4, 3, 2}))), (std::vector<int64_t>{5, 4, 2, 2}));
  EXPECT_EQ(shape(matmul(ones({5, 2, 3}), b)), (std::vector<int64_t>{5, 2, 2}));
  EXPECT_THAT(errorOf([&] { mm(a, a); }), HasSubstr("mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)"));
  EXPECT_THAT(values(matmul(composite::toI64(a), composite::toI64(b))), ElementsAre(4, 5, 10, 11));
  EXPECT_THAT(values(addmm(vec({1, 2}), a, b)), ElementsAre(5, 7, 11, 13));
}

TEST(Eager, IndexingAndSelection) {
  Tensor a = reshape(arange(6, {}, 1, DType::F32), {3, 2});
  Tensor i = arange(2);
  EXPECT_THAT(values(index_select(a, 0, add(i, 1))), ElementsAre(2, 3, 4, 5));
  ErrorKind kind;
  errorOf([&] { index_select(a, 0, add(i, 5)); }, &kind);
  EXPECT_EQ(kind, ErrorKind::Index);
  EXPECT_THAT(values(gather(a, 1, zeros({3, 1}, DType::I64))), ElementsAre(0, 2, 4));
  EXPECT_THAT(values(where(gt(a, 2), a, 0)), ElementsAre(0, 0, 0, 3, 4, 5));
  EXPECT_THAT(values(masked_fill(a, gt(a, 2), -1)), ElementsAre(0, 1, 2, -1, -1, -1));
  EXPECT_THAT(values(one_hot(arange(2))), ElementsAre(1, 0, 0, 1));
  EXPECT_THAT(values(applyIndex(a, {IndexItem::slice(1, {}), IndexItem::integer(0)})), ElementsAre(2, 4));
  EXPECT_THAT(values(applyIndex(a, {IndexItem::ellipsis(), IndexItem::newAxis(), IndexItem::integer(-1)})),
              ElementsAre(1, 3, 5));
  EXPECT_THAT(values(applyIndex(a, {IndexItem::of(gt(a, 3))})), ElementsAre(4, 5));
  EXPECT_THAT(values(applyIndex(a, {IndexItem::of(sub(i, 1))})), ElementsAre(4, 5, 0, 1));
  assignIndex(a, {IndexItem::of(i)}, vec({7, 8}));
  EXPECT_THAT(values(a), ElementsAre(7, 8, 7, 8, 4, 5));
  assignIndex(a, {IndexItem::of(gt(a, 7))}, 0);
  assignIndex(a, {IndexItem::integer(2)}, vec({1, 2}));
  EXPECT_THAT(values(a), ElementsAre(7, 0, 7, 0, 1, 2));
  EXPECT_THAT(errorOf([&] { applyIndex(a, {IndexItem::integer(3)}); }, &kind),
              HasSubstr("index 3 is out of bounds for dimension 0 with size 3"));
}

TEST(Eager, Creation) {
  EXPECT_EQ(full({2}, true).dtype(), DType::Bool);
  EXPECT_EQ(full({2}, 3).dtype(), DType::I64);
  EXPECT_THAT(values(arange(1, Scalar(2), 0.25)), ElementsAre(1, 1.25, 1.5, 1.75));
  EXPECT_THAT(values(arange(5, Scalar(0), -2)), ElementsAre(5, 3, 1));
  EXPECT_THAT(errorOf([] { zeros({-1}); }), HasSubstr("negative dimension -1"));
  EXPECT_THAT(values(eye(2)), ElementsAre(1, 0, 0, 1));
  manualSeed(7);
  Tensor a = rand({5}), b = rand({5});
  EXPECT_FALSE(equal(a, b));
  manualSeed(7);
  EXPECT_TRUE(equal(a, rand({5})));
  EXPECT_TRUE(allclose(a, add(a, 1e-9)));
  uniform_(b, -2, -1);
  EXPECT_LE(values(amax(b))[0], -1);
  EXPECT_THAT(errorOf([] { empty({int64_t(1) << 60}); }), HasSubstr("not enough memory"));
}

TEST(Eager, Meta) {
  Tensor a = empty({2, 3}, {}, DeviceId{DeviceKind::Meta, -1});
  Tensor b = matmul(add(a, 1), t(a));
  EXPECT_EQ(shape(b), (std::vector<int64_t>{2, 2}));
  EXPECT_EQ(b.device().kind, DeviceKind::Meta);
  EXPECT_THAT(errorOf([&] { add(a, ones({3})); }), HasSubstr("Expected all tensors to be on the same device"));
}

TEST(Eager, Softmax) {
  Tensor a = make({1, 2, 3, 1, 1, 1}, {2, 3});
  EXPECT_TRUE(allclose(sum(softmax(a, 1), IntList({1})), ones({2})));
  EXPECT_TRUE(allclose(exp(log_softmax(a, -1)), softmax(a, -1)));
  EXPECT_EQ(shape(softmax(ones({0, 3}), 1)), (std::vector<int64_t>{0, 3}));
  EXPECT_NEAR(item(cross_entropy(a, arange(2))).toDouble(), (2.4076059 + 1.0986123) / 2, 1e-6);
  EXPECT_THAT(errorOf([&] { cross_entropy(a, add(arange(2), 5)); }), HasSubstr("out of bounds"));
}

// What a tracer sees: one call per primitive, composites expanded, nothing of an op's inside.
static std::vector<std::string> recorded;
TEST(Eager, Recording) {
  JitHooks old = jitHooks;
  jitHooks.recordOp = [](const OpCall &call, TensorImpl *result) {
    std::string text = opInfo(call.op).name;
    text += call.out.kind == Out::Inplace ? (result == call.out.tensor ? "!" : "?") : "";
    recorded.push_back(text);
  };
  jitHooks.effect = [](Effect kind, TensorImpl *) {
    recorded.push_back(kind == Effect::ReadValue ? "read" : "effect");
  };
  Tensor x = vec({1, 2}, true), y = vec({3, 4});
  recorded.clear();
  {
    ModeGuard guard(FlagRecording, 0);
    Tensor z = add(x, y, 2);
    add_(y, 1);
    select(y, 0, 0);
    backward(sum(softmax(z, 0)));
    item(sum(y));
  }
  jitHooks = old;
  EXPECT_THAT(recorded, testing::ElementsAre("mul", "add", "add!", "slice", "reshape", "softmax", "sum", "full",
                                             "reshape", "expand", "mul", "sum", "sub", "mul", "cast", "sum", "read"));
  EXPECT_EQ(x->requiresGrad(), true);
}
