// memory_format=: the order of dimensions in memory, asked for and applied. channels_last is a permutation of dense
// memory, so it is made of views and copies that tape and tracer know.
#include "frontends/autograd/Autograd.h"
#include "frontends/pybind/Args.h"
#include "frontends/pybind/Conversions.h"

namespace torchc::py {
namespace {

/// The dimensions, slowest first, of a channels-last tensor: batch, space, channels.
std::vector<int64_t> channelsLast(int rank) {
  std::vector<int64_t> order{0};
  for (int i = 2; i < rank; i++)
    order.push_back(i);
  order.push_back(1);
  return order;
}
std::vector<int64_t> inverse(const std::vector<int64_t> &order) {
  std::vector<int64_t> back(order.size());
  for (size_t i = 0; i < order.size(); i++)
    back[size_t(order[i])] = int64_t(i);
  return back;
}

int rankOf(MemoryFormat f) { return f == MemoryFormat::ChannelsLast3d ? 5 : 4; }
bool isLast(MemoryFormat f) { return f == MemoryFormat::ChannelsLast || f == MemoryFormat::ChannelsLast3d; }

bool liesIn(const Tensor &x, MemoryFormat f) {
  if (!isLast(f))
    return x->contiguous();
  if (x->rank != rankOf(f))
    return false;
  int64_t step = 1;
  std::vector<int64_t> order = channelsLast(x->rank);
  for (size_t i = order.size(); i-- > 0;) {
    int64_t size = x->sizes()[order[i]];
    if (size != 1 && x->strides()[order[i]] != step)
      return false;
    step *= size;
  }
  return true;
}

/// x itself if its memory is so.
Tensor inFormat(const Tensor &x, MemoryFormat f) {
  if (!isLast(f))
    return f == MemoryFormat::Preserve ? x : contiguous(x);
  if (x->rank != rankOf(f))
    fail("required rank " + std::to_string(rankOf(f)) + " tensor to use channels_last format, got a tensor of rank " +
         std::to_string(x->rank));
  if (liesIn(x, f))
    return x;
  std::vector<int64_t> order = channelsLast(x->rank);
  return permute(contiguous(permute(x, order)), inverse(order));
}

/// The format among the arguments of a method that takes nothing else; `otherwise` if there is none.
MemoryFormat onlyArgument(const char *name, PyObject *const *args, Py_ssize_t n, PyObject *kw, MemoryFormat otherwise) {
  Py_ssize_t named = kw ? PyTuple_GET_SIZE(kw) : 0;
  if (n > 0 || named > 1 || (named && PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(kw, 0), "memory_format") != 0))
    typeError(std::string(name) + "() takes one keyword argument, memory_format");
  return named && args[0] != Py_None ? memoryFormatArg(args[0]) : otherwise;
}

PyObject *contiguousMethod(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *kw) {
  return guarded([&] {
    MemoryFormat f = onlyArgument("contiguous", args, n, kw, MemoryFormat::Contiguous);
    if (f == MemoryFormat::Preserve)
      fail("preserve memory format is unsupported by the contiguous operator");
    return wrap(withWork(implOf(self)->numel, [&] { return inFormat(Borrowed(self), f); }));
  });
}
PyObject *cloneMethod(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *kw) {
  return guarded([&] {
    MemoryFormat f = onlyArgument("clone", args, n, kw, MemoryFormat::Preserve);
    return wrap(withWork(implOf(self)->numel, [&] {
      Tensor t = inFormat(Borrowed(self), f);
      return t.impl() == implOf(self) ? clone(Borrowed(self)) : t;
    }));
  });
}
PyObject *isContiguousMethod(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *kw) {
  return guarded([&] {
    MemoryFormat f = onlyArgument("is_contiguous", args, n, kw, MemoryFormat::Contiguous);
    if (f == MemoryFormat::Preserve)
      fail("preserve memory format is unsupported by the is_contiguous operator");
    return PyBool_FromLong(liesIn(Borrowed(self), f));
  });
}

/// float(memory_format=f) and the like: the cast, then the format.
template <DType t> PyObject *castMethod(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *kw) {
  return guarded([&] {
    MemoryFormat f = onlyArgument(torchName(t).data(), args, n, kw, MemoryFormat::Preserve);
    return wrap(withWork(implOf(self)->numel, [&] { return inFormat(to(Borrowed(self), t), f); }));
  });
}

/// to(..., memory_format=f): to(...) without it, then the format.
PyObject *toFormatted(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *kw) {
  return guarded([&]() -> PyObject * {
    std::vector<PyObject *> rest = {args, args + n};
    std::vector<PyObject *> names;
    MemoryFormat f = MemoryFormat::Preserve;
    for (Py_ssize_t i = 0; kw && i < PyTuple_GET_SIZE(kw); i++)
      if (PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(kw, i), "memory_format") == 0) {
        if (args[n + i] != Py_None)
          f = memoryFormatArg(args[n + i]);
      } else {
        names.push_back(PyTuple_GET_ITEM(kw, i));
        rest.push_back(args[n + i]);
      }
    Ref left(check(PyTuple_New(Py_ssize_t(names.size()))));
    for (size_t i = 0; i < names.size(); i++)
      PyTuple_SET_ITEM(left.get(), Py_ssize_t(i), Py_NewRef(names[i]));
    Ref cast(rest.empty() ? Py_NewRef(self) : check(toMethod(self, rest.data(), n, left.get())));
    return wrap(withWork(implOf(self)->numel, [&] { return inFormat(Borrowed(cast.get()), f); }));
  });
}

template <class F> PyCFunction fast(F f) { return reinterpret_cast<PyCFunction>(reinterpret_cast<void *>(f)); }

PyObject *toAny(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *kw) {
  for (Py_ssize_t i = 0; kw && i < PyTuple_GET_SIZE(kw); i++)
    if (PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(kw, i), "memory_format") == 0)
      return toFormatted(self, args, n, kw);
  return toMethod(self, args, n, kw);
}

template <DType t> PyMethodDef cast(const char *name, const char *doc) {
  return {name, fast(castMethod<t>), METH_FASTCALL | METH_KEYWORDS, doc};
}

} // namespace

PyMethodDef tensorFormats[] = {
    cast<DType::F32>("float", "The tensor as float32, with memory_format= in that order of memory."),
    cast<DType::F64>("double", "The tensor as float64, with memory_format= in that order of memory."),
    cast<DType::F16>("half", "The tensor as float16, with memory_format= in that order of memory."),
    cast<DType::BF16>("bfloat16", "The tensor as bfloat16, with memory_format= in that order of memory."),
    cast<DType::C64>("cfloat", "The tensor as complex64, with memory_format= in that order of memory."),
    cast<DType::C128>("cdouble", "The tensor as complex128, with memory_format= in that order of memory."),
    cast<DType::I64>("long", "The tensor as int64, with memory_format= in that order of memory."),
    cast<DType::I32>("int", "The tensor as int32, with memory_format= in that order of memory."),
    cast<DType::I16>("short", "The tensor as int16, with memory_format= in that order of memory."),
    cast<DType::I8>("char", "The tensor as int8, with memory_format= in that order of memory."),
    cast<DType::U8>("byte", "The tensor as uint8, with memory_format= in that order of memory."),
    cast<DType::Bool>("bool", "The tensor as bool, with memory_format= in that order of memory."),
    {"contiguous", fast(contiguousMethod), METH_FASTCALL | METH_KEYWORDS,
     "contiguous($self, *, memory_format=torchc.contiguous_format)\n--\n\n"
     "The tensor itself if its memory is in this order, else a copy that is."},
    {"clone", fast(cloneMethod), METH_FASTCALL | METH_KEYWORDS,
     "clone($self, *, memory_format=torchc.preserve_format)\n--\n\nA copy with memory of its own."},
    {"is_contiguous", fast(isContiguousMethod), METH_FASTCALL | METH_KEYWORDS,
     "is_contiguous($self, *, memory_format=torchc.contiguous_format)\n--\n\nIs the memory dense and in this order?"},
    {"to", fast(toAny), METH_FASTCALL | METH_KEYWORDS,
     "to(dtype), to(device, dtype=None), to(other), each with memory_format=: the tensor as another type and in "
     "another "
     "order of memory; itself where nothing changes."},
    {}};

} // namespace torchc::py
