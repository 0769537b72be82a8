// torch.cond and torch.while_loop: recorded functions as capsules.
#include "frontends/jit/Control.h"
#include "frontends/pybind/Args.h"
#include "frontends/pybind/AutogradObjects.h"

namespace torchc::py {
namespace {

constexpr const char *capsuleName = "torchc.subgraph";

std::vector<Tensor> tensorsOf(PyObject *sequence, const char *what) {
  Ref list(check(PySequence_Fast(sequence, what)));
  std::vector<Tensor> out;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(list.get()); i++) {
    PyObject *o = PySequence_Fast_GET_ITEM(list.get(), i);
    if (!isTensor(o))
      typeError(std::string(what) + ": expected tensors, got " + typeName(o));
    out.push_back(Tensor::borrow(implOf(o)));
  }
  return out;
}

const jit::SubgraphRef &subgraphOf(PyObject *o) {
  auto *s = static_cast<jit::SubgraphRef *>(PyCapsule_GetPointer(o, capsuleName));
  if (!s)
    throw PythonError();
  return *s;
}

/// _subgraph(fn, operands, what): fn(*tensors) gives a list of tensors; recorded, not computed.
PyObject *subgraph(PyObject *, PyObject *args) {
  PyObject *fn, *operands;
  const char *what;
  if (!PyArg_ParseTuple(args, "OOs:_subgraph", &fn, &operands, &what))
    return nullptr;
  return guarded([&] {
    auto run = [&](const std::vector<Tensor> &in) {
      Ref given(tupleOf(in));
      Ref r(check(PyObject_Call(fn, given.get(), nullptr)));
      return tensorsOf(r.get(), what);
    };
    auto made = std::make_unique<jit::SubgraphRef>(jit::recordSubgraph(run, tensorsOf(operands, what), what));
    PyObject *capsule = check(PyCapsule_New(made.get(), capsuleName, [](PyObject *o) {
      delete static_cast<jit::SubgraphRef *>(PyCapsule_GetPointer(o, capsuleName));
    }));
    made.release();
    return capsule;
  });
}

/// _cond(predicate, true_graph, false_graph, operands): a tuple.
PyObject *cond(PyObject *, PyObject *args) {
  PyObject *predicate, *yes, *no, *operands;
  if (!PyArg_ParseTuple(args, "OOOO:_cond", &predicate, &yes, &no, &operands))
    return nullptr;
  return guarded([&] {
    if (!isTensor(predicate))
      typeError("_cond(): expected a tensor, got " + typeName(predicate));
    return tupleOf(jit::cond(Tensor::borrow(implOf(predicate)), subgraphOf(yes), subgraphOf(no),
                             tensorsOf(operands, "torch.cond")));
  });
}

/// _while_loop(cond_graph, body_graph, carried, more): a tuple.
PyObject *whileLoop(PyObject *, PyObject *args) {
  PyObject *goesOn, *body, *carried, *more;
  if (!PyArg_ParseTuple(args, "OOOO:_while_loop", &goesOn, &body, &carried, &more))
    return nullptr;
  return guarded([&] {
    return tupleOf(jit::whileLoop(subgraphOf(goesOn), subgraphOf(body), tensorsOf(carried, "torch.while_loop"),
                                  tensorsOf(more, "torch.while_loop")));
  });
}

PyMethodDef functions[] = {{"_subgraph", subgraph, METH_VARARGS, nullptr},
                           {"_cond", cond, METH_VARARGS, nullptr},
                           {"_while_loop", whileLoop, METH_VARARGS, nullptr},
                           {}};

} // namespace

bool addControl(PyObject *module) { return PyModule_AddFunctions(module, functions) == 0; }

} // namespace torchc::py
