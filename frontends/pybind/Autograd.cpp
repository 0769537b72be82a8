// Backward, hooks, grad_fn objects.
#include "frontends/autograd/Autograd.h"
#include "frontends/pybind/Args.h"
#include "frontends/pybind/AutogradObjects.h"

namespace torchc::py {
namespace {

// ---- grad_fn

struct NodeObject {
  PyObject_HEAD Node *node;
};
PyTypeObject *nodeType;
PyObject *nodeTypes; // name -> class

Node *nodeOf(PyObject *o) { return reinterpret_cast<NodeObject *>(o)->node; }

void nodeDealloc(PyObject *o) {
  PyTypeObject *type = Py_TYPE(o);
  release(nodeOf(o));
  type->tp_free(o);
  Py_DECREF(type);
}
PyObject *nodeName(PyObject *o, PyObject *) {
  if (nodeOf(o)->kind == NodeKind::Accumulate) // PyTorch spells this one with its namespace
    return PyUnicode_FromString("torch::autograd::AccumulateGrad");
  return PyUnicode_FromString(torchc::nodeName(nodeOf(o)).c_str());
}
PyObject *nodeRepr(PyObject *o) {
  return PyUnicode_FromFormat("<%s object at %p>", torchc::nodeName(nodeOf(o)).c_str(), nodeOf(o));
}
PyObject *nodeNext(PyObject *o, void *) {
  Node *n = nodeOf(o);
  bool leaf = n->kind == NodeKind::Accumulate;
  Ref out(PyTuple_New(leaf ? 0 : n->numInputs));
  for (int i = 0; out && !leaf && i < n->numInputs; i++) {
    NodeInput &in = n->inputs()[i];
    PyObject *next = in.next ? nodeObject(in.next) : Py_NewRef(Py_None);
    PyObject *pair = next ? Py_BuildValue("(Ni)", next, int(in.outputNumber)) : nullptr;
    if (!pair)
      return nullptr;
    PyTuple_SET_ITEM(out.get(), i, pair);
  }
  return out.take();
}
PyObject *nodeVariable(PyObject *o, void *) {
  Node *n = nodeOf(o);
  if (n->kind != NodeKind::Accumulate) {
    PyErr_Format(PyExc_AttributeError, "'%s' object has no attribute 'variable'", torchc::nodeName(n).c_str());
    return nullptr;
  }
  if (!n->leaf().variable)
    Py_RETURN_NONE;
  return wrap(retain(n->leaf().variable));
}
PyObject *nodeSequence(PyObject *o, PyObject *) { return PyLong_FromUnsignedLongLong(nodeOf(o)->sequence); }
PyObject *nodeCompare(PyObject *a, PyObject *b, int op) {
  if ((op != Py_EQ && op != Py_NE) || !PyObject_TypeCheck(b, nodeType))
    Py_RETURN_NOTIMPLEMENTED;
  return PyBool_FromLong((nodeOf(a) == nodeOf(b)) == (op == Py_EQ));
}
Py_hash_t nodeHash(PyObject *o) { return _Py_HashPointer(nodeOf(o)); }

PyMethodDef nodeMethods[] = {{"name", nodeName, METH_NOARGS, "name($self)\n--\n\nThe operation's name."},
                             {"_sequence_nr", nodeSequence, METH_NOARGS, nullptr},
                             {}};
PyGetSetDef nodeProperties[] = {
    {"next_functions", nodeNext, nullptr, "(grad_fn, output number) of each input; None where no gradient is needed."},
    {"variable", nodeVariable, nullptr, "The leaf that an AccumulateGrad belongs to."},
    {}};
PyType_Slot nodeSlots[] = {{Py_tp_dealloc, reinterpret_cast<void *>(nodeDealloc)},
                           {Py_tp_repr, reinterpret_cast<void *>(nodeRepr)},
                           {Py_tp_richcompare, reinterpret_cast<void *>(nodeCompare)},
                           {Py_tp_hash, reinterpret_cast<void *>(nodeHash)},
                           {Py_tp_methods, nodeMethods},
                           {Py_tp_getset, nodeProperties},
                           {}};
PyType_Spec nodeSpec = {"torchc.autograd.graph.Node", sizeof(NodeObject), 0,
                        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION, nodeSlots};

/// The class of one operation's nodes, made when first seen; borrowed.
PyTypeObject *classOfNode(const std::string &name) {
  PyObject *found = PyDict_GetItemString(nodeTypes, name.c_str());
  if (!found) {
    static std::vector<std::string *> names; // a type keeps the pointer
    names.push_back(new std::string("torchc.autograd.graph." + name));
    PyType_Slot slots[] = {{Py_tp_dealloc, reinterpret_cast<void *>(nodeDealloc)}, {}};
    PyType_Spec spec = {names.back()->c_str(), sizeof(NodeObject), 0,
                        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
    Ref made(check(PyType_FromSpecWithBases(&spec, reinterpret_cast<PyObject *>(nodeType))));
    PyDict_SetItemString(nodeTypes, name.c_str(), made.get());
    found = made.get();
  }
  return reinterpret_cast<PyTypeObject *>(found);
}

// ---- hooks

struct HandleObject {
  PyObject_HEAD TensorImpl *tensor;
  uint64_t id;
};
PyTypeObject *handleType;

void handleDealloc(PyObject *o) {
  PyTypeObject *type = Py_TYPE(o);
  release(reinterpret_cast<HandleObject *>(o)->tensor);
  type->tp_free(o);
  Py_DECREF(type);
}
PyObject *handleRemove(PyObject *o, PyObject *) {
  auto *h = reinterpret_cast<HandleObject *>(o);
  return guarded([&]() -> PyObject * {
    removeHook(h->tensor, h->id);
    Py_RETURN_NONE;
  });
}
PyObject *handleEnter(PyObject *o, PyObject *) { return Py_NewRef(o); }
PyObject *handleExit(PyObject *o, PyObject *const *, Py_ssize_t) { return handleRemove(o, nullptr); }
PyMethodDef handleMethods[] = {
    {"remove", handleRemove, METH_NOARGS, "remove($self)\n--\n\nRemoves the hook; a second call does nothing."},
    {"__enter__", handleEnter, METH_NOARGS},
    {"__exit__", reinterpret_cast<PyCFunction>(reinterpret_cast<void *>(handleExit)), METH_FASTCALL},
    {}};
PyType_Slot handleSlots[] = {
    {Py_tp_dealloc, reinterpret_cast<void *>(handleDealloc)}, {Py_tp_methods, handleMethods}, {}};
PyType_Spec handleSpec = {"torchc._C._HookHandle", sizeof(HandleObject), 0,
                          Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, handleSlots};

PyObject *handleObject(TensorImpl *t, uint64_t id) {
  auto *h = reinterpret_cast<HandleObject *>(check(handleType->tp_alloc(handleType, 0)));
  h->tensor = retain(t);
  h->id = id;
  return reinterpret_cast<PyObject *>(h);
}

/// A Python callable that C++ may copy and drop without the GIL.
struct Callable {
  explicit Callable(PyObject *f) : f(Py_NewRef(f)) {}
  Callable(const Callable &) = delete;
  ~Callable() {
    GilHold gil;
    Py_DECREF(f);
  }
  PyObject *call(const Tensor &arg) const {
    Ref o(wrap(Tensor(arg)));
    return check(PyObject_CallOneArg(f, o.get()));
  }
  PyObject *f;
};

void checkCallable(PyObject *f) {
  if (!PyCallable_Check(f))
    typeError("a hook must be callable, got " + typeName(f));
}
PyObject *registerHookMethod(PyObject *self, PyObject *f) {
  return guarded([&] {
    checkCallable(f);
    auto hook = std::make_shared<Callable>(f);
    return handleObject(implOf(self), registerHook(implOf(self), [hook](const Tensor &g) -> Tensor {
                          GilHold gil;
                          Ref r(hook->call(g));
                          if (r.get() == Py_None)
                            return {};
                          if (!isTensor(r.get()))
                            typeError("hook returned " + typeName(r.get()) + ", expected a Tensor or None");
                          return Tensor::borrow(implOf(r.get()));
                        }));
  });
}
PyObject *registerPostAccumulate(PyObject *self, PyObject *f) {
  return guarded([&] {
    checkCallable(f);
    auto hook = std::make_shared<Callable>(f);
    return handleObject(implOf(self), registerPostAccumulateHook(implOf(self), [hook](const Tensor &leaf) {
                          GilHold gil;
                          Ref r(hook->call(leaf));
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

PyObject *nodeObject(Node *n) {
  PyTypeObject *type = classOfNode(torchc::nodeName(n));
  auto *o = reinterpret_cast<NodeObject *>(type->tp_alloc(type, 0));
  if (o)
    o->node = retain(n);
  return reinterpret_cast<PyObject *>(o);
}

bool addAutograd(PyObject *module) {
  nodeTypes = PyDict_New();
  nodeType = reinterpret_cast<PyTypeObject *>(PyType_FromSpec(&nodeSpec));
  handleType = reinterpret_cast<PyTypeObject *>(PyType_FromSpec(&handleSpec));
  return nodeTypes && nodeType && handleType && PyModule_AddFunctions(module, functions) == 0 &&
         PyModule_AddObjectRef(module, "_Node", reinterpret_cast<PyObject *>(nodeType)) == 0;
}

} // namespace torchc::py
