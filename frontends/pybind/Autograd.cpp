// Backward, hooks of tensors, requires_grad and detach.
#include "frontends/autograd/Autograd.h"
#include "frontends/pybind/Args.h"
#include "frontends/pybind/AutogradObjects.h"

namespace torchc::py {
namespace {

PyObject *registerHookMethod(PyObject *self, PyObject *f) {
  return guarded([&] {
    auto hook = callableOf(f);
    return handleObject(registerHook(implOf(self), [hook](const Tensor &g) -> Tensor {
      GilHold gil;
      Ref given(wrap(Tensor(g)));
      Ref r(check(PyObject_CallOneArg(hook->f, given.get())));
      if (r.get() == Py_None)
        return {};
      if (!isTensor(r.get()))
        typeError("expected a Tensor or None, but hook returned '" + typeName(r.get()) + "'");
      return Tensor::borrow(implOf(r.get()));
    }));
  });
}
PyObject *registerPostAccumulate(PyObject *self, PyObject *f) {
  return guarded([&] {
    auto hook = callableOf(f);
    return handleObject(registerPostAccumulateHook(implOf(self), [hook](const Tensor &leaf) {
      GilHold gil;
      Ref given(wrap(Tensor(leaf)));
      Ref r(check(PyObject_CallOneArg(hook->f, given.get())));
    }));
  });
}

// ---- backward

std::vector<Tensor> optionalTensors(PyObject *tuple) {
  std::vector<Tensor> out;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple); i++) {
    PyObject *o = PyTuple_GET_ITEM(tuple, i);
    out.push_back(isTensor(o) ? Tensor::borrow(implOf(o)) : Tensor());
  }
  return out;
}
std::vector<Tensor> runReleased(const std::vector<Tensor> &outputs, const std::vector<Tensor> &grads,
                                const std::vector<Tensor> &inputs, BackwardOptions options) {
  GilRelease release;
  return torchc::runBackward(outputs, grads, inputs, options);
}

/// _run_backward(outputs, grads, retain_graph, create_graph, inputs, allow_unused, accumulate): tuples of tensors or None.
PyObject *runBackwardFunction(PyObject *, PyObject *args) {
  PyObject *outputs, *grads, *inputs;
  int retain, create, unused, accumulate;
  if (!PyArg_ParseTuple(args, "O!O!ppO!pp:_run_backward", &PyTuple_Type, &outputs, &PyTuple_Type, &grads, &retain,
                        &create, &PyTuple_Type, &inputs, &unused, &accumulate))
    return nullptr;
  return guarded([&] {
    BackwardOptions o{bool(retain), bool(create), bool(unused), bool(accumulate)};
    return tupleOf(runReleased(optionalTensors(outputs), optionalTensors(grads), optionalTensors(inputs), o));
  });
}

const Param backwardParams[] = {{"self", ArgType::Tensor, false, false},
                                {"gradient", ArgType::OptTensor, true, false},
                                {"retain_graph", ArgType::OptBool, true, false},
                                {"create_graph", ArgType::Bool, true, false},
                                {"inputs", ArgType::TensorList, true, false}};
const Signature backwardSignature = {
    "backward",
    "(Tensor? gradient=None, bool? retain_graph=None, bool create_graph=False, Tensor[] inputs=())",
    backwardParams,
    5,
    5,
    true,
    false};

PyObject *backwardMethod(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *kw) {
  return guarded([&]() -> PyObject * {
    Values v;
    Ref single; // inputs= takes one tensor too
    std::vector<PyObject *> copy;
    if (kw)
      for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(kw); i++)
        if (isTensor(args[n + i]) && PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(kw, i), "inputs") == 0) {
          single = Ref(check(PyTuple_Pack(1, args[n + i])));
          copy.assign(args, args + n + PyTuple_GET_SIZE(kw));
          copy[size_t(n + i)] = single.get();
          args = copy.data();
        }
    bind(backwardSignature, {self, args, n, kw}, v);
    BackwardOptions o;
    o.createGraph = v[3] == Py_True;
    o.retainGraph = v[2] && v[2] != Py_None ? v[2] == Py_True : o.createGraph;
    o.accumulate = true;
    o.allowUnused = true;
    std::vector<Tensor> grads, inputs;
    if (v[1] && v[1] != Py_None)
      grads.push_back(Tensor::borrow(implOf(v[1])));
    if (v[4]) {
      inputs = tensorListArg(v[4]);
      if (inputs.empty())
        fail("'inputs' argument to backward cannot be empty");
    }
    runReleased({Tensor::borrow(implOf(self))}, grads, inputs, o);
    Py_RETURN_NONE;
  });
}

PyObject *requiresGradInplace(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *kw) {
  static const Param params[] = {{"self", ArgType::Tensor, false, false},
                                 {"requires_grad", ArgType::Bool, true, false}};
  static const Signature s = {"requires_grad_", "(bool requires_grad=True)", params, 2, 2, true, false};
  return guarded([&]() -> PyObject * {
    Values v;
    bind(s, {self, args, n, kw}, v);
    setRequiresGrad(implOf(self), !v[1] || boolArg(v[1]));
    return Py_NewRef(self);
  });
}
PyObject *detachMethod(PyObject *self, PyObject *) {
  return guarded([&] { return wrap(detachTensor(Borrowed(self))); });
}
PyObject *detachInplaceMethod(PyObject *self, PyObject *) {
  return guarded([&]() -> PyObject * {
    detachInplace(implOf(self));
    return Py_NewRef(self);
  });
}
PyObject *retainGradMethod(PyObject *self, PyObject *) {
  return guarded([&]() -> PyObject * {
    retainGrad(implOf(self));
    Py_RETURN_NONE;
  });
}
template <class F> PyCFunction fast(F f) { return reinterpret_cast<PyCFunction>(reinterpret_cast<void *>(f)); }

PyMethodDef functions[] = {{"_run_backward", runBackwardFunction, METH_VARARGS, "The engine behind torchc.autograd."},
                           {}};

} // namespace

PyMethodDef tensorAutogradMethods[] = {
    {"backward", fast(backwardMethod), METH_FASTCALL | METH_KEYWORDS,
     "backward($self, gradient=None, retain_graph=None, create_graph=False, inputs=None)\n--\n\n"
     "Adds this tensor's gradients to the .grad of the leaves it depends on."},
    {"requires_grad_", fast(requiresGradInplace), METH_FASTCALL | METH_KEYWORDS,
     "requires_grad_($self, requires_grad=True)\n--\n\nSwitches the recording of gradients; returns self."},
    {"detach", detachMethod, METH_NOARGS, "detach($self)\n--\n\nThe same memory without history."},
    {"detach_", detachInplaceMethod, METH_NOARGS, "detach_($self)\n--\n\nCuts the history of this tensor."},
    {"retain_grad", retainGradMethod, METH_NOARGS, "retain_grad($self)\n--\n\nKeeps .grad of a non-leaf."},
    {"register_hook", registerHookMethod, METH_O,
     "register_hook($self, hook, /)\n--\n\nCalls hook(grad) each time the gradient is computed; a tensor it returns "
     "replaces it. Returns a handle with remove()."},
    {"register_post_accumulate_grad_hook", registerPostAccumulate, METH_O,
     "register_post_accumulate_grad_hook($self, hook, /)\n--\n\nCalls hook(leaf) after .grad was accumulated."},
    {}};

bool addAutograd(PyObject *module) {
  return addGradFn(module) && addFunction(module) && PyModule_AddFunctions(module, functions) == 0;
}

} // namespace torchc::py
