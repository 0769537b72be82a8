// Ops that ONNX says in another way than by a rename.
#include "dialects/rules/Attention.h"
#include "frontends/eager/Api.h"
#include "frontends/eager/Modes.h"
#include "frontends/onnx/GraphBuilder.h"
#include "frontends/onnx/Model.h"

namespace torchc::onnx {
namespace {

using V = OutValue;
using Ins = std::vector<V>;
using Attrs = std::vector<Attr>;

std::vector<int64_t> listOf(const Attr &a) { return {a.list, a.list + a.size}; }
std::vector<int64_t> listOf(const Dims &d) { return {d.begin(), d.end()}; }
std::vector<OutAttr> axis(const Attr &dim) { return {{"axis", dim.i}}; }

V castOp(GraphBuilder &b, const Ins &in, const Attrs &, const TensorType &type) { return b.cast(in[0], type.dtype); }

V reshapeOp(GraphBuilder &b, const Ins &in, const Attrs &, const TensorType &type) {
  std::vector<int64_t> shape = listOf(type.dims);
  bool zero = std::find(shape.begin(), shape.end(), 0) != shape.end();
  return b.node("Reshape", {in[0], b.ints(shape)}, type,
                zero ? std::vector<OutAttr>{{"allowzero", int64_t(1)}} : std::vector<OutAttr>());
}

V transposeOp(GraphBuilder &b, const Ins &in, const Attrs &attrs, const TensorType &type) {
  std::vector<int64_t> perm;
  for (int i = 0; i < type.dims.size(); i++)
    perm.push_back(i);
  std::swap(perm[size_t(attrs[0].i)], perm[size_t(attrs[1].i)]);
  return b.node("Transpose", {in[0]}, type, {{"perm", perm}});
}

V expandOp(GraphBuilder &b, const Ins &in, const Attrs &, const TensorType &type) {
  return b.node("Expand", {in[0], b.ints(listOf(type.dims))}, type);
}

V sliceOp(GraphBuilder &b, const Ins &in, const Attrs &a, const TensorType &type) {
  return b.node("Slice", {in[0], b.ints({a[1].i}), b.ints({a[2].i}), b.ints({a[0].i}), b.ints({a[3].i})}, type);
}

/// Axes are an input since opset 13 (sums) or 18.
V reduction(GraphBuilder &b, const char *op, V x, const Attrs &a, const TensorType &type, int64_t inputSince) {
  std::vector<int64_t> axes = listOf(a[0]);
  if (axes.empty())
    return b.node("Identity", {x}, type);
  OutAttr keep{"keepdims", a[1].i};
  if (b.opset < inputSince)
    return b.node(op, {x}, type, {{"axes", axes}, keep});
  return b.node(op, {x, b.ints(axes)}, type, {keep});
}

V sumOp(GraphBuilder &b, const Ins &in, const Attrs &a, const TensorType &type) {
  return reduction(b, "ReduceSum", b.cast(in[0], type.dtype), a, type, 13);
}

template <bool Largest> V extremumOp(GraphBuilder &b, const Ins &in, const Attrs &a, const TensorType &type) {
  bool narrow = type.dtype == DType::Bool || type.dtype == DType::I16;
  TensorType wide{narrow ? DType::I32 : type.dtype, type.dims};
  return b.cast(reduction(b, Largest ? "ReduceMax" : "ReduceMin", b.cast(in[0], wide.dtype), a, wide, 18), type.dtype);
}

template <bool Largest> V positionOp(GraphBuilder &b, const Ins &in, const Attrs &a, const TensorType &type) {
  std::vector<int64_t> axes = listOf(a[0]);
  V x = in[0];
  Dims dims = b.dims(x);
  int64_t keep = a[1].i, along = axes.empty() ? 0 : axes[0];
  if (b.dtype(x) == DType::Bool)
    x = b.cast(x, DType::U8);
  if (axes.size() != 1) {
    if (int(axes.size()) != dims.size()) // over several of the dimensions, not all
      return V();
    x = b.node("Reshape", {x, b.ints({dims.numel()})}, {b.dtype(x), Dims({dims.numel()})});
    keep = along = 0;
  }
  TensorType got = type;
  if (axes.size() != 1)
    got.dims = Dims();
  V v = b.node(Largest ? "ArgMax" : "ArgMin", {x}, got, {{"axis", along}, {"keepdims", keep}});
  return got.dims == type.dims ? v : b.node("Reshape", {v, b.ints(listOf(type.dims))}, type);
}

V overDim(GraphBuilder &b, const char *op, const Ins &in, const Attrs &a, const TensorType &type) {
  return b.node(op, in, type, axis(a[0]));
}
V softmaxOp(GraphBuilder &b, const Ins &in, const Attrs &a, const TensorType &type) {
  return type.dims.size() ? overDim(b, "Softmax", in, a, type) : V();
}
V logSoftmaxOp(GraphBuilder &b, const Ins &in, const Attrs &a, const TensorType &type) {
  return type.dims.size() ? overDim(b, "LogSoftmax", in, a, type) : V();
}
V catOp(GraphBuilder &b, const Ins &in, const Attrs &a, const TensorType &type) {
  return overDim(b, "Concat", in, a, type);
}
V gatherOp(GraphBuilder &b, const Ins &in, const Attrs &a, const TensorType &type) {
  return overDim(b, "GatherElements", in, a, type);
}
V indexSelectOp(GraphBuilder &b, const Ins &in, const Attrs &a, const TensorType &type) {
  return b.dims(in[1]).size() == 1 ? overDim(b, "Gather", in, a, type) : V();
}
V scatterOp(GraphBuilder &b, const Ins &in, const Attrs &a, const TensorType &type) {
  return overDim(b, "ScatterElements", in, a, type);
}
V scatterAddOp(GraphBuilder &b, const Ins &in, const Attrs &a, const TensorType &type) {
  return b.node("ScatterElements", in, type, {{"axis", a[0].i}, {"reduction", std::string("add")}});
}
/// index_add: one index for each slice becomes one for each element.
V indexAddOp(GraphBuilder &b, const Ins &in, const Attrs &a, const TensorType &type) {
  Dims source = b.dims(in[2]);
  if (!source.size())
    return V();
  std::vector<int64_t> line(size_t(source.size()), 1);
  line[size_t(a[0].i)] = source[int(a[0].i)];
  DType t = b.dtype(in[1]);
  V index = b.node("Reshape", {in[1], b.ints(line)}, {t, Dims(line.data(), int(line.size()))});
  index = b.node("Expand", {index, b.ints(listOf(source))}, {t, source});
  return b.node("ScatterElements", {in[0], index, in[2]}, type, {{"axis", a[0].i}, {"reduction", std::string("add")}});
}

V notEqual(GraphBuilder &b, const Ins &in, const Attrs &, const TensorType &type) {
  return b.node("Not", {b.node("Equal", in, type)}, type);
}
/// ONNX compares numbers only.
template <int Op> V ordered(GraphBuilder &b, const Ins &in, const Attrs &, const TensorType &type) {
  constexpr const char *names[] = {"Less", "LessOrEqual", "Greater", "GreaterOrEqual"};
  Ins wide = in;
  for (V &v : wide)
    v = b.dtype(v) == DType::Bool ? b.cast(v, DType::I32) : v;
  return b.node(names[Op], wide, type);
}
V equalOp(GraphBuilder &b, const Ins &in, const Attrs &, const TensorType &type) { return b.node("Equal", in, type); }

/// A tensor that depends on nothing is a constant.
template <OpId Id> V creation(GraphBuilder &b, const Ins &, const Attrs &attrs, const TensorType &) {
  InternalGuard quiet;
  return b.constant(callOpList(Id, List<Operand>(), List<Attr>(attrs.data(), attrs.size())));
}
V fullOp(GraphBuilder &b, const Ins &in, const Attrs &a, const TensorType &type) {
  constexpr int64_t small = 64; // elements that are written out
  if (type.dims.numel() <= small)
    return creation<OpId::Full>(b, in, a, type);
  return b.node("Expand", {b.number(a[1], type.dtype), b.ints(listOf(type.dims))}, type);
}

V rsqrtOp(GraphBuilder &b, const Ins &in, const Attrs &, const TensorType &type) {
  return b.node("Reciprocal", {b.node("Sqrt", in, type)}, type);
}
V fmaOp(GraphBuilder &b, const Ins &in, const Attrs &, const TensorType &) {
  return b.op(OpId::Add, {b.op(OpId::Mul, {in[0], in[1]}), in[2]});
}
V siluOp(GraphBuilder &b, const Ins &in, const Attrs &, const TensorType &) {
  return b.op(OpId::Mul, {in[0], b.op(OpId::Sigmoid, {in[0]})});
}
V geluOp(GraphBuilder &b, const Ins &in, const Attrs &, const TensorType &) {
  V e = b.op(OpId::Erf, {b.op(OpId::Mul, {in[0], 0.70710678118654752})});
  return b.op(OpId::Mul, {b.op(OpId::Mul, {in[0], 0.5}), b.op(OpId::Add, {e, 1.0})});
}
V geluTanhOp(GraphBuilder &b, const Ins &in, const Attrs &, const TensorType &) {
  V cube = b.op(OpId::Mul, {b.op(OpId::Mul, {in[0], in[0]}), in[0]});
  V inner = b.op(OpId::Add, {in[0], b.op(OpId::Mul, {cube, 0.044715})});
  V t = b.op(OpId::Tanh, {b.op(OpId::Mul, {inner, 0.79788456080286536})});
  return b.op(OpId::Mul, {b.op(OpId::Mul, {in[0], 0.5}), b.op(OpId::Add, {t, 1.0})});
}
V expm1Op(GraphBuilder &b, const Ins &in, const Attrs &, const TensorType &) {
  return b.op(OpId::Sub, {b.op(OpId::Exp, {in[0]}), 1.0});
}
V log1pOp(GraphBuilder &b, const Ins &in, const Attrs &, const TensorType &) {
  return b.op(OpId::Log, {b.op(OpId::Add, {in[0], 1.0})});
}
V truncOp(GraphBuilder &b, const Ins &in, const Attrs &, const TensorType &) {
  V below = b.op(OpId::Lt, {in[0], 0.0});
  return b.op(OpId::Where, {below, b.op(OpId::Ceil, {in[0]}), b.op(OpId::Floor, {in[0]})});
}
V lerpOp(GraphBuilder &b, const Ins &in, const Attrs &, const TensorType &) {
  const V &x = in[0], &y = in[1], &w = in[2];
  V d = b.op(OpId::Sub, {y, x}), near = b.op(OpId::Lt, {b.op(OpId::Abs, {w}), 0.5});
  V low = b.op(OpId::Add, {x, b.op(OpId::Mul, {w, d})});
  V high = b.op(OpId::Sub, {y, b.op(OpId::Mul, {d, b.op(OpId::Sub, {1.0, w})})});
  return b.op(OpId::Where, {near, low, high});
}
V prodOp(GraphBuilder &b, const Ins &in, const Attrs &a, const TensorType &type) {
  return reduction(b, "ReduceProd", b.cast(in[0], type.dtype), a, type, 18);
}
V cumsumOp(GraphBuilder &b, const Ins &in, const Attrs &a, const TensorType &type) {
  if (!type.dims.size())
    return b.node("Identity", {b.cast(in[0], type.dtype)}, type);
  V axis = b.node("Squeeze", {b.ints({a[0].i})}, {DType::I64, Dims()});
  return b.node("CumSum", {b.cast(in[0], type.dtype), axis}, type, {{"reverse", a[1].i}});
}

/// Of the three operands in their op-math type, and of `extra` if there is one.
V attentionOp(GraphBuilder &b, const Ins &in, const Attrs &a, const TensorType &type) {
  Ins wide;
  for (const V &v : in)
    wide.push_back(rules::opMathOf(b, v, type.dtype));
  const V *extra = wide.size() > 3 ? &wide[3] : nullptr;
  int64_t parts = extra ? a[2].i : 0;
  rules::Attention<GraphBuilder> attention(b, wide[0], wide[1], wide[2], extra, a[0].f, a[1].i, parts);
  return b.cast(attention.whole(), type.dtype);
}

V layerNormOp(GraphBuilder &b, const Ins &in, const Attrs &a, const TensorType &type) {
  if (b.opset < 17)
    return V();
  return b.node("LayerNormalization", in, type, {{"axis", a[0].list[0]}, {"epsilon", a[1].f}});
}

/// With given statistics; training is written out.
V batchNormOp(GraphBuilder &b, const Ins &in, const Attrs &a, const TensorType &type) {
  return a[2].i ? V() : b.node("BatchNormalization", in, type, {{"epsilon", a[1].f}});
}

std::vector<int64_t> bothSides(const Attr &padding) {
  std::vector<int64_t> pads = listOf(padding);
  pads.insert(pads.end(), padding.list, padding.list + padding.size);
  return pads;
}

V convOp(GraphBuilder &b, const Ins &in, const Attrs &a, const TensorType &type) {
  return b.node("Conv", in, type,
                {{"strides", listOf(a[0])}, {"pads", bothSides(a[1])}, {"dilations", listOf(a[2])}, {"group", a[3].i}});
}

/// The convolution's gradient for its input; a = size, stride, padding, dilation, groups.
V convInputOp(GraphBuilder &b, const Ins &in, const Attrs &a, const TensorType &type) {
  Dims y = b.dims(in[0]), w = b.dims(in[1]);
  std::vector<int64_t> more;
  for (uint32_t i = 0; i < a[1].size; i++) {
    int d = int(i) + 2;
    int64_t plain = (y[d] - 1) * a[1].list[i] - 2 * a[2].list[i] + a[3].list[i] * (w[d] - 1) + 1;
    more.push_back(type.dims[d] - plain);
    if (more.back() < 0)
      return V();
  }
  return b.node("ConvTranspose", in, type,
                {{"strides", listOf(a[1])},
                 {"pads", bothSides(a[2])},
                 {"dilations", listOf(a[3])},
                 {"group", a[4].i},
                 {"output_padding", more}});
}

/// Planes with a batch dimension in front, as ONNX wants them.
template <class Node> V overPlanes(GraphBuilder &b, V x, size_t spatial, const TensorType &type, Node node) {
  Dims dims = b.dims(x), result = type.dims;
  if (dims.size() == int(spatial) + 2)
    return node(x, type);
  dims.insert(0, 1), result.insert(0, 1);
  x = b.node("Reshape", {x, b.ints(listOf(dims))}, {b.dtype(x), dims});
  return b.node("Reshape", {node(x, TensorType{type.dtype, result}), b.ints(listOf(type.dims))}, type);
}

/// ceil_mode where the result has a window more than whole ones give. `dilation`: one for each dimension, or null.
int64_t roundsUp(const Dims &x, const Dims &y, const Attrs &a, const int64_t *dilation) {
  int n = int(a[0].size), lead = x.size() - n;
  for (int i = 0; i < n; i++) {
    int64_t reach = (dilation ? dilation[i] : 1) * (a[1].list[i] - 1) + 1;
    if (y[lead + i] > (x[lead + i] + 2 * a[3].list[i] - reach) / a[2].list[i] + 1)
      return 1;
  }
  return 0;
}

V maxPoolOp(GraphBuilder &b, const Ins &in, const Attrs &a, const TensorType &type) {
  if (!a[1].size || (type.dtype != DType::F32 && type.dtype != DType::F64 && type.dtype != DType::F16)) // adaptive
    return V();
  return overPlanes(b, in[0], a[0].size, type, [&](V x, const TensorType &t) {
    return b.node("MaxPool", {x}, t,
                  {{"kernel_shape", listOf(a[1])},
                   {"strides", listOf(a[2])},
                   {"pads", bothSides(a[3])},
                   {"dilations", listOf(a[4])},
                   {"ceil_mode", roundsUp(b.dims(x), t.dims, a, a[4].list)}});
  });
}

V avgPoolOp(GraphBuilder &b, const Ins &in, const Attrs &a, const TensorType &type) {
  if (!a[1].size || a[5].i || !isFloat(type.dtype) || type.dtype == DType::BF16)
    return V();
  return overPlanes(b, in[0], a[0].size, type, [&](V x, const TensorType &t) {
    return b.node("AveragePool", {x}, t,
                  {{"kernel_shape", listOf(a[1])},
                   {"strides", listOf(a[2])},
                   {"pads", bothSides(a[3])},
                   {"count_include_pad", a[4].i},
                   {"ceil_mode", roundsUp(b.dims(x), t.dims, a, nullptr)}});
  });
}

struct Row {
  OpId op;
  WriteOp write;
};
constexpr Row rows[] = {
    {OpId::Cast, castOp},
    {OpId::Conv, convOp},
    {OpId::ConvInput, convInputOp},
    {OpId::MaxPool, maxPoolOp},
    {OpId::AvgPool, avgPoolOp},
    {OpId::Reshape, reshapeOp},
    {OpId::Transpose, transposeOp},
    {OpId::Expand, expandOp},
    {OpId::Slice, sliceOp},
    {OpId::Sum, sumOp},
    {OpId::Amax, extremumOp<true>},
    {OpId::Amin, extremumOp<false>},
    {OpId::Argmax, positionOp<true>},
    {OpId::Argmin, positionOp<false>},
    {OpId::Softmax, softmaxOp},
    {OpId::LogSoftmax, logSoftmaxOp},
    {OpId::Cat, catOp},
    {OpId::Gather, gatherOp},
    {OpId::IndexSelect, indexSelectOp},
    {OpId::Scatter, scatterOp},
    {OpId::ScatterAdd, scatterAddOp},
    {OpId::IndexAdd, indexAddOp},
    {OpId::Eq, equalOp},
    {OpId::Ne, notEqual},
    {OpId::Lt, ordered<0>},
    {OpId::Le, ordered<1>},
    {OpId::Gt, ordered<2>},
    {OpId::Ge, ordered<3>},
    {OpId::Arange, creation<OpId::Arange>},
    {OpId::Full, fullOp},
    {OpId::Rsqrt, rsqrtOp},
    {OpId::Fma, fmaOp},
    {OpId::Silu, siluOp},
    {OpId::Gelu, geluOp},
    {OpId::GeluTanh, geluTanhOp},
    {OpId::Expm1, expm1Op},
    {OpId::Log1p, log1pOp},
    {OpId::Trunc, truncOp},
    {OpId::Lerp, lerpOp},
    {OpId::Prod, prodOp},
    {OpId::Cumsum, cumsumOp},
    {OpId::Attention, attentionOp},
    {OpId::AttentionMasked, attentionOp},
    {OpId::LayerNorm, layerNormOp},
    {OpId::BatchNorm, batchNormOp},
    {OpId::Dot,
     [](GraphBuilder &b, const Ins &in, const Attrs &, const TensorType &t) { return b.node("MatMul", in, t); }},
};

} // namespace

WriteOp findWriter(OpId id) {
  for (const Row &r : rows)
    if (r.op == id)
      return r.write;
  return nullptr;
}

} // namespace torchc::onnx
