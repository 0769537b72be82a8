// Methods that change a tensor's own shape: `x.transpose_(...)` is `x.transpose(...)` taken over by x.
#include "frontends/autograd/Autograd.h"
#include "frontends/autograd/Views.h"
#include "frontends/eager/Modes.h"
#include "frontends/pybind/Args.h"

namespace torchc::py {
namespace {

template <const char *method> PyObject *viewInplace(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *kw) {
  return guarded([&]() -> PyObject * {
    TensorImpl *t = implOf(self);
    if (isGradEnabled())
      checkInplace(t, false);
    Ref name(check(PyUnicode_InternFromString(method)));
    std::vector<PyObject *> all = {self};
    all.insert(all.end(), args, args + n + (kw ? PyTuple_GET_SIZE(kw) : 0));
    Ref view(check(PyObject_VectorcallMethod(name.get(), all.data(), size_t(n) + 1, kw)));
    TensorImpl *v = implOf(view.get());
    noteEffect(Effect::SetData, t);
    if (v == t) // nothing to change
      ++t->version();
    else
      becomeView(t, v);
    return Py_NewRef(self);
  });
}

constexpr char transposeName[] = "transpose", tName[] = "t", squeezeName[] = "squeeze", unsqueezeName[] = "unsqueeze",
               swapaxesName[] = "swapaxes", swapdimsName[] = "swapdims", stridedName[] = "as_strided";

template <const char *method> PyMethodDef entry(const char *name, const char *doc) {
  return {name, reinterpret_cast<PyCFunction>(reinterpret_cast<void *>(viewInplace<method>)),
          METH_FASTCALL | METH_KEYWORDS, doc};
}

} // namespace

PyMethodDef tensorInplaceViews[] = {
    entry<transposeName>("transpose_", "transpose_($self, dim0, dim1)\n--\n\nExchanges two dimensions of this tensor."),
    entry<swapaxesName>("swapaxes_", "swapaxes_($self, axis0, axis1)\n--\n\ntranspose_ under NumPy's name."),
    entry<swapdimsName>("swapdims_", "swapdims_($self, dim0, dim1)\n--\n\ntranspose_ under another name."),
    entry<tName>("t_", "t_($self)\n--\n\nTransposes this matrix."),
    entry<squeezeName>("squeeze_", "squeeze_(dim=None): removes dimensions of size 1 from this tensor."),
    entry<unsqueezeName>("unsqueeze_", "unsqueeze_($self, dim)\n--\n\nInserts a dimension of size 1 into this tensor."),
    entry<stridedName>("as_strided_", "as_strided_($self, size, stride, storage_offset=None)\n--\n\n"
                                      "Sees this tensor's memory by other sizes and strides."),
    {}};

} // namespace torchc::py
