// Ops registered at run time (J2): what a program adds to torchc from Python (torchc.library) or C++.
//
//   CustomOp &op = defineCustomOp("mylib::scale(Tensor x, float by=2.0) -> Tensor");
//   op.kernel([](const CustomValues &a) { return CustomValues{mul(std::get<Tensor>(a[0]), std::get<double>(a[1]))}; });
//   op.derivative({saveNothing, backward});
//   Tensor y = std::get<Tensor>(callCustomOp(op, {x, 3.0})[0]);
//
// An op is called through its schema, whoever made it: one from C++ is torch.ops.mylib.scale in Python. To recordings it
// is opaque: what precedes it has run when its kernel does, and a compiled graph ends there.
#pragma once
#include "frontends/eager/CustomSchema.h"
#include <functional>
#include <memory>

namespace torchc {

struct Node;

/// Gets all arguments in the schema's order, defaults filled in; gives the results in order. May throw Error.
using CustomKernel = std::function<CustomValues(const CustomValues &)>;

/// What a derivative keeps from a call for its backward.
class CustomContext {
public:
  /// Keeps arguments or results; writes to them in between are noticed.
  void save(std::vector<Tensor> tensors);
  /// The saved tensors; Runtime error when one was written to since, or the graph was freed.
  std::vector<Tensor> saved() const;
  /// Anything else that the backward wants to know.
  CustomValues values;
  /// By tensor among the arguments (lists count one by one): is its gradient asked for?
  std::vector<bool> needed;

private:
  friend struct CustomNode;
  struct Saved {
    Tensor tensor;
    uint32_t version = 0;
    int result = -1; // >= 0: the result with this number, kept without its history
  };
  std::vector<Saved> kept;
  Node *node = nullptr; // borrowed
  bool freed = false;
};

struct CustomDerivative {
  /// Runs after the kernel; may be empty.
  std::function<void(CustomContext &, const CustomValues &args, const CustomValues &results)> setup;
  /// One gradient for each tensor among the arguments (undefined: none) from those of the tensors among the results
  /// (zeros where none came). Its own ops are recorded, so that derivatives of any order exist.
  std::function<std::vector<Tensor>(CustomContext &, const std::vector<Tensor> &)> backward;
};

/// A registered op. Registering is not safe against calls of the same op from other threads.
class CustomOp {
public:
  explicit CustomOp(uint32_t id, CustomSchema schema) : number(id), description(std::move(schema)) {}
  CustomOp(const CustomOp &) = delete;

  /// 0x10000 or more, private to the process.
  uint32_t id() const { return number; }
  const CustomSchema &schema() const { return description; }

  /// Computes on a device. Runs without recording gradients.
  CustomOp &kernel(CustomKernel k, DeviceKind device = DeviceKind::Cpu);
  /// Shapes and types of the results, for arguments on the meta device.
  CustomOp &fake(CustomKernel k) { return kernel(std::move(k), DeviceKind::Meta); }
  /// A function of other ops instead of kernels: they are recorded and differentiated.
  CustomOp &composite(CustomKernel k);
  /// Runtime error for an op that writes to arguments.
  CustomOp &derivative(CustomDerivative d);
  /// Runs in place of everything else and may call callCustomKernel(). `always`: also where no gradient is wanted.
  CustomOp &autograd(CustomKernel k, bool always);
  /// Results must not share memory with arguments or each other, as in PyTorch's custom_op.
  CustomOp &checkAliases() {
    checked = true;
    return *this;
  }
  bool has(DeviceKind device) const { return bool(kernels[int(device)]); }
  bool isComposite() const { return bool(whole); }

private:
  friend CustomValues callCustomOp(CustomOp &, CustomValues);
  friend CustomValues callCustomKernel(CustomOp &, const CustomValues &);
  uint32_t number;
  CustomSchema description;
  CustomKernel kernels[numDeviceKinds], whole, gradient;
  CustomDerivative formula;
  bool always = false, checked = false;
};

/// Registers an op without kernels; the reference stays valid for ever. Runtime error for a malformed schema and for a name
/// that is taken.
CustomOp &defineCustomOp(std::string_view schema);
/// "ns::name" or "ns::name.overload"; null: there is none.
CustomOp *findCustomOp(std::string_view name);
CustomOp *findCustomOp(uint32_t id);
/// The name can be defined again; calls through old handles go on.
void removeCustomOp(CustomOp &op);
/// The registered names of a namespace, without it.
std::vector<std::string> customOpNames(std::string_view space);

/// Calls an op. Fewer values than arguments: the rest takes its defaults. Throws Error for values of wrong types (naming
/// op, argument, expected and given type), for a device without a kernel, and what the kernel throws.
CustomValues callCustomOp(CustomOp &op, CustomValues args);
/// The kernel alone, without gradients: for functions given to autograd().
CustomValues callCustomKernel(CustomOp &op, const CustomValues &args);

/// Runs f(tensor) for every tensor of a value.
template <class F> void eachTensor(const CustomValue &v, F f) {
  if (auto *t = std::get_if<Tensor>(&v); t && t->defined())
    f(*t);
  if (auto *list = std::get_if<std::vector<Tensor>>(&v))
    for (const Tensor &t : *list)
      if (t.defined())
        f(t);
}
template <class F> void eachTensor(const CustomValues &values, F f) {
  for (const CustomValue &v : values)
    eachTensor(v, f);
}

} // namespace torchc
