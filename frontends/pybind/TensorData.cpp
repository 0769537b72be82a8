// torchc.tensor(): numbers, nested sequences, buffers and tensors as new leaves; and tolist().
#include "frontends/autograd/Autograd.h"
#include "frontends/eager/Index.h"
#include "frontends/eager/Modes.h"
#include "frontends/pybind/Args.h"
#include "frontends/pybind/Conversions.h"
#include "frontends/pybind/Operators.h"

namespace torchc::py {
namespace {

bool isSequence(PyObject *o) {
  return PyList_Check(o) || PyTuple_Check(o) ||
         (PySequence_Check(o) && !PyUnicode_Check(o) && !PyBytes_Check(o) && !isTensor(o) && !PyDict_Check(o));
}

[[noreturn]] void notInferable(PyObject *o) {
  if (PyUnicode_Check(o))
    typeError("new(): invalid data type 'str'");
  fail("Could not infer dtype of " + typeName(o));
}

[[noreturn]] void tooDeep(PyObject *o) {
  raise(PyExc_ValueError, "too many dimensions '" + typeName(o) + "': expected at most 64 levels of nesting");
}

/// The dtype that PyTorch infers: floats are the default type, ints int64; nested sequences promote. `level`: how many
/// sequences `o` lies in; a list that contains itself has no end.
DType inferType(PyObject *o, int level = 0) {
  if (PyFloat_Check(o))
    return defaultDType();
  if (PyBool_Check(o))
    return DType::Bool;
  if (PyLong_Check(o))
    return DType::I64;
  if (PyComplex_Check(o))
    return complexType(defaultDType());
  if (isTensor(o))
    return implOf(o)->dtype;
  if (hasBuffer(o))
    return tensorOfBuffer(o, false)->dtype;
  if (isSequence(o)) {
    if (level == maxRank)
      tooDeep(o);
    Ref items(check(PySequence_Fast(o, "expected a sequence")));
    std::optional<DType> t;
    eachItem(items.get(), [&](PyObject *item) {
      DType next = inferType(item, level + 1);
      t = t && *t != next ? commonType(*t, next) : next;
    });
    return t.value_or(defaultDType());
  }
  if (isNumber(o)) {
    Scalar s;
    scalarOf(o, s);
    return typeOfNumber(s);
  }
  notInferable(o);
}

/// Sizes by the first item at each level.
void measure(PyObject *o, Dims &dims) {
  if (isTensor(o)) {
    if (dims.size() + implOf(o)->rank > maxRank)
      tooDeep(o);
    for (int64_t d : implOf(o)->dims())
      dims.push(d);
    return;
  }
  if (isNumber(o) || !isSequence(o))
    return;
  if (dims.size() == maxRank)
    tooDeep(o);
  Py_ssize_t n = PySequence_Size(o);
  if (n < 0)
    throw PythonError();
  dims.push(n);
  if (n) {
    Ref first(check(PySequence_GetItem(o, 0)));
    measure(first.get(), dims);
  }
}

/// uint64 takes no floats and no negative integers, as in PyTorch; narrower unsigned types wrap the latter.
int64_t integerFor(DType t, PyObject *o) {
  Scalar s;
  if (!scalarOf(o, s))
    typeError("expected a number, got " + typeName(o));
  if (t == DType::U64 && s.isFloat())
    typeError("expected an integer for uint64, got " + typeName(o));
  if (t == DType::U64 && !s.isWide() && s.toInt() < 0)
    raise(PyExc_OverflowError, "can't convert negative int to unsigned: " + std::to_string(s.toInt()));
  if (t == DType::U64)
    return int64_t(s.toUnsigned());
  if (t == DType::I64 && s.isWide())
    raise(PyExc_ValueError, "overflow: int64 can't hold " + std::to_string(s.bits()));
  int64_t limit = int64_t(largestInteger(t)), low = isUnsigned(t) ? -limit : -limit - 1;
  bool fits = !s.isWide() && s.toInt() <= limit && s.toInt() >= low;
  if (!fits || (isUnsigned(t) && s.isFloat() && !(s.toDouble() >= 0)))
    fail("value cannot be converted to type " + std::string(torchName(t)) + " without overflow");
  return s.toInt();
}

void storeComplex(char *p, DType t, PyObject *o) {
  Py_complex c = PyComplex_AsCComplex(o);
  if (c.real == -1 && PyErr_Occurred())
    throw PythonError();
  if (t == DType::C64) {
    auto *f = reinterpret_cast<float *>(p);
    f[0] = float(c.real);
    f[1] = float(c.imag);
  } else {
    auto *d = reinterpret_cast<double *>(p);
    d[0] = c.real;
    d[1] = c.imag;
  }
}

void store(char *p, DType t, PyObject *o) {
  if (isComplex(t))
    return storeComplex(p, t, o);
  if (t == DType::F32 || t == DType::F64) {
    Scalar s;
    if (!PyFloat_CheckExact(o) && !scalarOf(o, s))
      typeError("must be real number, not " + typeName(o));
    double v = PyFloat_CheckExact(o) ? PyFloat_AS_DOUBLE(o) : s.toDouble();
    if (t == DType::F32)
      *reinterpret_cast<float *>(p) = float(v);
    else
      *reinterpret_cast<double *>(p) = v;
    return;
  }
  if (t == DType::Bool) {
    Scalar s;
    if (!scalarOf(o, s))
      typeError("expected a number, got " + typeName(o));
    *p = s.toBool();
    return;
  }
  int64_t v = integerFor(t, o);
  std::memcpy(p, &v, size_t(itemSize(t))); // little-endian
}

struct Filler {
  TensorImpl *t;
  const Dims &dims;
  char *p;

  void fill(PyObject *o, int level) {
    if (level == dims.size()) {
      if (!isNumber(o) && !isTensor(o)) {
        if (isSequence(o))
          raise(PyExc_ValueError, "expected a number at dim " + std::to_string(level) + ", got " + typeName(o));
        typeError("expected a number, got " + typeName(o));
      }
      store(p, t->dtype, o);
      p += itemSize(t->dtype);
      return;
    }
    if (isTensor(o) && implOf(o)->rank)
      return fillFrom(toList(Borrowed(o)), level);
    if (!isSequence(o))
      typeError("not a sequence: expected a sequence at dim " + std::to_string(level) + ", got " + typeName(o));
    Ref items(check(PySequence_Fast(o, "expected a sequence")));
    Py_ssize_t n = PySequence_Fast_GET_SIZE(items.get());
    if (n != dims[level])
      raise(PyExc_ValueError, "expected sequence of length " + std::to_string(dims[level]) + " at dim " +
                                  std::to_string(level) + " (got " + std::to_string(n) + ")");
    eachItem(items.get(), [&](PyObject *item) { fill(item, level + 1); });
  }
  void fillFrom(PyObject *list, int level) {
    Ref l(check(list));
    fill(l.get(), level);
  }
};

Tensor fromSequence(PyObject *data, DType dtype) {
  Dims dims;
  measure(data, dims);
  // float8, float16 and bfloat16 are rounded from float32 by our own cast.
  Tensor t(newTensor(readType(dtype), dims));
  Filler f{t.impl(), dims, t->data};
  f.fill(data, 0);
  return t;
}

PyObject *listLevel(TensorImpl *t, const char *p, int level) {
  if (level == t->rank) {
    switch (t->dtype) {
    case DType::Bool: return PyBool_FromLong(*p);
    case DType::U8: return PyLong_FromLong(*reinterpret_cast<const uint8_t *>(p));
    case DType::I8: return PyLong_FromLong(*reinterpret_cast<const int8_t *>(p));
    case DType::I16: return PyLong_FromLong(*reinterpret_cast<const int16_t *>(p));
    case DType::I32: return PyLong_FromLong(*reinterpret_cast<const int32_t *>(p));
    case DType::I64: return PyLong_FromLongLong(*reinterpret_cast<const int64_t *>(p));
    case DType::U16: return PyLong_FromLong(*reinterpret_cast<const uint16_t *>(p));
    case DType::U32: return PyLong_FromLongLong(*reinterpret_cast<const uint32_t *>(p));
    case DType::U64: return PyLong_FromUnsignedLongLong(*reinterpret_cast<const uint64_t *>(p));
    case DType::F32: return PyFloat_FromDouble(*reinterpret_cast<const float *>(p));
    case DType::F64: return PyFloat_FromDouble(*reinterpret_cast<const double *>(p));
    case DType::C64: {
      auto *c = reinterpret_cast<const float *>(p);
      return PyComplex_FromDoubles(c[0], c[1]);
    }
    case DType::C128: {
      auto *c = reinterpret_cast<const double *>(p);
      return PyComplex_FromDoubles(c[0], c[1]);
    }
    default: return nullptr;
    }
  }
  int64_t n = t->sizes()[level], stride = t->strides()[level] * itemSize(t->dtype);
  Ref list(PyList_New(n));
  for (int64_t i = 0; list && i < n; i++) {
    PyObject *item = listLevel(t, p + i * stride, level + 1);
    if (!item)
      return nullptr;
    PyList_SET_ITEM(list.get(), i, item);
  }
  return list.take();
}

} // namespace

PyObject *toList(const Tensor &x) {
  if (x->device == uint8_t(DeviceKind::Cuda)) {
    InternalGuard quiet;
    return toList(to(x, std::nullopt, DeviceId{}));
  }
  if (x->device)
    fail(ErrorKind::NotImplemented, "tolist(): a tensor on device meta has no values");
  observe(x.impl());
  Tensor t = x;
  if (readType(t->dtype) != t->dtype) {
    InternalGuard quiet;
    t = to(t, readType(t->dtype));
  }
  return check(listLevel(t.impl(), t->data, 0));
}

Tensor tensorFromData(PyObject *data, std::optional<DType> dtype) {
  Tensor t;
  // What is made from data is a new leaf, whatever modes are on: a tracer sees it as a captured tensor.
  InternalGuard quiet;
  if (isTensor(data)) {
    observe(implOf(data));
    t = clone(detachTensor(Borrowed(data)));
  } else if (hasBuffer(data)) {
    PyObject *source = data;
    Ref copied;
    try {
      t = clone(tensorOfBuffer(source, false));
    } catch (PythonError &e) {
      // Negative strides: NumPy's own copy has none.
      if (!PyObject_HasAttrString(data, "copy"))
        throw;
      copied = Ref(check(PyObject_CallMethod(data, "copy", nullptr)));
      t = clone(tensorOfBuffer(copied.get(), false));
    }
  } else if (!PyList_Check(data) && PyObject_HasAttrString(data, "toarray")) // rows of SciPy's matrices are matrices
    typeError("can't convert " + typeName(data) + " to a tensor: it is sparse (its toarray() is an array)");
  else
    t = fromSequence(data, dtype ? *dtype : inferType(data));
  if (!isTensor(data) && hasBuffer(data))
    t = contiguous(t);
  DType want = dtype.value_or(t->dtype);
  if (!dtype && !isTensor(data) && !hasBuffer(data))
    want = inferType(data);
  return want == t->dtype ? t : to(t, want);
}

} // namespace torchc::py
