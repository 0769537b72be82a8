// Calls of a LAPACK routine for the matrices of a batch, one after the other. Python opens the library and knows the
// arguments; only the loop is here, where a call for a small matrix costs little more than the routine.
#include "frontends/pybind/Conversions.h"
#include <cstring>
#include <utility>
#include <vector>

namespace torchc::py {
namespace {

/// Fortran takes addresses, and behind them the lengths of characters by value: all as wide as a pointer.
constexpr size_t mostArguments = 24; // gesvx and the like have fewer
template <size_t... i> void invoke(void *routine, void **a, std::index_sequence<i...>) {
  using Routine = void (*)(decltype((static_cast<void>(i), static_cast<void *>(nullptr)))...);
  reinterpret_cast<Routine>(routine)(a[i]...); // the caller takes its arguments off the stack: more do no harm
}

/// The numbers of a tuple, as addresses, lengths or steps.
std::vector<int64_t> numbersOf(PyObject *tuple, const char *what) {
  if (!PyTuple_Check(tuple))
    typeError(std::string("_lapack_batch(): expected a tuple of ") + what + ", got " + typeName(tuple));
  std::vector<int64_t> out;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple); i++) {
    unsigned long long n = PyLong_AsUnsignedLongLong(PyTuple_GET_ITEM(tuple, i));
    if (n == static_cast<unsigned long long>(-1) && PyErr_Occurred())
      throw PythonError();
    out.push_back(int64_t(n));
  }
  return out;
}

/// _lapack_batch(routine, arguments, steps, batch, info, wide): calls the routine at this address with these arguments,
/// `batch` times; behind each call argument i moves on by steps[i] bytes. Returns what was at the address `info` (int64 if
/// wide, else int32; 0: nothing) after each call.
PyObject *lapackBatch(PyObject *, PyObject *args) {
  return guarded([&] {
    unsigned long long routine, info;
    PyObject *arguments, *steps;
    long long batch;
    int wide;
    if (!PyArg_ParseTuple(args, "KOOLKp", &routine, &arguments, &steps, &batch, &info, &wide))
      throw PythonError();
    std::vector<int64_t> passed = numbersOf(arguments, "arguments"), moves = numbersOf(steps, "steps");
    if (passed.size() != moves.size() || passed.size() > mostArguments || !routine || batch < 0)
      raise(PyExc_ValueError, "_lapack_batch(): expected a routine, a batch and at most " +
                                  std::to_string(mostArguments) + " arguments with a step each");
    Tensor infos(newTensor(DType::I32, Dims({int64_t(batch)})));
    auto *found = reinterpret_cast<int32_t *>(infos->data);
    {
      GilRelease free;
      void *now[mostArguments] = {};
      for (int64_t b = 0; b < batch; b++) {
        for (size_t i = 0; i < passed.size(); i++)
          now[i] = reinterpret_cast<void *>(passed[i] + b * moves[i]);
        invoke(reinterpret_cast<void *>(routine), now, std::make_index_sequence<mostArguments>());
        int64_t said = 0;
        if (info)
          std::memcpy(&said, reinterpret_cast<void *>(info), wide ? 8 : 4);
        found[b] = wide ? int32_t(said) : int32_t(uint32_t(said));
      }
    }
    return wrap(std::move(infos));
  });
}

PyMethodDef functions[] = {
    {"_lapack_batch", lapackBatch, METH_VARARGS,
     "(routine, arguments, steps, batch, info, wide): a LAPACK routine for each matrix of a batch."},
    {nullptr, nullptr, 0, nullptr},
};

} // namespace

bool addLapack(PyObject *module) { return PyModule_AddFunctions(module, functions) == 0; }

} // namespace torchc::py
