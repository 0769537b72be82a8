// x[...] and x[...] = v: Python subscripts become the items of frontends/eager/Index.h. Python's rules for bool, ints
// and sequences live here, the meaning there.
#include "frontends/eager/Index.h"
#include "frontends/pybind/Args.h"
#include "frontends/pybind/Conversions.h"
#include "frontends/pybind/Operators.h"

namespace torchc::py {
namespace {

std::optional<int64_t> sliceBound(PyObject *o) {
  if (o == Py_None)
    return std::nullopt;
  if (isTensor(o))
    return item(Borrowed(o)).toInt();
  // Python's slices clamp what doesn't fit.
  Py_ssize_t v;
  if (!_PyEval_SliceIndex(o, &v))
    throw PythonError();
  return int64_t(v);
}

IndexItem sliceItem(PyObject *o) {
  auto *s = reinterpret_cast<PySliceObject *>(o);
  std::optional<int64_t> step = sliceBound(s->step);
  if (step && *step <= 0)
    raise(PyExc_ValueError, "step must be greater than zero");
  return IndexItem::slice(sliceBound(s->start), sliceBound(s->stop), step);
}

[[noreturn]] void badIndex(PyObject *o) {
  raise(PyUnicode_Check(o) ? PyExc_TypeError : PyExc_IndexError,
        "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid "
        "indices (got " +
            typeName(o) + ")");
}

IndexItem itemOf(PyObject *o) {
  if (PyLong_CheckExact(o))
    return IndexItem::integer(intArg(o));
  if (PySlice_Check(o))
    return sliceItem(o);
  if (o == Py_Ellipsis)
    return IndexItem::ellipsis();
  if (o == Py_None)
    return IndexItem::newAxis();
  if (isTensor(o)) {
    TensorImpl *t = implOf(o);
    // PyTorch reads uint8 as a mask.
    if (t->dtype == DType::U8)
      return IndexItem::of(to(Borrowed(o), DType::Bool));
    if (t->rank == 0 && isIntegral(t->dtype))
      return IndexItem::integer(item(Borrowed(o)).toInt());
    if (t->dtype != DType::I64 && t->dtype != DType::I32 && t->dtype != DType::Bool)
      raise(PyExc_IndexError, "tensors used as indices must be long, int, byte or bool tensors");
    return IndexItem::of(Tensor::borrow(t));
  }
  if (PyBool_Check(o))
    return IndexItem::of(full(IntList(), o == Py_True));
  if (PyList_Check(o) || PyTuple_Check(o) || hasBuffer(o)) {
    if (PyIndex_Check(o) && !PyObject_HasAttrString(o, "__len__"))
      return IndexItem::integer(intArg(o));
    Tensor t = tensorFromData(o, std::nullopt);
    if (t->numel == 0 && !hasBuffer(o))
      t = to(t, DType::I64);
    if (t->rank == 0 && isIntegral(t->dtype))
      return IndexItem::integer(item(t).toInt());
    if (!isIntegral(t->dtype) && t->dtype != DType::Bool)
      badIndex(o);
    return IndexItem::of(std::move(t));
  }
  if (PyIndex_Check(o))
    return IndexItem::integer(intArg(o));
  if (PySequence_Check(o) && !PyUnicode_Check(o) && !PyBytes_Check(o)) {
    Ref list(check(PySequence_List(o)));
    return itemOf(list.get());
  }
  badIndex(o);
}

/// A list is an index tensor, unless it is short and holds what only a tuple may: PyTorch's rule.
bool isTupleLike(PyObject *key) {
  if (PyTuple_Check(key))
    return true;
  if (!PyList_Check(key) || PyList_GET_SIZE(key) >= 32)
    return false;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(key); i++) {
    PyObject *o = PyList_GET_ITEM(key, i);
    if (o == Py_None || o == Py_Ellipsis || PySlice_Check(o) || isTensor(o) || PyList_Check(o) || PyTuple_Check(o))
      return true;
  }
  return false;
}

std::vector<IndexItem> itemsOf(PyObject *key) {
  std::vector<IndexItem> items;
  if (!isTupleLike(key)) {
    items.push_back(itemOf(key));
    return items;
  }
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(key); i++)
    items.push_back(itemOf(Ref::borrow(PySequence_Fast_GET_ITEM(key, i)).get())); // may change the list
  return items;
}

} // namespace

PyObject *subscript(PyObject *self, PyObject *key) {
  return guarded([&]() -> PyObject * {
    if (TORCHC_LIKELY(PyLong_CheckExact(key))) {
      if (!implOf(self)->rank)
        raise(PyExc_IndexError, "invalid index of a 0-dim tensor. Use `tensor.item()` in Python to convert a 0-dim "
                                "tensor to a number");
      return wrap(select(Borrowed(self), 0, intArg(key)));
    }
    std::vector<IndexItem> items = itemsOf(key);
    return wrap(withWork(implOf(self)->numel, [&] { return applyIndex(Borrowed(self), items); }));
  });
}

int assignSubscript(PyObject *self, PyObject *key, PyObject *value) {
  return guarded(
      [&] {
        if (!value)
          typeError("Tensor does not support deleting items");
        if (!isTensor(value) && (!isNumber(value) || isArray(value)))
          typeError("can't assign a " + typeName(value) + " to a torchc.Tensor; expected a Tensor or a number");
        std::vector<IndexItem> items = itemsOf(key);
        Operand v = operandArg(value);
        withWork(implOf(self)->numel, [&] {
          assignIndex(Borrowed(self), items, v);
          return 0;
        });
        return 0;
      },
      -1);
}

} // namespace torchc::py
