#include "frontends/pybind/Args.h"
#include "frontends/autograd/Autograd.h"
#include "frontends/pybind/Overrides.h"

namespace torchc::py {
namespace {

const char *expected(ArgType t) {
  switch (t) {
  case ArgType::Tensor:
  case ArgType::OptTensor: return "Tensor";
  case ArgType::Operand: return "Tensor or number";
  case ArgType::Scalar:
  case ArgType::OptScalar: return "number";
  case ArgType::Int:
  case ArgType::OptInt: return "int";
  case ArgType::Float:
  case ArgType::OptFloat: return "float";
  case ArgType::Bool:
  case ArgType::OptBool: return "bool";
  case ArgType::IntList:
  case ArgType::OptIntList: return "tuple of ints";
  case ArgType::OptFloatList: return "tuple of floats";
  case ArgType::DType:
  case ArgType::OptDType: return "torchc.dtype";
  case ArgType::OptDevice: return "torchc.device";
  case ArgType::Str:
  case ArgType::OptStr: return "str";
  case ArgType::TensorList: return "tuple of Tensors";
  case ArgType::OptGenerator: return "Generator";
  }
  return "";
}

bool isOptional(ArgType t) {
  switch (t) {
  case ArgType::OptTensor:
  case ArgType::OptScalar:
  case ArgType::OptInt:
  case ArgType::OptFloat:
  case ArgType::OptBool:
  case ArgType::OptIntList:
  case ArgType::OptFloatList:
  case ArgType::OptDType:
  case ArgType::OptDevice:
  case ArgType::OptStr:
  case ArgType::OptGenerator: return true;
  default: return false;
  }
}

/// May stand for a number: no dimensions, and no history that reading it would cut.
bool isTensorNumber(PyObject *o) { return isTensor(o) && !implOf(o)->rank && !requiresGrad(implOf(o)); }
bool isTensorInt(PyObject *o) { return isTensorNumber(o) && isIntegral(implOf(o)->dtype); }
bool isPlainInt(PyObject *o) {
  return PyLong_Check(o) ? !PyBool_Check(o) : !isTensor(o) && PyIndex_Check(o) && !PyBool_Check(o);
}
bool isBool(PyObject *o) {
  if (PyBool_Check(o))
    return true;
  std::string_view name = Py_TYPE(o)->tp_name;
  return name == "numpy.bool_" || name == "numpy.bool";
}
bool isSequence(PyObject *o) { return PyTuple_Check(o) || PyList_Check(o); }

bool isIntSequence(PyObject *o, bool lenient) {
  if (!isSequence(o))
    return false;
  Py_ssize_t n = PySequence_Fast_GET_SIZE(o);
  for (Py_ssize_t i = 0; i < n; i++) {
    PyObject *x = PySequence_Fast_GET_ITEM(o, i);
    if (!isPlainInt(x) && !(lenient && isTensorInt(x)))
      return false;
  }
  return true;
}

/// `lenient`: a 0-d tensor may stand for a number; tried after all overloads that take it as a tensor.
bool accepts(ArgType t, PyObject *o, bool lenient) {
  if (o == Py_None && isOptional(t))
    return true;
  switch (t) {
  case ArgType::Tensor:
  case ArgType::OptTensor: return isTensor(o);
  case ArgType::Operand: return isTensor(o) || isNumber(o);
  case ArgType::Scalar:
  case ArgType::OptScalar: return isNumber(o) || (lenient && isTensorNumber(o));
  case ArgType::Int:
  case ArgType::OptInt: return isPlainInt(o) || (lenient && isTensorInt(o));
  case ArgType::Float:
  case ArgType::OptFloat: return (isNumber(o) && !PyComplex_Check(o)) || (lenient && isTensorNumber(o));
  case ArgType::Bool:
  case ArgType::OptBool: return isBool(o);
  case ArgType::IntList:
  case ArgType::OptIntList: return isPlainInt(o) || isIntSequence(o, lenient) || (lenient && isTensorInt(o));
  case ArgType::OptFloatList:
    return isNumber(o) || (isSequence(o) && (!PySequence_Fast_GET_SIZE(o) || isNumber(PySequence_Fast_GET_ITEM(o, 0))));
  case ArgType::DType:
  case ArgType::OptDType:
    return isDType(o) || o == reinterpret_cast<PyObject *>(&PyFloat_Type) ||
           o == reinterpret_cast<PyObject *>(&PyLong_Type) || o == reinterpret_cast<PyObject *>(&PyBool_Type);
  case ArgType::OptDevice: return isDevice(o) || PyUnicode_Check(o) || isPlainInt(o);
  case ArgType::Str:
  case ArgType::OptStr: return PyUnicode_Check(o);
  case ArgType::TensorList:
    if (!isSequence(o))
      return false;
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(o); i++)
      if (!isTensor(PySequence_Fast_GET_ITEM(o, i)))
        return false;
    return true;
  case ArgType::OptGenerator: return Py_TYPE(o) == generatorType;
  }
  return false;
}

/// Names that NumPy's users write for PyTorch's.
std::string_view alias(std::string_view name) {
  if (name == "axis")
    return "dim";
  if (name == "keepdims")
    return "keepdim";
  if (name == "x")
    return "input";
  if (name == "x2")
    return "other";
  if (name == "value") // scatter(value=1.0)
    return "src";
  if (name == "tensor") // torch.split(tensor, split_size_or_sections)
    return "input";
  return name == "split_size_or_sections" ? "split_size" : name;
}

std::string_view text(PyObject *s) {
  Py_ssize_t n;
  const char *p = PyUnicode_AsUTF8AndSize(s, &n);
  if (!p)
    throw PythonError();
  return {p, size_t(n)};
}

/// Arguments that choose among layouts of which torchc has one: their defaults change nothing.
bool isInert(std::string_view key, PyObject *value) {
  if (key != "pin_memory" && key != "layout" && key != "memory_format")
    return false;
  return value == Py_None || value == Py_False || isDefaultLayout(value);
}

int keywordIndex(const Signature &s, std::string_view key) {
  if (s.out && key == "out")
    return s.count;
  for (int i = s.method; i < s.count; i++)
    if (key == s.params[i].name)
      return i;
  std::string_view other = alias(key);
  if (other != key)
    return keywordIndex(s, other);
  return -1;
}

struct Mismatch {
  enum Kind : uint8_t { None, TooMany, Type, Unexpected, Twice, Missing, ListItem } kind = None;
  int param = 0, position = 0;
  PyObject *got = nullptr;
  std::string_view key;
};

/// Where varargs begin at positional argument `i` of the call.
bool beginsVarargs(const Param &p, PyObject *arg) {
  return p.varargs && (p.type == ArgType::TensorList ? isTensor(arg) : isPlainInt(arg) || isTensorInt(arg));
}

bool acceptVarargs(const Param &p, const Call &c, Py_ssize_t from, Mismatch &bad) {
  auto fits = [&](PyObject *o) {
    return p.type == ArgType::TensorList ? isTensor(o) : isPlainInt(o) || isTensorInt(o);
  };
  for (Py_ssize_t i = from; i < c.n; i++)
    if (!fits(c.args[i])) {
      bad.kind = Mismatch::ListItem;
      bad.position = int(i - from);
      bad.got = c.args[i];
      return false;
    }
  return true;
}

bool bindPositional(const Signature &s, const Call &c, Values &out, bool lenient, Mismatch &bad) {
  int at = s.method;
  if (s.method)
    out.v[0] = c.self;
  for (Py_ssize_t i = 0; i < c.n; i++, at++) {
    if (at >= s.positional) {
      bad.kind = Mismatch::TooMany;
      return false;
    }
    const Param &p = s.params[at];
    if (beginsVarargs(p, c.args[i])) {
      out.varargs = c.args + i;
      out.numVarargs = c.n - i;
      out.v[at] = c.args[i];
      bad.param = at;
      return acceptVarargs(p, c, i, bad);
    }
    if (!accepts(p.type, c.args[i], lenient)) {
      bad = {Mismatch::Type, at, int(i) + 1, c.args[i], {}};
      return false;
    }
    out.v[at] = c.args[i];
  }
  return true;
}

bool bindKeywords(const Signature &s, const Call &c, Values &out, bool lenient, Mismatch &bad) {
  Py_ssize_t count = c.kwnames ? PyTuple_GET_SIZE(c.kwnames) : 0;
  for (Py_ssize_t k = 0; k < count; k++) {
    std::string_view key = text(PyTuple_GET_ITEM(c.kwnames, k));
    PyObject *value = c.args[c.n + k];
    int i = keywordIndex(s, key);
    if (i < 0 && isInert(key, value))
      continue;
    if (i < 0 || out.v[i]) {
      bad = {i < 0 ? Mismatch::Unexpected : Mismatch::Twice, i, 0, value, key};
      return false;
    }
    bool fits = i == s.count ? isTensor(value) || value == Py_None : accepts(s.params[i].type, value, lenient);
    if (!fits) {
      bad = {Mismatch::Type, i, 0, value, key};
      return false;
    }
    out.v[i] = i == s.count && value == Py_None ? nullptr : value;
  }
  return true;
}

bool tryBind(const Signature &s, const Call &c, Values &out, bool lenient, Mismatch &bad) {
  for (int i = 0; i <= s.count; i++)
    out.v[i] = nullptr;
  out.varargs = nullptr;
  out.numVarargs = 0;
  if (!bindPositional(s, c, out, lenient, bad) || (c.kwnames && !bindKeywords(s, c, out, lenient, bad)))
    return false;
  for (int i = 0; i < s.count; i++)
    if (!out.v[i] && !s.params[i].hasDefault) {
      bad.kind = Mismatch::Missing;
      bad.param = i;
      return false;
    }
  return true;
}

std::string quoted(std::string_view name) { return "'" + std::string(name) + "'"; }

[[noreturn]] void reportMissing(const Signature &s, const Values &v) {
  std::string names;
  int count = 0;
  for (int i = 0; i < s.count; i++)
    if (!v.v[i] && !s.params[i].hasDefault) {
      names += (count++ ? ", \"" : "\"") + std::string(s.params[i].name) + "\"";
    }
  typeError(std::string(s.name) + "() missing " + std::to_string(count) + " required positional argument" +
            (count > 1 ? "s: " : ": ") + names);
}

[[noreturn]] void report(const Signature &s, const Call &c, const Values &v, const Mismatch &bad) {
  std::string name = std::string(s.name) + "()";
  switch (bad.kind) {
  case Mismatch::TooMany:
    typeError(name + " takes " + std::to_string(s.positional - s.method) + " positional argument" +
              (s.positional - s.method == 1 ? "" : "s") + " but " + std::to_string(c.n) +
              (c.n == 1 ? " was" : " were") + " given");
  case Mismatch::Unexpected: typeError(name + " got an unexpected keyword argument " + quoted(bad.key));
  case Mismatch::Twice: typeError(name + " got multiple values for argument " + quoted(bad.key));
  case Mismatch::Missing: reportMissing(s, v);
  case Mismatch::ListItem:
    typeError(name + ": argument " + quoted(s.params[bad.param].name) + " failed to unpack the object at pos " +
              std::to_string(bad.position + 1) + ": expected " +
              (s.params[bad.param].type == ArgType::TensorList ? "Tensor" : "int") + ", got " + typeName(bad.got));
  default: break;
  }
  bool out = bad.param == s.count;
  typeError(name + ": argument " + quoted(out ? "out" : s.params[bad.param].name) +
            (bad.position ? " (position " + std::to_string(bad.position) + ")" : "") + " must be " +
            (out ? "Tensor" : expected(s.params[bad.param].type)) + ", not " + typeName(bad.got));
}

std::string callText(const Call &c) {
  std::string out = "(";
  Py_ssize_t count = c.kwnames ? PyTuple_GET_SIZE(c.kwnames) : 0;
  for (Py_ssize_t i = 0; i < c.n + count; i++) {
    out += i ? ", " : "";
    if (i >= c.n)
      out += std::string(text(PyTuple_GET_ITEM(c.kwnames, i - c.n))) + "=";
    out += typeName(c.args[i]);
  }
  return out + ")";
}

/// Accepted without a closer look: what most calls pass.
inline bool acceptsPlain(ArgType t, PyObject *o) {
  switch (t) {
  case ArgType::Tensor:
  case ArgType::OptTensor: return isExactTensor(o);
  case ArgType::Operand: return isExactTensor(o) || PyFloat_CheckExact(o) || PyLong_CheckExact(o);
  case ArgType::Scalar: return PyFloat_CheckExact(o) || PyLong_CheckExact(o);
  case ArgType::Int: return PyLong_CheckExact(o);
  case ArgType::Bool: return PyBool_Check(o);
  default: return false;
  }
}

/// The plain case of tryBind: positional arguments of exact types.
inline bool bindPlain(const Signature &s, const Call &c, Values &out) {
  int at = s.method;
  if (c.kwnames || at + c.n > s.positional || functionModeActive() || (s.method && !isExactTensor(c.self)))
    return false;
  out.v[0] = c.self;
  for (Py_ssize_t i = 0; i < c.n; i++, at++) {
    if (!acceptsPlain(s.params[at].type, c.args[i]))
      return false;
    out.v[at] = c.args[i];
  }
  out.varargs = nullptr;
  out.numVarargs = 0;
  for (; at < s.count; at++) {
    if (!s.params[at].hasDefault)
      return false;
    out.v[at] = nullptr;
  }
  out.v[at] = nullptr;
  return true;
}

} // namespace

/// Overrides come before anything is checked. A module function's `self` is its module.
static void askOverrides(const Signature &s, const Call &c) {
  overrideBound(s.method ? reinterpret_cast<PyObject *>(tensorType) : c.self, s.name,
                {s.method ? c.self : nullptr, c.args, c.n, c.kwnames});
}

void bind(const Signature &s, const Call &c, Values &out) {
  if (TORCHC_LIKELY(bindPlain(s, c, out)))
    return;
  askOverrides(s, c);
  match(s, c, out);
}
void match(const Signature &s, const Call &c, Values &out) {
  Mismatch bad;
  if (TORCHC_UNLIKELY(!tryBind(s, c, out, true, bad)))
    report(s, c, out, bad);
}

int bindAny(const Signature *const *list, int count, const Call &c, Values &out) {
  askOverrides(*list[0], c);
  for (bool lenient : {false, true})
    for (int i = 0; i < count; i++)
      if (Mismatch bad; tryBind(*list[i], c, out, lenient, bad))
        return i;
  std::string message = std::string(list[0]->name) + "() received an invalid combination of arguments - got " +
                        callText(c) + ", but expected one of:";
  for (int i = 0; i < count; i++)
    message += std::string("\n * ") + list[i]->text;
  typeError(message);
}

Scalar scalarArg(PyObject *o) {
  Scalar s;
  if (!scalarOf(o, s))
    typeError("expected a number, got " + typeName(o));
  return s;
}
int64_t intArg(PyObject *o) {
  Ref index(check(PyNumber_Index(o)));
  int64_t v = PyLong_AsLongLong(index.get());
  if (v == -1 && PyErr_Occurred())
    throw PythonError();
  return v;
}
double floatArg(PyObject *o) {
  double v = PyFloat_AsDouble(o);
  if (v == -1 && PyErr_Occurred())
    throw PythonError();
  return v;
}
bool boolArg(PyObject *o) {
  int v = PyObject_IsTrue(o);
  if (v < 0)
    throw PythonError();
  return v;
}
DType dtypeArg(PyObject *o) {
  if (isDType(o))
    return dtypeOfObject(o);
  if (o == reinterpret_cast<PyObject *>(&PyFloat_Type))
    return DType::F64;
  return o == reinterpret_cast<PyObject *>(&PyLong_Type) ? DType::I64 : DType::Bool;
}
DeviceId deviceArg(PyObject *o) {
  if (isDevice(o))
    return deviceOfObject(o);
  if (!PyUnicode_Check(o))
    return {DeviceKind::Cuda, int8_t(intArg(o))};
  DeviceId d;
  Diag diag;
  if (!parseDevice(text(o), d, diag))
    fail(diag);
  return d;
}
std::string_view strArg(PyObject *o) { return text(o); }

void IntListArg::add(PyObject *item) {
  int64_t v = intArg(item);
  if (n < size_t(maxRank)) {
    buffer[n++] = v;
    return;
  }
  if (!anyCount)
    typeError("expected at most 64 integers");
  if (many.empty())
    many.assign(buffer, buffer + n);
  many.push_back(v);
}
IntListArg::IntListArg(const Values &values, int i, bool anyCount) : anyCount(anyCount) {
  PyObject *o = values[i];
  if (!o || o == Py_None)
    given = false;
  else if (values.varargs)
    for (Py_ssize_t k = 0; k < values.numVarargs; k++)
      add(values.varargs[k]);
  else if (PyTuple_Check(o) || PyList_Check(o))
    for (Py_ssize_t k = 0; k < PySequence_Fast_GET_SIZE(o); k++) // __index__ may change the list
      add(Ref::borrow(PySequence_Fast_GET_ITEM(o, k)).get());
  else
    add(o);
}
FloatListArg::FloatListArg(PyObject *o) : given(o && o != Py_None) {
  if (given && !isSequence(o)) {
    values.push_back(floatArg(o));
    return;
  }
  for (Py_ssize_t k = 0; given && k < PySequence_Fast_GET_SIZE(o); k++)
    values.push_back(floatArg(Ref::borrow(PySequence_Fast_GET_ITEM(o, k)).get()));
}

std::vector<Tensor> tensorListArg(PyObject *o) {
  std::vector<Tensor> out;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(o); i++) {
    PyObject *item = PySequence_Fast_GET_ITEM(o, i);
    if (!isTensor(item)) // another argument's conversion changed the list
      typeError("expected a list of Tensors, got " + typeName(item) + " at pos " + std::to_string(i + 1));
    out.push_back(Tensor::borrow(implOf(item)));
  }
  return out;
}
std::vector<Tensor> tensorListArg(const Values &values, int i) {
  if (!values.varargs)
    return tensorListArg(values[i]);
  std::vector<Tensor> out;
  for (Py_ssize_t k = 0; k < values.numVarargs; k++)
    out.push_back(Tensor::borrow(implOf(values.varargs[k])));
  return out;
}

} // namespace torchc::py
