// Arguments of the generated functions: matched against a signature's table, checked by type, then converted one by one.
#pragma once
#include "frontends/pybind/PyTensor.h"

namespace torchc::py {

enum class ArgType : uint8_t {
  Tensor,
  OptTensor,
  Operand,
  Scalar,
  OptScalar,
  Int,
  OptInt,
  Float,
  OptFloat,
  Bool,
  OptBool,
  IntList,
  OptIntList,
  OptFloatList,
  DType,
  OptDType,
  OptDevice,
  Str,
  OptStr,
  TensorList,
  OptGenerator
};

struct Param {
  const char *name;
  ArgType type;
  bool hasDefault;
  bool varargs; // x.view(2, 3), meshgrid(x, y): takes all positional arguments that are left
};
struct Signature {
  const char *name;
  const char *text; // "(Tensor input, Operand other)", for messages
  const Param *params;
  uint8_t count, positional;
  bool method; // params[0] is self
  bool out; // `out=` too; its value is at [count]
};

/// Calls f(item) for each. Converting an item may run code that changes the list: the size is read again each time, and
/// the item is held.
template <class F> void eachItem(PyObject *list, F f) {
  Py_ssize_t n = PySequence_Fast_GET_SIZE(list);
  for (Py_ssize_t i = 0; i < n; i++) {
    if (PySequence_Fast_GET_SIZE(list) != n)
      raise(PyExc_RuntimeError, "the list changed size while it was read");
    f(Ref::borrow(PySequence_Fast_GET_ITEM(list, i)).get());
  }
}

/// A METH_FASTCALL | METH_KEYWORDS call.
struct Call {
  PyObject *self, *const *args;
  Py_ssize_t n;
  PyObject *kwnames;
};

inline constexpr int maxParams = 16;
struct Values {
  PyObject *v[maxParams]; // null: not given
  PyObject *const *varargs;
  Py_ssize_t numVarargs;
  PyObject *operator[](int i) const { return v[i]; }
};

/// Matches and checks, once no override takes the call; raises TypeError naming function, argument, expected type and what came.
void bind(const Signature &s, const Call &c, Values &out);
/// The same without a look at overrides.
void match(const Signature &s, const Call &c, Values &out);
/// The number of the first signature that fits; raises TypeError listing all.
int bindAny(const Signature *const *list, int count, const Call &c, Values &out);

// Conversions of checked values.
inline Borrowed tensorArg(PyObject *o) { return Borrowed(o); }
inline Borrowed optTensorArg(PyObject *o) { return Borrowed(o && o != Py_None ? o : nullptr); }
Scalar scalarArg(PyObject *o);
inline Operand operandArg(PyObject *o) { return isTensor(o) ? Operand(implOf(o)) : Operand(scalarArg(o)); }
int64_t intArg(PyObject *o);
double floatArg(PyObject *o);
bool boolArg(PyObject *o);
DType dtypeArg(PyObject *o);
DeviceId deviceArg(PyObject *o);
/// Of a function that makes tensors: without one, that of this thread's innermost `with device` or set_default_device.
inline std::optional<DeviceId> newDeviceArg(PyObject *o) {
  if (o && o != Py_None)
    return deviceArg(o);
  const ThreadModes &m = threadState.modes;
  if (TORCHC_LIKELY(!m.deviceKind))
    return std::nullopt;
  return DeviceId{DeviceKind(m.deviceKind), m.deviceIndex};
}
std::string_view strArg(PyObject *o);
inline OptGenerator generatorArg(PyObject *o) { return o && o != Py_None ? generatorOfObject(o) : OptGenerator(); }
template <auto convert> auto optional(PyObject *o) -> std::optional<decltype(convert(o))> {
  if (!o || o == Py_None)
    return std::nullopt;
  return convert(o);
}

/// A list of ints on the stack: of a sequence, of one int, or of the positional arguments from a `varargs` one on.
/// TypeError for more than 64, as no shape has them, unless `anyCount`.
class IntListArg {
public:
  IntListArg(const Values &values, int i, bool anyCount = false);
  operator IntList() const { return many.empty() ? IntList(buffer, n) : IntList(many); }
  /// Not a conversion: std::optional would rather hold an empty list.
  std::optional<IntList> optional() const {
    if (!given)
      return std::nullopt;
    return IntList(*this);
  }

private:
  void add(PyObject *item);
  int64_t buffer[maxRank];
  std::vector<int64_t> many; // all of them, once there are more
  bool anyCount;
  size_t n = 0;
  bool given = true;
};
class FloatListArg {
public:
  explicit FloatListArg(PyObject *o);
  operator std::optional<FloatList>() const {
    if (!given)
      return std::nullopt;
    return FloatList(values);
  }

private:
  std::vector<double> values;
  bool given;
};
/// Retains: a list may change while the op runs without the GIL.
std::vector<Tensor> tensorListArg(PyObject *o);
std::vector<Tensor> tensorListArg(const Values &values, int i);

inline int64_t workOf(PyObject *o) { return o && isTensor(o) ? implOf(o)->numel : 0; }

// Results.
inline PyObject *result(Tensor t) { return wrap(t.take()); }
inline PyObject *result(bool b) { return PyBool_FromLong(b); }
inline PyObject *result(int64_t v) { return PyLong_FromLongLong(v); }
inline PyObject *result(const Scalar &s) { return numberObject(s); }
inline PyObject *result(const std::vector<Tensor> &t) { return tupleOf(t); }
inline PyObject *result(const TensorOrList &t) {
  return std::holds_alternative<Tensor>(t) ? result(std::get<Tensor>(t)) : tupleOf(std::get<std::vector<Tensor>>(t));
}
inline PyObject *result(const std::vector<int64_t> &v) { return sizeObject(int(v.size()), v.data()); }
/// A named tuple `torchc.return_types.NAME`; `fields` are separated by spaces.
PyObject *namedResult(const char *name, const char *fields, std::initializer_list<TensorImpl *> owned);

} // namespace torchc::py
