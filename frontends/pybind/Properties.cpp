// Tensor's attributes.
#include "frontends/autograd/Autograd.h"
#include "frontends/autograd/Views.h"
#include "frontends/pybind/Args.h"
#include "frontends/pybind/AutogradObjects.h"

namespace torchc::py {
namespace {

PyObject *getShape(PyObject *o, void *) { return sizeObject(implOf(o)->rank, implOf(o)->sizes()); }
PyObject *getDType(PyObject *o, void *) { return dtypeObject(implOf(o)->dtype); }
/// What _make_wrapper_subclass was told; the tensor itself has no memory. Borrowed, null: a tensor like others.
PyObject *declaredDevice(PyObject *o) {
  TensorImpl *t = implOf(o);
  bool wrapper = (t->flags & FlagSubclass) && t->dict;
  return wrapper ? PyDict_GetItemString(static_cast<PyObject *>(t->dict), "_wrapper_device") : nullptr;
}
PyObject *getDevice(PyObject *o, void *) {
  if (PyObject *d = declaredDevice(o))
    return Py_NewRef(d);
  DeviceId d = Borrowed(o)->device();
  return deviceObject(d.kind == DeviceKind::Cuda ? d : DeviceId{d.kind, -1});
}
DeviceKind deviceKindOf(PyObject *o) {
  PyObject *d = declaredDevice(o);
  return d ? deviceOfObject(d).kind : DeviceKind(implOf(o)->device);
}
PyObject *getRank(PyObject *o, void *) { return PyLong_FromLong(implOf(o)->rank); }
PyObject *getItemSize(PyObject *o, void *) { return PyLong_FromLongLong(itemSize(implOf(o)->dtype)); }
PyObject *getBytes(PyObject *o, void *) {
  // An expanded tensor may count more bytes than 64 bits hold.
  Ref elements(PyLong_FromLongLong(implOf(o)->numel)), each(getItemSize(o, nullptr));
  return elements && each ? PyNumber_Multiply(elements.get(), each.get()) : nullptr;
}
PyObject *getVersion(PyObject *o, void *) {
  return guarded([&] {
    if (implOf(o)->flags & FlagInferenceTensor)
      fail("Inference tensors do not track version counter.");
    return PyLong_FromUnsignedLong(implOf(o)->version());
  });
}

PyObject *getRequiresGrad(PyObject *o, void *) {
  return guarded([&] { return PyBool_FromLong(requiresGrad(implOf(o))); });
}
int setRequiresGradProperty(PyObject *o, PyObject *value, void *) {
  return guarded(
      [&] {
        if (!value || !PyBool_Check(value))
          fail("requires_grad must be a bool, got " + (value ? typeName(value) : "nothing"));
        setRequiresGrad(implOf(o), value == Py_True);
        return 0;
      },
      -1);
}
PyObject *getIsLeaf(PyObject *o, void *) {
  return guarded([&] { return PyBool_FromLong(isLeaf(implOf(o))); });
}
PyObject *getRetainsGrad(PyObject *o, void *) {
  return guarded([&] { return PyBool_FromLong(retainsGrad(implOf(o))); });
}
PyObject *getGrad(PyObject *o, void *) {
  return guarded([&] { return wrapOptional(gradOf(implOf(o))); });
}
int setGradProperty(PyObject *o, PyObject *value, void *) {
  return guarded(
      [&] {
        if (value && value != Py_None && !isTensor(value))
          typeError("assigned grad expected to be a Tensor or None but got grad of type " + typeName(value));
        setGrad(implOf(o), value && value != Py_None ? Tensor::borrow(implOf(value)) : Tensor());
        return 0;
      },
      -1);
}
PyObject *getGradFn(PyObject *o, void *) {
  return guarded([&]() -> PyObject * {
    Node *n = gradFn(implOf(o));
    if (!n)
      Py_RETURN_NONE;
    return nodeObject(n);
  });
}
PyObject *getData(PyObject *o, void *) {
  return guarded([&] { return wrap(dataOf(Borrowed(o))); });
}
int setDataProperty(PyObject *o, PyObject *value, void *) {
  return guarded(
      [&] {
        if (!value || !isTensor(value))
          typeError("Variable data has to be a tensor, but got " + (value ? typeName(value) : "nothing"));
        setData(implOf(o), Borrowed(value));
        return 0;
      },
      -1);
}
PyObject *getBase(PyObject *o, void *) {
  ViewInfo *v = implOf(o)->view;
  if (!v || !v->base || (v->base->flags & flagHiddenBase))
    Py_RETURN_NONE;
  return wrap(retain(v->base));
}
PyObject *getOutputNumber(PyObject *o, void *) { return PyLong_FromLong(implOf(o)->outputNumber); }

/// A matrix with its two last dimensions exchanged (mT), or any tensor of at most two with all reversed (T).
PyObject *getTransposed(PyObject *o, void *) {
  return guarded([&]() -> PyObject * {
    int rank = implOf(o)->rank;
    if (rank < 2)
      return Py_NewRef(o);
    if (rank == 2)
      return wrap(transpose(Borrowed(o), 0, 1));
    int64_t order[maxRank];
    for (int i = 0; i < rank; i++)
      order[i] = rank - 1 - i;
    return wrap(permute(Borrowed(o), IntList(order, size_t(rank))));
  });
}
PyObject *getMatrixTransposed(PyObject *o, void *) {
  return guarded([&] {
    if (implOf(o)->rank < 2)
      fail("tensor.mT is only supported on matrices or batches of matrices. Got " + std::to_string(implOf(o)->rank) +
           "-D tensor.");
    return wrap(transpose(Borrowed(o), -2, -1));
  });
}
PyObject *getHermitian(PyObject *o, void *) {
  return guarded([&]() -> PyObject * {
    int rank = implOf(o)->rank;
    if (rank != 2 && rank != 0)
      fail("tensor.H is only supported on matrices (2-D tensors). Got " + std::to_string(rank) + "-D tensor.");
    return wrap(adjoint(Borrowed(o)));
  });
}
PyObject *getAdjoint(PyObject *o, void *) {
  return guarded([&] { return wrap(adjoint(Borrowed(o))); });
}
PyObject *getReal(PyObject *o, void *) {
  if (!isComplex(implOf(o)->dtype))
    return Py_NewRef(o);
  return guarded([&] { return wrap(real(Borrowed(o))); });
}
PyObject *getImag(PyObject *o, void *) {
  return guarded([&] { return wrap(imag(Borrowed(o))); });
}
/// x.real = y, x.imag = y: a copy into the view.
template <Tensor (*part)(const Tensor &)> int setPart(PyObject *o, PyObject *value, void *) {
  return guarded(
      [&] {
        if (!value)
          typeError("cannot delete a part of a tensor");
        Tensor target = part(Borrowed(o));
        if (isTensor(value))
          copy_(target, Borrowed(value));
        else
          fill_(target, operandArg(value));
        return 0;
      },
      -1);
}
PyObject *never(PyObject *, void *) { Py_RETURN_FALSE; }
PyObject *getIsCpu(PyObject *o, void *) { return PyBool_FromLong(deviceKindOf(o) == DeviceKind::Cpu); }
PyObject *getIsCuda(PyObject *o, void *) { return PyBool_FromLong(deviceKindOf(o) == DeviceKind::Cuda); }
PyObject *getIsMeta(PyObject *o, void *) { return PyBool_FromLong(deviceKindOf(o) == DeviceKind::Meta); }
PyObject *getLayout(PyObject *, void *) { return stridedLayout(); }
PyObject *getArrayPriority(PyObject *, void *) { return PyLong_FromLong(1000); }
PyObject *getName(PyObject *, void *) { Py_RETURN_NONE; }

} // namespace

PyGetSetDef tensorProperties[] = {
    {"shape", getShape, nullptr, "The sizes, as torchc.Size."},
    {"dtype", getDType, nullptr, "The element type."},
    {"device", getDevice, nullptr, "Where the memory is."},
    {"ndim", getRank, nullptr, "The number of dimensions."},
    {"itemsize", getItemSize, nullptr, "Bytes of one element."},
    {"nbytes", getBytes, nullptr, "Bytes of all elements."},
    {"requires_grad", getRequiresGrad, setRequiresGradProperty, "Are gradients computed for this tensor?"},
    {"is_leaf", getIsLeaf, nullptr, "Made by the user rather than by an operation that is recorded?"},
    {"retains_grad", getRetainsGrad, nullptr, "A non-leaf whose .grad is kept?"},
    {"grad", getGrad, setGradProperty, "The gradient that backward accumulated, or None."},
    {"_grad", getGrad, setGradProperty, nullptr},
    {"grad_fn", getGradFn, nullptr, "The recorded operation that made this tensor, or None for a leaf."},
    {"data", getData, setDataProperty, "The values without history, with a version counter of their own."},
    {"T", getTransposed, nullptr, "All dimensions reversed; a view."},
    {"mT", getMatrixTransposed, nullptr, "The last two dimensions exchanged; a view."},
    {"H", getHermitian, nullptr, "A matrix conjugated and transposed; of real numbers a view."},
    {"mH", getAdjoint, nullptr, "Matrices conjugated and transposed; of real numbers a view."},
    {"real", getReal, setPart<real>, "The real part: a view, of real numbers the tensor itself."},
    {"imag", getImag, setPart<imag>, "The imaginary part: a view. Runtime error for real numbers."},
    {"is_cuda", getIsCuda, nullptr, "On a GPU?"},
    {"is_sparse", never, nullptr, "Sparse layout?"},
    {"is_quantized", never, nullptr, "Quantized?"},
    {"is_mkldnn", never, nullptr, nullptr},
    {"is_nested", never, nullptr, nullptr},
    {"is_mps", never, nullptr, nullptr},
    {"is_xla", never, nullptr, nullptr},
    {"is_cpu", getIsCpu, nullptr, "In main memory?"},
    {"is_meta", getIsMeta, nullptr, "Without memory?"},
    {"layout", getLayout, nullptr, "torchc.strided."},
    {"name", getName, nullptr, nullptr},
    {"output_nr", getOutputNumber, nullptr, "Which result of grad_fn this is."},
    {"_version", getVersion, nullptr, "How often the memory was written to."},
    {"_base", getBase, nullptr, "The tensor that this one is a view of, or None."},
    {"__array_priority__", getArrayPriority, nullptr, nullptr},
    {}};

} // namespace torchc::py
