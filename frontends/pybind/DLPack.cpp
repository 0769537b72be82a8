// Exchange of memory by DLPack capsules, both ways.
#include "frontends/autograd/Autograd.h"
#include "frontends/pybind/Args.h"
#include "frontends/pybind/Conversions.h"
#include "runtime/include/torchc/model.h"

namespace torchc::py {
namespace {

struct ManagedTensor { // DLManagedTensor of DLPack 0.x
  DLTensor tensor;
  void *context;
  void (*deleter)(ManagedTensor *);
};

struct Exported {
  ManagedTensor managed;
  TensorImpl *tensor;
  int64_t dims[2 * maxRank];
};

/// Codes of DLPack 1.1, from kDLFloat8_e4m3fn on.
constexpr uint8_t float8Code(DType t) {
  return t == DType::F8E4M3FN ? 10 : t == DType::F8E4M3FNUZ ? 11 : t == DType::F8E5M2 ? 12 : 13;
}

DLDataType typeOf(DType t) {
  uint8_t code = t == DType::Bool   ? uint8_t(kDLBool)
                 : isUnsigned(t)    ? uint8_t(kDLUInt)
                 : t == DType::BF16 ? uint8_t(kDLBfloat)
                 : isFloat8(t)      ? float8Code(t)
                 : isFloat(t)       ? uint8_t(kDLFloat)
                 : isComplex(t)     ? uint8_t(kDLComplex)
                                    : uint8_t(kDLInt);
  return {code, uint8_t(8 * itemSize(t)), 1};
}
bool typeFrom(DLDataType d, DType &out) {
  for (int t = 0; t < numDTypes; t++) {
    DLDataType x = typeOf(DType(t));
    if (x.code == d.code && x.bits == d.bits && d.lanes == 1) {
      out = DType(t);
      return true;
    }
  }
  return false;
}

void destroyCapsule(PyObject *capsule) {
  if (!PyCapsule_IsValid(capsule, "dltensor")) // taken over by a consumer
    return;
  auto *m = static_cast<ManagedTensor *>(PyCapsule_GetPointer(capsule, "dltensor"));
  m->deleter(m);
}

const Param dlpackParams[] = {{"self", ArgType::Tensor, false, false},
                              {"stream", ArgType::OptInt, true, false},
                              {"max_version", ArgType::OptIntList, true, false},
                              {"dl_device", ArgType::OptIntList, true, false},
                              {"copy", ArgType::OptBool, true, false}};
const Signature dlpackSignature = {
    "__dlpack__", "(*, int? stream, max_version, dl_device, bool? copy)", dlpackParams, 5, 2, true, false};

} // namespace

PyObject *dlpackMethod(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *kw) {
  return guarded([&]() -> PyObject * {
    Values v;
    bind(dlpackSignature, {self, args, n, kw}, v);
    if (Borrowed(self)->requiresGrad())
      raise(PyExc_BufferError, "Can't export tensors that require gradient, use tensor.detach()");
    Tensor t = v[4] == Py_True ? clone(Borrowed(self)) : Tensor::borrow(implOf(self));
    if (t->device)
      raise(PyExc_BufferError,
            "Can't export a tensor on device " + deviceString(DeviceKind(t->device), -1) + ": it has no memory here");
    expose(t.impl());
    auto *e = new Exported{};
    std::copy_n(t->sizes(), t->rank, e->dims);
    std::copy_n(t->strides(), t->rank, e->dims + t->rank);
    e->managed.tensor = {t->data, {kDLCPU, 0}, t->rank, typeOf(t->dtype), e->dims, e->dims + t->rank, 0};
    e->managed.context = e;
    e->managed.deleter = [](ManagedTensor *m) {
      auto *x = static_cast<Exported *>(m->context);
      release(x->tensor);
      delete x;
    };
    e->tensor = newAlias(t.impl(), t->rank, t->sizes(), t->strides(), 0); // t may get another storage
    return PyCapsule_New(&e->managed, "dltensor", destroyCapsule);
  });
}

/// DLPack 1: the same with a version and flags (1: read-only).
struct VersionedTensor {
  uint32_t major, minor;
  void *context;
  void (*deleter)(VersionedTensor *);
  uint64_t flags;
  DLTensor tensor;
};

/// The memory of a capsule, which is marked as taken.
template <class Managed> static PyObject *adopt(PyObject *capsule, const char *name, const char *taken) {
  auto *m = static_cast<Managed *>(PyCapsule_GetPointer(capsule, name));
  const DLTensor &d = m->tensor;
  if (d.device.device_type != kDLCPU)
    fail(ErrorKind::NotImplemented, "from_dlpack: only memory of the CPU is implemented");
  DType t;
  if (!typeFrom(d.dtype, t))
    fail(ErrorKind::NotImplemented, "from_dlpack: element type (code " + std::to_string(d.dtype.code) + ", " +
                                        std::to_string(d.dtype.bits) + " bits) is not implemented");
  if (d.ndim < 0 || d.ndim > maxRank)
    fail("from_dlpack: expected at most 64 dimensions, got " + std::to_string(d.ndim));
  Dims sizes(d.shape, d.ndim), strides;
  int64_t step = 1;
  strides.resize(d.ndim);
  for (int i = d.ndim - 1; i >= 0; i--) {
    strides[i] = d.strides ? d.strides[i] : step;
    step *= sizes[i];
    if (strides[i] < 0 || sizes[i] < 0)
      fail(ErrorKind::Value, "from_dlpack: negative sizes and strides are not supported");
  }
  // The capsule's owner object goes with the storage: renamed, so that nobody else takes it.
  Ref owner(check(PyCapsule_New(m, nullptr, [](PyObject *c) {
    auto *x = static_cast<Managed *>(PyCapsule_GetPointer(c, nullptr));
    if (x->deleter)
      x->deleter(x);
  })));
  PyCapsule_SetName(capsule, taken);
  return wrap(foreignTensor(static_cast<char *>(d.data) + d.byte_offset, t, sizes, strides, owner.get()));
}

/// With a version where the object knows of them, as a read-only one can't be given without.
static Ref capsuleOf(PyObject *o) {
  Ref method(check(PyObject_GetAttrString(o, "__dlpack__"))), none(check(PyTuple_New(0)));
  Ref version(check(Py_BuildValue("{s(ii)}", "max_version", 1, 0)));
  if (Ref capsule(PyObject_Call(method.get(), none.get(), version.get())); capsule)
    return capsule;
  if (!PyErr_ExceptionMatches(PyExc_TypeError))
    throw PythonError();
  PyErr_Clear();
  return Ref(check(PyObject_CallNoArgs(method.get())));
}

PyObject *dlpackDevice(PyObject *, PyObject *) { return Py_BuildValue("(ii)", 1, 0); }

PyObject *fromDlpack(PyObject *, PyObject *o) {
  return guarded([&]() -> PyObject * {
    Ref capsule = PyCapsule_CheckExact(o) ? Ref::borrow(o) : capsuleOf(o);
    if (PyCapsule_IsValid(capsule.get(), "dltensor"))
      return adopt<ManagedTensor>(capsule.get(), "dltensor", "used_dltensor");
    if (!PyCapsule_IsValid(capsule.get(), "dltensor_versioned"))
      fail("from_dlpack received an invalid capsule. Note that DLTensor capsules can be consumed only once");
    auto *m = static_cast<VersionedTensor *>(PyCapsule_GetPointer(capsule.get(), "dltensor_versioned"));
    if (m->major != 1)
      raise(PyExc_BufferError, "from_dlpack: expected version 1 of DLPack, got " + std::to_string(m->major));
    return adopt<VersionedTensor>(capsule.get(), "dltensor_versioned", "used_dltensor_versioned");
  });
}

} // namespace torchc::py
