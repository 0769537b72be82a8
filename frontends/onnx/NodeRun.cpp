#include "frontends/eager/Api.h"
#include "frontends/eager/Modes.h"
#include "frontends/onnx/Program.h"
#include <bit>
#include <optional>

namespace torchc::onnx {

std::string NodeRun::title() const { return titleOf(*step.node); }
void NodeRun::invalid(const std::string &text) const { fail(ErrorKind::Value, title() + ": " + text); }
void NodeRun::unsupported(const std::string &text) const { fail(ErrorKind::NotImplemented, title() + ": " + text); }

Tensor NodeRun::tensor(size_t i) const {
  if (!has(i))
    invalid("input " + std::to_string(i) + " is missing");
  if (!in[i].tensor.defined())
    invalid("input " + std::to_string(i) + " is a sequence, expected a tensor");
  return in[i].tensor;
}

std::vector<Tensor> NodeRun::tensors(size_t from) const {
  std::vector<Tensor> out;
  for (size_t i = from; i < in.size(); i++)
    out.push_back(tensor(i));
  return out;
}

/// What is read here doesn't count as read by the program, unless its inputs decide it: then no recording goes past it.
Tensor NodeRun::readable(const Value &v, DType t) const {
  std::optional<InternalGuard> quiet;
  if (v.known != Known::No)
    quiet.emplace();
  return to(contiguous(v.tensor), t);
}

bool NodeRun::truth(const Value &v) const {
  if (!v.tensor.defined() || v.tensor.numel() != 1)
    invalid("a condition that isn't one number");
  return *readable(v, DType::Bool).dataAs<bool>();
}

std::vector<int64_t> NodeRun::ints(size_t i) const {
  DType t = tensor(i).dtype();
  if (t != DType::I64 && t != DType::I32 && t != DType::Bool)
    invalid("input " + std::to_string(i) + " has type " + std::string(torchName(t)) + ", expected int64 or int32");
  Tensor wide = readable(in[i], DType::I64);
  const int64_t *p = wide.dataAs<int64_t>();
  return {p, p + wide.numel()};
}

int64_t NodeRun::integer(size_t i) const {
  std::vector<int64_t> v = ints(i);
  if (v.size() != 1)
    invalid("input " + std::to_string(i) + " has " + std::to_string(v.size()) + " elements, expected one");
  return v[0];
}

std::vector<double> NodeRun::numbers(size_t i) const {
  tensor(i); // or an error
  Tensor wide = readable(in[i], DType::F64);
  const double *p = wide.dataAs<double>();
  return {p, p + wide.numel()};
}

double NodeRun::number(size_t i) const {
  std::vector<double> v = numbers(i);
  if (v.size() != 1)
    invalid("input " + std::to_string(i) + " has " + std::to_string(v.size()) + " elements, expected one");
  return v[0];
}

int64_t NodeRun::intAttr(std::string_view name, int64_t otherwise) const {
  if (const Attribute *a = step.node->find(name))
    return a->i;
  const SchemaAttr *s = step.schema ? step.schema->find(name) : nullptr;
  return s && s->hasDefault ? s->bits : otherwise;
}

double NodeRun::floatAttr(std::string_view name, double otherwise) const {
  if (const Attribute *a = step.node->find(name))
    return a->f;
  const SchemaAttr *s = step.schema ? step.schema->find(name) : nullptr;
  return s && s->hasDefault ? std::bit_cast<double>(s->bits) : otherwise;
}

std::string_view NodeRun::textAttr(std::string_view name, std::string_view otherwise) const {
  if (const Attribute *a = step.node->find(name))
    return a->s;
  const SchemaAttr *s = step.schema ? step.schema->find(name) : nullptr;
  return s && s->hasDefault ? s->text() : otherwise;
}

std::vector<int64_t> NodeRun::intsAttr(std::string_view name, std::vector<int64_t> otherwise) const {
  const Attribute *a = step.node->find(name);
  return a ? a->ints : otherwise;
}

std::vector<double> NodeRun::floatsAttr(std::string_view name) const {
  const Attribute *a = step.node->find(name);
  return a ? std::vector<double>(a->floats.begin(), a->floats.end()) : std::vector<double>();
}

std::vector<std::string_view> NodeRun::textsAttr(std::string_view name) const {
  const Attribute *a = step.node->find(name);
  return a ? a->strings : std::vector<std::string_view>();
}

Tensor NodeRun::tensorAttr(std::string_view name) const {
  const Attribute *a = step.node->find(name);
  if (!a || !a->hasTensor)
    invalid("attribute '" + std::string(name) + "' is no tensor");
  InternalGuard quiet;
  return readTensor(a->t, program.folder);
}

DType NodeRun::dtypeAttr(std::string_view name) const {
  int64_t v = intAttr(name);
  return dtypeOfOnnx(v == int32_t(v) ? int32_t(v) : -1, title() + ": " + std::string(name));
}

Block &NodeRun::block(std::string_view attr) const {
  size_t graph = 0;
  for (const Attribute &a : step.node->attributes) {
    if (!a.g)
      continue;
    if (a.name == attr)
      return *step.graphs[graph];
    graph++;
  }
  invalid("attribute '" + std::string(attr) + "' is no graph");
}

std::vector<Value> NodeRun::runGraph(std::string_view attr, std::vector<Value> inputs) {
  return program.runBlock(block(attr), std::move(inputs), &frame);
}

const ValueInfo &NodeRun::graphOutput(std::string_view attr, size_t i) const {
  const std::vector<ValueInfo> &all = block(attr).graph->outputs;
  if (i >= all.size())
    invalid("the graph gives " + std::to_string(all.size()) + " results, expected more than " + std::to_string(i));
  return all[i];
}

} // namespace torchc::onnx
