// Tensor methods that a schema can't say: metadata, numbers, conversions whose arguments have no fixed order.
#include "frontends/autograd/Autograd.h"
#include "frontends/eager/Index.h"
#include "frontends/pybind/Args.h"
#include "frontends/pybind/Conversions.h"

namespace torchc::py {
namespace {

template <class F> PyCFunction fast(F f) { return reinterpret_cast<PyCFunction>(reinterpret_cast<void *>(f)); }
constexpr int fastKeywords = METH_FASTCALL | METH_KEYWORDS;

PyObject *dim(PyObject *o, PyObject *) { return PyLong_FromLong(implOf(o)->rank); }
PyObject *numel(PyObject *o, PyObject *) { return PyLong_FromLongLong(implOf(o)->numel); }
PyObject *elementSize(PyObject *o, PyObject *) { return PyLong_FromLongLong(itemSize(implOf(o)->dtype)); }
PyObject *storageOffset(PyObject *o, PyObject *) { return PyLong_FromLongLong(implOf(o)->storageOffset()); }
PyObject *isFloatingPoint(PyObject *o, PyObject *) { return PyBool_FromLong(isFloat(implOf(o)->dtype)); }
PyObject *isComplexMethod(PyObject *o, PyObject *) { return PyBool_FromLong(isComplex(implOf(o)->dtype)); }
PyObject *complexNumber(PyObject *o, PyObject *) {
  return guarded([&] {
    if (implOf(o)->numel != 1)
      fail(ErrorKind::Value, "only one element tensors can be converted to Python scalars");
    Scalar s = item(Borrowed(o));
    return PyComplex_FromDoubles(s.real(), s.imag());
  });
}
PyObject *isSigned(PyObject *o, PyObject *) {
  DType t = implOf(o)->dtype;
  return PyBool_FromLong(t != DType::Bool && !isUnsigned(t));
}
// Not in the op table: as a C++ function it would hide where(condition, input, other).
const Param whereParams[] = {{"self", ArgType::Tensor, false, false},
                             {"condition", ArgType::Tensor, false, false},
                             {"other", ArgType::Operand, false, false}};
const Signature whereSignature = {"where", "(Tensor condition, Operand other)", whereParams, 3, 3, true, false};
PyObject *whereMethod(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *kw) {
  return guarded([&] {
    Values v;
    bind(whereSignature, {self, args, n, kw}, v);
    Operand other = operandArg(v[2]);
    return wrap(
        withWork(implOf(self)->numel, [&] { return torchc::where(Borrowed(v[1]), Operand(implOf(self)), other); }));
  });
}
PyObject *isInference(PyObject *o, PyObject *) { return PyBool_FromLong(implOf(o)->flags & FlagInferenceTensor); }
PyObject *getDeviceNumber(PyObject *self, PyObject *) {
  TensorImpl *t = implOf(self);
  return PyLong_FromLong(t->device == uint8_t(DeviceKind::Cuda) && t->storage ? t->storage->deviceIndex : -1);
}

const Param dimParams[] = {{"self", ArgType::Tensor, false, false}, {"dim", ArgType::OptInt, true, false}};
const Signature sizeSignature = {"size", "(int? dim=None)", dimParams, 2, 2, true, false};
const Signature strideSignature = {"stride", "(int? dim=None)", dimParams, 2, 2, true, false};

PyObject *size(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *kw) {
  return guarded([&]() -> PyObject * {
    Values v;
    bind(sizeSignature, {self, args, n, kw}, v);
    if (v[1] && v[1] != Py_None)
      return PyLong_FromLongLong(Borrowed(self)->size(intArg(v[1])));
    return sizeObject(implOf(self)->rank, implOf(self)->sizes());
  });
}
PyObject *stride(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *kw) {
  return guarded([&]() -> PyObject * {
    Values v;
    bind(strideSignature, {self, args, n, kw}, v);
    if (v[1] && v[1] != Py_None)
      return PyLong_FromLongLong(Borrowed(self)->stride(intArg(v[1])));
    TensorImpl *t = implOf(self);
    Ref out(check(PyTuple_New(t->rank)));
    for (int i = 0; i < t->rank; i++)
      PyTuple_SET_ITEM(out.get(), i, PyLong_FromLongLong(t->strides()[i]));
    return out.take();
  });
}

PyObject *itemMethod(PyObject *o, PyObject *) {
  return guarded([&] { return numberObject(item(Borrowed(o))); });
}
PyObject *tolist(PyObject *o, PyObject *) {
  return guarded([&] { return toList(Borrowed(o)); });
}
PyObject *dataPtr(PyObject *o, PyObject *) {
  return guarded([&]() -> PyObject * {
    TensorImpl *t = implOf(o);
    expose(t);
    return PyLong_FromVoidPtr(t->data);
  });
}
PyObject *isSameSize(PyObject *self, PyObject *other) {
  return guarded([&] {
    if (!isTensor(other))
      typeError("is_same_size(): argument 'other' (position 1) must be Tensor, not " + typeName(other));
    return PyBool_FromLong(sameShape(implOf(self), implOf(other)));
  });
}

// ---- to

const Param toDType[] = {{"self", ArgType::Tensor, false, false},
                         {"dtype", ArgType::DType, false, false},
                         {"non_blocking", ArgType::Bool, true, false},
                         {"copy", ArgType::Bool, true, false}};
const Param toOther[] = {{"self", ArgType::Tensor, false, false},
                         {"other", ArgType::Tensor, false, false},
                         {"non_blocking", ArgType::Bool, true, false},
                         {"copy", ArgType::Bool, true, false}};
const Param toDevice[] = {{"self", ArgType::Tensor, false, false},
                          {"device", ArgType::OptDevice, true, false},
                          {"dtype", ArgType::OptDType, true, false},
                          {"non_blocking", ArgType::Bool, true, false},
                          {"copy", ArgType::Bool, true, false}};
const Signature toSignatures[] = {
    {"to", "(dtype dtype, bool non_blocking=False, bool copy=False)", toDType, 4, 4, true, false},
    {"to", "(Tensor other, bool non_blocking=False, bool copy=False)", toOther, 4, 4, true, false},
    {"to", "(device device=None, dtype dtype=None, bool non_blocking=False, bool copy=False)", toDevice, 5, 5, true,
     false}};

} // namespace

PyObject *toMethod(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *kw) {
  static const Signature *const all[] = {&toSignatures[0], &toSignatures[1], &toSignatures[2]};
  return guarded([&] {
    Values v;
    int which = bindAny(all, 3, {self, args, n, kw}, v);
    std::optional<DType> dtype;
    std::optional<DeviceId> device;
    if (which == 0)
      dtype = dtypeArg(v[1]);
    else if (which == 1) {
      dtype = implOf(v[1])->dtype;
      device = Borrowed(v[1])->device();
    } else {
      device = optional<deviceArg>(v[1]);
      dtype = optional<dtypeArg>(v[2]);
    }
    PyObject *copy = v[which == 2 ? 4 : 3];
    return wrap(withWork(implOf(self)->numel,
                         [&] { return torchc::to(Borrowed(self), dtype, device, false, copy == Py_True); }));
  });
}
namespace {

PyObject *cpu(PyObject *self, PyObject *const *, Py_ssize_t, PyObject *) {
  return guarded([&] { return wrap(torchc::to(Borrowed(self), std::nullopt, DeviceId{}, false, false)); });
}

// ---- view(dtype) and as a shape

const Param viewShape[] = {{"self", ArgType::Tensor, false, false}, {"size", ArgType::IntList, false, true}};
const Param viewDType[] = {{"self", ArgType::Tensor, false, false}, {"dtype", ArgType::DType, false, false}};
const Signature viewSignatures[] = {{"view", "(int[] size)", viewShape, 2, 2, true, false},
                                    {"view", "(dtype dtype)", viewDType, 2, 2, true, false}};

/// Sizes and strides of the same bytes as elements of another size: the last dimension grows or shrinks.
void rescale(const TensorImpl *t, DType dtype, Dims &sizes, Dims &strides) {
  int64_t from = itemSize(t->dtype), to = itemSize(dtype), last = sizes.size() - 1;
  std::string what = "to view " + std::string(torchName(t->dtype)) + " as " + std::string(torchName(dtype)) +
                     " (different element sizes), but got ";
  if (last < 0)
    fail("self.dim() cannot be 0 " + what + "0");
  if (strides[int(last)] != 1)
    fail("self.stride(-1) must be 1 " + what + std::to_string(strides[int(last)]));
  int64_t ratio = from > to ? from / to : to / from;
  if (from < to && (sizes[int(last)] % ratio || t->storageOffset() % ratio))
    fail("self.size(-1) and self.storage_offset() must be divisible by " + std::to_string(ratio) + " " + what +
         std::to_string(sizes[int(last)]) + " and " + std::to_string(t->storageOffset()));
  for (int i = 0; i < last; i++) {
    if (from < to && strides[i] % ratio)
      fail("self.stride(" + std::to_string(i) + ") must be divisible by " + std::to_string(ratio) + " " + what +
           std::to_string(strides[i]));
    strides[i] = from < to ? strides[i] / ratio : strides[i] * ratio;
  }
  sizes[int(last)] = from < to ? sizes[int(last)] / ratio : sizes[int(last)] * ratio;
}

/// The same bytes as another type.
Tensor reinterpret(TensorImpl *t, DType dtype) {
  if (requiresGrad(t) && isDifferentiable(dtype) != isDifferentiable(t->dtype))
    fail("view(dtype): a tensor that requires gradients can't be seen as " + std::string(torchName(dtype)));
  Dims sizes = t->dims(), strides(t->strides(), t->rank);
  bool resized = itemSize(dtype) != itemSize(t->dtype);
  if (resized)
    rescale(t, dtype, sizes, strides);
  Tensor out = detachTensor(Borrowed(t));
  out->dtype = dtype;
  if (resized)
    setDims(out.impl(), sizes.size(), sizes.data(), strides.data());
  return out;
}
PyObject *view(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *kw) {
  static const Signature *const all[] = {&viewSignatures[0], &viewSignatures[1]};
  return guarded([&] {
    Values v;
    if (bindAny(all, 2, {self, args, n, kw}, v) == 1)
      return wrap(reinterpret(implOf(self), dtypeArg(v[1])));
    return wrap(torchc::view(Borrowed(self), IntListArg(v, 1)));
  });
}

// ---- what the package does in Python

template <const char *name> PyObject *inPackage(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *kw) {
  std::vector<PyObject *> all = {self};
  all.insert(all.end(), args, args + n + (kw ? PyTuple_GET_SIZE(kw) : 0));
  return callPackage("torchc._tensor", name, all.data(), n + 1, kw);
}
constexpr char reprName[] = "repr_", formatName[] = "format_", copyName[] = "deepcopy", shallowName[] = "shallow_copy",
               reduceName[] = "reduce_ex", typeName_[] = "type_", newTensorName[] = "new_tensor",
               newFullName[] = "new_full", newZerosName[] = "new_zeros", newOnesName[] = "new_ones",
               newEmptyName[] = "new_empty", newStridedName[] = "new_empty_strided", applyName[] = "apply_",
               mapName[] = "map_", cudaName[] = "cuda", recordName[] = "record_stream", pinName[] = "pin_memory",
               pinnedName[] = "is_pinned", sharedName[] = "is_shared", shareName[] = "share_memory_",
               storageName[] = "untyped_storage", newName[] = "new";

} // namespace

PyObject *reprSlot(PyObject *self) { return inPackage<reprName>(self, nullptr, 0, nullptr); }

PyMethodDef tensorMethods[] = {
    {"dim", dim, METH_NOARGS, "dim($self)\n--\n\nThe number of dimensions."},
    {"ndimension", dim, METH_NOARGS, "ndimension($self)\n--\n\nThe number of dimensions."},
    {"numel", numel, METH_NOARGS, "numel($self)\n--\n\nThe number of elements."},
    {"nelement", numel, METH_NOARGS, "nelement($self)\n--\n\nThe number of elements."},
    {"element_size", elementSize, METH_NOARGS, "element_size($self)\n--\n\nBytes of one element."},
    {"storage_offset", storageOffset, METH_NOARGS,
     "storage_offset($self)\n--\n\nThe first element's place in the memory, in elements."},
    {"is_floating_point", isFloatingPoint, METH_NOARGS, "is_floating_point($self)\n--\n\nIs the dtype a float type?"},
    {"is_complex", isComplexMethod, METH_NOARGS, "is_complex($self)\n--\n\nIs the dtype a complex type?"},
    {"is_signed", isSigned, METH_NOARGS, "is_signed($self)\n--\n\nHas the dtype negative values?"},
    {"where", fast(whereMethod), fastKeywords,
     "where($self, condition, other)\n--\n\nThis tensor's elements where condition is true, else other's."},
    {"is_inference", isInference, METH_NOARGS, "is_inference($self)\n--\n\nMade in inference mode?"},
    {"get_device", getDeviceNumber, METH_NOARGS, "get_device($self)\n--\n\nThe number of the GPU; -1: not on one."},
    {"size", fast(size), fastKeywords, "size($self, dim=None)\n--\n\nThe sizes, or that of one dimension."},
    {"stride", fast(stride), fastKeywords, "stride($self, dim=None)\n--\n\nThe strides in elements."},
    {"item", itemMethod, METH_NOARGS, "item($self)\n--\n\nThe only element as a Python number."},
    {"__complex__", complexNumber, METH_NOARGS, nullptr},
    {"tolist", tolist, METH_NOARGS, "tolist($self)\n--\n\nThe elements as nested lists."},
    {"data_ptr", dataPtr, METH_NOARGS, "data_ptr($self)\n--\n\nThe address of the first element."},
    {"is_same_size", isSameSize, METH_O, "is_same_size($self, other, /)\n--\n\nEqual shapes?"},
    {"cpu", fast(cpu), fastKeywords, "cpu($self)\n--\n\nThe tensor in main memory."},
    {"view", fast(view), fastKeywords,
     "view(*size) or view(dtype): the same memory in another shape, or read as another type of the same size."},
    {}};

PyMethodDef tensorConversions[] = {
    {"numpy", fast(numpyMethod), fastKeywords, "numpy($self, *, force=False)\n--\n\nAn ndarray on the same memory."},
    {"__array__", fast(arrayMethod), fastKeywords, nullptr},
    {"__dlpack__", fast(dlpackMethod), fastKeywords, nullptr},
    {"__dlpack_device__", dlpackDevice, METH_NOARGS, nullptr},
    {"__format__", fast(inPackage<formatName>), fastKeywords, nullptr},
    {"__copy__", fast(inPackage<shallowName>), fastKeywords, nullptr},
    {"__deepcopy__", fast(inPackage<copyName>), fastKeywords, nullptr},
    {"__reduce_ex__", fast(inPackage<reduceName>), fastKeywords, nullptr},
    {"type", fast(inPackage<typeName_>), fastKeywords, "type($self, dtype=None)\n--\n\nThe type's name, or a cast."},
    {"cuda", fast(inPackage<cudaName>), fastKeywords, "cuda($self, device=None)\n--\n\nOn a GPU."},
    {"record_stream", fast(inPackage<recordName>), fastKeywords,
     "record_stream($self, stream)\n--\n\nA stream that uses the memory too."},
    {"pin_memory", fast(inPackage<pinName>), fastKeywords, "pin_memory($self)\n--\n\nRaises: no device needs it."},
    {"is_pinned", fast(inPackage<pinnedName>), fastKeywords, "is_pinned($self)\n--\n\nFalse."},
    {"is_shared", fast(inPackage<sharedName>), fastKeywords, "is_shared($self)\n--\n\nFalse."},
    {"share_memory_", fast(inPackage<shareName>), fastKeywords, "share_memory_($self)\n--\n\nNot implemented."},
    {"untyped_storage", fast(inPackage<storageName>), fastKeywords,
     "untyped_storage($self)\n--\n\nThe memory that the tensor and its views share."},
    {"new", fast(inPackage<newName>), fastKeywords, "new($self, *args)\n--\n\nA tensor of this one's dtype."},
    {"new_tensor", fast(inPackage<newTensorName>), fastKeywords, "torchc.tensor with this tensor's dtype."},
    {"new_full", fast(inPackage<newFullName>), fastKeywords, "torchc.full with this tensor's dtype."},
    {"new_zeros", fast(inPackage<newZerosName>), fastKeywords, "torchc.zeros with this tensor's dtype."},
    {"new_ones", fast(inPackage<newOnesName>), fastKeywords, "torchc.ones with this tensor's dtype."},
    {"new_empty", fast(inPackage<newEmptyName>), fastKeywords, "torchc.empty with this tensor's dtype."},
    {"new_empty_strided", fast(inPackage<newStridedName>), fastKeywords, "torchc.empty_strided with this dtype."},
    {"apply_", fast(inPackage<applyName>), fastKeywords, "Replaces each element by a Python function of it."},
    {"map_", fast(inPackage<mapName>), fastKeywords, "Replaces each element by a Python function of it and another."},
    {}};

} // namespace torchc::py
