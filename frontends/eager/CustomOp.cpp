#include "frontends/eager/CustomOp.h"
#include "dialects/rules/Vjp.h"
#include "frontends/autograd/Autograd.h"
#include "frontends/autograd/EagerBuilder.h"
#include "frontends/autograd/Views.h"
#include "frontends/eager/JitHooks.h"
#include "frontends/eager/Modes.h"
#include <algorithm>
#include <deque>
#include <map>
#include <mutex>

namespace torchc {
namespace {

constexpr uint32_t firstCustomId = 0x10000;

struct Registry {
  std::mutex mutex;
  std::deque<std::unique_ptr<CustomOp>> ops; // by id; never destroyed
  std::map<std::string, CustomOp *, std::less<>> names;
};
Registry &registry() {
  static auto *r = new Registry;
  return *r;
}

std::vector<Tensor> tensorsOf(const CustomValues &values) {
  std::vector<Tensor> out;
  eachTensor(values, [&](const Tensor &t) { out.push_back(t); });
  return out;
}

/// Of a context's node: the backward of a derivative, or the error that there is none.
std::string nodeNameOf(const CustomOp &op) {
  const CustomSchema &s = op.schema();
  return "GeneratedBackwardFor_" + s.space + "_" + s.name + "_" + (s.overload.empty() ? "default" : s.overload) +
         "Backward";
}

struct MissingNode : NodeFunction {
  explicit MissingNode(const CustomOp &op) : op(op) {}
  std::string name() const override { return nodeNameOf(op); }
  std::vector<Tensor> apply(const std::vector<Tensor> &, const std::vector<bool> &) override {
    fail("Trying to backward through " + op.schema().qualified() +
         " but no autograd formula was registered. Please use register_autograd to add one.");
  }
  const CustomOp &op;
};

} // namespace

struct CustomNode : NodeFunction {
  CustomNode(const CustomOp &op, const CustomDerivative &formula) : op(op), formula(formula) {}
  std::string name() const override { return nodeNameOf(op); }

  std::vector<Tensor> apply(const std::vector<Tensor> &cotangents, const std::vector<bool> &) override {
    std::vector<Tensor> given = cotangents;
    for (size_t i = 0; i < given.size(); i++)
      if (!given[i].defined() && isDifferentiable(results[i].dtype)) {
        EagerBuilder builder{results[i].device};
        given[i] = rules::zeros(builder, results[i].dims, results[i].dtype).tensor;
      }
    std::vector<Tensor> out = formula.backward(context, given);
    if (out.size() != context.needed.size())
      fail("function " + name() + " returned an incorrect number of gradients (expected " +
           std::to_string(context.needed.size()) + ", got " + std::to_string(out.size()) + ")");
    return out;
  }
  void releaseSaved() override {
    context.kept.clear();
    context.freed = true;
  }

  /// Notes which of the saved tensors are results, whose history is this node: held, it would hold itself.
  static void attach(std::unique_ptr<CustomNode> made, const std::vector<Tensor> &inputs,
                     const std::vector<Tensor> &results) {
    CustomContext &c = made->context;
    for (const Tensor &r : results)
      made->results.push_back({r->dtype, r->device, r->dims()});
    for (CustomContext::Saved &s : c.kept)
      for (size_t i = 0; s.tensor.defined() && i < results.size(); i++)
        if (s.tensor.same(results[i])) {
          s.tensor = detachTensor(s.tensor);
          s.result = isDifferentiable(s.tensor->dtype) ? int(i) : -1;
          break;
        }
    c.node = recordFunction(std::move(made), inputs, results);
  }

  struct Result {
    DType dtype;
    uint8_t device;
    Dims dims;
  };
  const CustomOp &op;
  const CustomDerivative formula; // as it was at the call
  CustomContext context;
  std::vector<Result> results;
};

void CustomContext::save(std::vector<Tensor> tensors) {
  kept.clear();
  for (Tensor &t : tensors) {
    Saved s;
    s.version = t.defined() ? t->version() : 0;
    s.tensor = std::move(t);
    kept.push_back(std::move(s));
  }
}

std::vector<Tensor> CustomContext::saved() const {
  if (freed)
    backwardTwice();
  std::vector<Tensor> out;
  for (const Saved &s : kept) {
    Tensor t = s.tensor;
    if (t.defined() && t->version() != s.version)
      fail("one of the variables needed for gradient computation has been modified by an inplace operation: [" +
           std::string(torchName(t->dtype)) + " " + t->dims().str() + "] is at version " +
           std::to_string(t->version()) + "; expected version " + std::to_string(s.version) + " instead.");
    if (s.result >= 0 && node)
      t = withHistory(t, node, s.result);
    out.push_back(std::move(t));
  }
  return out;
}

//===-- registering ---------------------------------------------------------------------------------------------===//

CustomOp &CustomOp::kernel(CustomKernel k, DeviceKind device) {
  kernels[int(device)] = std::move(k);
  return *this;
}
CustomOp &CustomOp::composite(CustomKernel k) {
  whole = std::move(k);
  return *this;
}
CustomOp &CustomOp::derivative(CustomDerivative d) {
  if (description.mutates())
    fail("Cannot register autograd formula for non-functional operator " + description.qualified() + " with schema " +
         description.str() + ". Please create a functional operator and register an autograd formula for that.");
  formula = std::move(d);
  return *this;
}
CustomOp &CustomOp::autograd(CustomKernel k, bool runsAlways) {
  gradient = std::move(k);
  always = runsAlways;
  return *this;
}

CustomOp &defineCustomOp(std::string_view text) {
  CustomSchema schema;
  Diag diag;
  if (!parseSchema(text, schema, diag))
    fail(diag);
  Registry &r = registry();
  std::lock_guard<std::mutex> lock(r.mutex);
  std::string name = schema.qualified();
  if (r.names.count(name))
    fail("Tried to register an operator (" + schema.str() + ") with the same name and overload name multiple times.");
  auto id = uint32_t(firstCustomId + r.ops.size());
  r.ops.push_back(std::make_unique<CustomOp>(id, std::move(schema)));
  return *(r.names[name] = r.ops.back().get());
}

CustomOp *findCustomOp(std::string_view name) {
  Registry &r = registry();
  std::lock_guard<std::mutex> lock(r.mutex);
  auto it = r.names.find(name);
  return it == r.names.end() ? nullptr : it->second;
}
CustomOp *findCustomOp(uint32_t id) {
  Registry &r = registry();
  std::lock_guard<std::mutex> lock(r.mutex);
  return id >= firstCustomId && id - firstCustomId < r.ops.size() ? r.ops[id - firstCustomId].get() : nullptr;
}
void removeCustomOp(CustomOp &op) {
  Registry &r = registry();
  std::lock_guard<std::mutex> lock(r.mutex);
  auto it = r.names.find(op.schema().qualified());
  if (it != r.names.end() && it->second == &op)
    r.names.erase(it);
}
std::vector<std::string> customOpNames(std::string_view space) {
  Registry &r = registry();
  std::lock_guard<std::mutex> lock(r.mutex);
  std::vector<std::string> out;
  for (auto &[name, op] : r.names)
    if (op->schema().space == space)
      out.push_back(name.substr(space.size() + 2));
  return out;
}

//===-- calling -------------------------------------------------------------------------------------------------===//

namespace {

void checkArguments(const CustomSchema &s, CustomValues &args) {
  if (args.size() > s.arguments.size())
    fail(s.qualified() + "() expected at most " + std::to_string(s.arguments.size()) + " argument(s) but received " +
         std::to_string(args.size()) + " argument(s). Declaration: " + s.str());
  for (size_t i = args.size(); i < s.arguments.size(); i++) {
    if (!s.arguments[i].hasDefault)
      fail(s.qualified() + "() is missing value for argument '" + s.arguments[i].name + "'. Declaration: " + s.str());
    args.push_back(s.arguments[i].value);
  }
  for (size_t i = 0; i < args.size(); i++) {
    const CustomArgument &a = s.arguments[i];
    if (a.kind == CustomKind::Float && !a.list)
      if (auto *n = std::get_if<int64_t>(&args[i]))
        args[i] = double(*n);
    if (!accepts(a, args[i]))
      fail(s.qualified() + "() Expected a value of type '" + a.type() + "' for argument '" + a.name +
           "' but instead found type '" + typeOfValue(args[i]) + "'.\nPosition: " + std::to_string(i) +
           "\nDeclaration: " + s.str());
  }
}

void checkResults(const CustomSchema &s, const CustomValues &results) {
  if (results.size() != s.returns.size())
    fail(s.qualified() + "(): its kernel gave " + std::to_string(results.size()) + " results where the schema has " +
         std::to_string(s.returns.size()) + ": " + s.str());
  for (size_t i = 0; i < results.size(); i++)
    if (!accepts(s.returns[i], results[i]))
      fail(s.qualified() + "(): its kernel gave a value of type '" + typeOfValue(results[i]) + "' as result " +
           std::to_string(i) + " where the schema has '" + s.returns[i].type() + "': " + s.str());
}

/// Where the kernel runs: the device of the tensors (meta counts before others), else that of a device argument.
DeviceKind deviceOf(const CustomValues &args) {
  bool any = false;
  DeviceKind found = DeviceKind::Cpu;
  eachTensor(args, [&](const Tensor &t) {
    if (!any || DeviceKind(t->device) == DeviceKind::Meta)
      found = DeviceKind(t->device);
    any = true;
  });
  for (const CustomValue &v : args)
    if (auto *d = std::get_if<DeviceId>(&v); d && !any)
      found = d->kind;
  return found;
}

void checkAliasing(const CustomSchema &s, const CustomValues &args, const CustomValues &results) {
  std::vector<const Storage *> seen;
  eachTensor(args, [&](const Tensor &t) { seen.push_back(t->storage); });
  eachTensor(results, [&](const Tensor &t) {
    if (t->storage && std::find(seen.begin(), seen.end(), t->storage) != seen.end())
      fail(s.qualified() +
           ": The output of this custom operator (1) must not also be an input to this custom operator and (2) may not "
           "alias any inputs to this custom operator or other returns. The most common way to trigger this error is "
           "if we have y = custom_op(x) and y and x are the same Tensor. Please instead return a clone of the "
           "offending output tensor(s) (e.g. return x.clone()) or refactor the custom operator to not return y.");
    seen.push_back(t->storage);
  });
}

template <class F> void eachWritten(const CustomSchema &s, const CustomValues &args, F f) {
  for (size_t i = 0; i < args.size(); i++)
    if (s.arguments[i].written)
      eachTensor(args[i], f);
}

std::vector<Tensor> freshTensors(const CustomValues &results, const std::vector<Tensor> &inputs) {
  std::vector<Tensor> out;
  eachTensor(results, [&](const Tensor &t) {
    if (std::none_of(inputs.begin(), inputs.end(), [&](const Tensor &i) { return i.same(t); }))
      out.push_back(t);
  });
  return out;
}

/// What a kernel without a derivative writes must not have a history that would then be wrong.
void checkWrites(const CustomOp &op, const CustomValues &args) {
  eachWritten(op.schema(), args, [&](const Tensor &t) {
    if (!requiresGrad(t.impl()))
      return;
    checkInplace(t.impl(), false);
    fail(op.schema().qualified() + "(): writes to an argument that requires grad, and has no derivative");
  });
}

} // namespace

CustomValues callCustomKernel(CustomOp &op, const CustomValues &args) {
  const CustomSchema &s = op.schema();
  DeviceKind device = deviceOf(args);
  const CustomKernel k = op.kernels[int(device)]; // held: it may register another one in its place
  if (!k && device == DeviceKind::Meta)
    fail(ErrorKind::NotImplemented,
         "There was no fake impl registered for " + s.qualified() +
             ", which tensors on the meta device need. Please use register_fake to add one.");
  if (!k)
    fail(ErrorKind::NotImplemented, "Could not run '" + s.qualified() + "' with arguments from the '" +
                                        std::string(deviceKindName(device)) + "' backend: it has no kernel for it.");
  CustomValues results;
  {
    NoGradGuard quiet;
    results = k(args);
  }
  checkResults(s, results);
  if (op.checked)
    checkAliasing(s, args, results);
  eachWritten(s, args, [](const Tensor &t) { ++t->version(); });
  return results;
}

CustomValues callCustomOp(CustomOp &op, CustomValues args) {
  checkArguments(op.schema(), args);
  if (op.whole && !op.kernels[int(deviceOf(args))])
    return CustomKernel(op.whole)(args);
  OpaqueScope opaque(op.schema().qualified().c_str());
  bool wanted = false;
  eachTensor(args, [&](const Tensor &t) {
    materialize(t.impl());
    wanted |= isGradEnabled() && requiresGrad(t.impl());
  });
  if (op.gradient && (wanted || op.always))
    return op.gradient(args);
  if (wanted)
    checkWrites(op, args);
  CustomValues results = callCustomKernel(op, args);
  if (!wanted)
    return results;
  std::vector<Tensor> inputs = tensorsOf(args), outputs;
  auto own = [&](Tensor &t) { // an argument that comes back as it is: another tensor, with a history of its own
    if (t.defined() && std::any_of(inputs.begin(), inputs.end(), [&](const Tensor &i) { return i.same(t); }))
      t = detachTensor(t);
    if (t.defined())
      outputs.push_back(t);
  };
  if (op.schema().mutates())
    outputs = freshTensors(results, inputs);
  else
    for (CustomValue &v : results) {
      if (auto *t = std::get_if<Tensor>(&v))
        own(*t);
      if (auto *list = std::get_if<std::vector<Tensor>>(&v))
        std::for_each(list->begin(), list->end(), own);
    }
  if (op.formula.backward) {
    auto node = std::make_unique<CustomNode>(op, op.formula);
    for (const Tensor &t : inputs)
      node->context.needed.push_back(requiresGrad(t.impl()));
    if (node->formula.setup) {
      NoGradGuard quiet;
      node->formula.setup(node->context, args, results);
    }
    CustomNode::attach(std::move(node), inputs, outputs);
  } else {
    eachWritten(op.schema(), args, [&](const Tensor &t) { outputs.push_back(t); });
    recordFunction(std::make_unique<MissingNode>(op), inputs, outputs);
  }
  return results;
}

} // namespace torchc
