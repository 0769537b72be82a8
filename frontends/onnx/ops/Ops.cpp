#include "frontends/onnx/ops/Ops.h"
#include <cstring>

namespace torchc::onnx {

const HandlerRow *findHandler(std::string_view domain, std::string_view op) {
  static const std::unordered_map<std::string_view, std::vector<const HandlerRow *>> table = [] {
    std::unordered_map<std::string_view, std::vector<const HandlerRow *>> t;
    for (Rows rows : {arithmeticRows(), comparisonRows(), activationRows(), shapeRows(), indexRows(), creationRows(),
                      reductionRows(), productRows(), normRows(), controlRows(), windowRows(), resampleRows(),
                      recurrentRows(), quantRows(), orderRows(), attentionRows(), statisticRows(), mathRows()})
      for (const HandlerRow &r : rows)
        t[r.op].push_back(&r);
    return t;
  }();
  if (domain == "ai.onnx")
    domain = {};
  auto it = table.find(op);
  if (it != table.end())
    for (const HandlerRow *r : it->second)
      if (r->domain == domain)
        return r;
  return nullptr;
}

int64_t axisOf(const NodeRun &n, int64_t axis, int64_t rank) {
  int64_t wrapped = axis < 0 ? axis + rank : axis;
  if (wrapped < 0 || wrapped >= rank)
    n.invalid("axis " + std::to_string(axis) + " of a tensor of rank " + std::to_string(rank));
  return wrapped;
}

Tensor numberLike(const Tensor &like, double v) { return full({}, v, like.dtype()); }

Tensor intVector(const std::vector<int64_t> &v) {
  Tensor t = empty({int64_t(v.size())}, DType::I64);
  if (!v.empty())
    std::memcpy(t.data(), v.data(), v.size() * sizeof(int64_t));
  return t;
}
Tensor intNumber(int64_t v) { return full({}, v, DType::I64); }

Tensor legacyBroadcast(const NodeRun &n, const Tensor &x, const Tensor &y) {
  if (n.version() >= 7)
    return y;
  if (!n.intAttr("broadcast")) {
    if (!(sizesOf(x) == sizesOf(y)))
      n.invalid("operands of different shapes without broadcast=1");
    return y;
  }
  int64_t axis = n.hasAttr("axis") ? axisOf(n, n.intAttr("axis"), x.dim()) : x.dim() - y.dim();
  std::vector<int64_t> shape = sizesOf(y);
  if (axis < 0 || axis + y.dim() > x.dim())
    n.invalid("the second operand doesn't fit into the first at axis " + std::to_string(axis));
  shape.resize(size_t(x.dim() - axis), 1);
  return reshape(y, shape);
}

std::vector<int64_t> sizesOf(const Tensor &t) { return {t.sizes().begin(), t.sizes().end()}; }

std::vector<int64_t> intsOf(const NodeRun &n, std::string_view attr, size_t input, std::vector<int64_t> otherwise) {
  return n.has(input) ? n.ints(input) : n.intsAttr(attr, std::move(otherwise));
}

} // namespace torchc::onnx
