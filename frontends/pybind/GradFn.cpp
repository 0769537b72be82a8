// grad_fn objects: names, edges, hooks and metadata of nodes; and the handles of all hooks.
#include "frontends/autograd/Autograd.h"
#include "frontends/pybind/Args.h"
#include "frontends/pybind/AutogradObjects.h"

namespace torchc::py {
namespace {

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
  for (int i = 0; out && !leaf && i < int(n->numInputs); i++) {
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
PyObject *nodeMetadata(PyObject *o, void *) {
  return guarded([&] { return Py_NewRef(metadataOf(nodeOf(o))); });
}
/// A custom function's `ctx` answers for the attributes that programs read off its grad_fn.
PyObject *nodeAttribute(PyObject *o, PyObject *name) {
  PyObject *found = PyObject_GenericGetAttr(o, name);
  if (found || !PyErr_ExceptionMatches(PyExc_AttributeError))
    return found;
  PyObject *context = functionContext(nodeOf(o));
  if (!context)
    return nullptr;
  PyErr_Clear();
  return PyObject_GetAttr(context, name);
}
PyObject *nodeCompare(PyObject *a, PyObject *b, int op) {
  if ((op != Py_EQ && op != Py_NE) || !PyObject_TypeCheck(b, nodeType))
    Py_RETURN_NOTIMPLEMENTED;
  return PyBool_FromLong((nodeOf(a) == nodeOf(b)) == (op == Py_EQ));
}
Py_hash_t nodeHash(PyObject *o) { return _Py_HashPointer(nodeOf(o)); }

// ---- hooks of nodes

/// A hook's replacement for `values`: None leaves them, else a tensor or a tuple of as many entries.
void takeReplacement(PyObject *r, std::vector<Tensor> &values, const char *what) {
  if (r == Py_None)
    return;
  Ref tuple = PyTuple_Check(r) ? Ref::borrow(r) : Ref(check(PyTuple_Pack(1, r)));
  if (size_t(PyTuple_GET_SIZE(tuple.get())) != values.size())
    fail(std::string("hook has returned an incorrect number of values for ") + what + " (got " +
         std::to_string(PyTuple_GET_SIZE(tuple.get())) + ", but expected " + std::to_string(values.size()) + ")");
  for (size_t i = 0; i < values.size(); i++) {
    PyObject *item = PyTuple_GET_ITEM(tuple.get(), Py_ssize_t(i));
    if (item != Py_None && !isTensor(item))
      typeError("expected Tensor, but hook returned '" + typeName(item) + "'");
    values[i] = item == Py_None ? Tensor() : Tensor::borrow(implOf(item));
  }
}

PyObject *nodeRegisterHook(PyObject *o, PyObject *f) {
  return guarded([&] {
    auto hook = callableOf(f);
    return handleObject(registerNodeHook(
        nodeOf(o), PostHook([hook](std::vector<Tensor> &gradients, const std::vector<Tensor> &cotangents) {
          GilHold gil;
          Ref in(tupleOf(gradients)), out(tupleOf(cotangents));
          Ref r(check(PyObject_CallFunctionObjArgs(hook->f, in.get(), out.get(), nullptr)));
          takeReplacement(r.get(), gradients, "grad_inputs");
        })));
  });
}
PyObject *nodeRegisterPreHook(PyObject *o, PyObject *f) {
  return guarded([&] {
    auto hook = callableOf(f);
    return handleObject(registerNodeHook(nodeOf(o), PreHook([hook](std::vector<Tensor> &cotangents) {
                                           GilHold gil;
                                           Ref given(tupleOf(cotangents));
                                           Ref r(check(PyObject_CallOneArg(hook->f, given.get())));
                                           takeReplacement(r.get(), cotangents, "grad_outputs");
                                         })));
  });
}

PyMethodDef nodeMethods[] = {
    {"name", nodeName, METH_NOARGS, "name($self)\n--\n\nThe operation's name."},
    {"_sequence_nr", nodeSequence, METH_NOARGS, nullptr},
    {"register_hook", nodeRegisterHook, METH_O,
     "register_hook($self, fn, /)\n--\n\nCalls fn(grad_inputs, grad_outputs) after the node ran; a tuple it returns "
     "replaces grad_inputs. Returns a handle with remove()."},
    {"register_prehook", nodeRegisterPreHook, METH_O,
     "register_prehook($self, fn, /)\n--\n\nCalls fn(grad_outputs) before the node runs; a tuple it returns replaces "
     "them. Returns a handle with remove()."},
    {}};
PyGetSetDef nodeProperties[] = {
    {"next_functions", nodeNext, nullptr, "(grad_fn, output number) of each input; None where no gradient is needed."},
    {"variable", nodeVariable, nullptr, "The leaf that an AccumulateGrad belongs to."},
    {"metadata", nodeMetadata, nullptr, "A dictionary for the program's use that lives as long as the node."},
    {}};
PyType_Slot nodeSlots[] = {{Py_tp_dealloc, reinterpret_cast<void *>(nodeDealloc)},
                           {Py_tp_repr, reinterpret_cast<void *>(nodeRepr)},
                           {Py_tp_richcompare, reinterpret_cast<void *>(nodeCompare)},
                           {Py_tp_hash, reinterpret_cast<void *>(nodeHash)},
                           {Py_tp_getattro, reinterpret_cast<void *>(nodeAttribute)},
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

// ---- handles

struct HandleObject {
  PyObject_HEAD HookHandle hook;
  uint64_t id;
};
PyTypeObject *handleType;

HandleObject *handleOf(PyObject *o) { return reinterpret_cast<HandleObject *>(o); }
void handleDealloc(PyObject *o) {
  PyTypeObject *type = Py_TYPE(o);
  handleOf(o)->hook.~HookHandle();
  type->tp_free(o);
  Py_DECREF(type);
}
PyObject *handleRemove(PyObject *o, PyObject *) {
  return guarded([&]() -> PyObject * {
    removeHook(handleOf(o)->hook);
    Py_RETURN_NONE;
  });
}
PyObject *handleId(PyObject *o, void *) { return PyLong_FromUnsignedLongLong(handleOf(o)->id); }
PyObject *handleEnter(PyObject *o, PyObject *) { return Py_NewRef(o); }
PyObject *handleExit(PyObject *o, PyObject *const *, Py_ssize_t) { return handleRemove(o, nullptr); }
PyMethodDef handleMethods[] = {
    {"remove", handleRemove, METH_NOARGS, "remove($self)\n--\n\nRemoves the hook; a second call does nothing."},
    {"__enter__", handleEnter, METH_NOARGS},
    {"__exit__", reinterpret_cast<PyCFunction>(reinterpret_cast<void *>(handleExit)), METH_FASTCALL},
    {}};
PyGetSetDef handleProperties[] = {{"id", handleId, nullptr, "A number of its own."}, {}};
PyType_Slot handleSlots[] = {{Py_tp_dealloc, reinterpret_cast<void *>(handleDealloc)},
                             {Py_tp_methods, handleMethods},
                             {Py_tp_getset, handleProperties},
                             {}};
PyType_Spec handleSpec = {"torchc._C._HookHandle", sizeof(HandleObject), 0,
                          Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, handleSlots};

} // namespace

Callable::~Callable() {
  GilHold gil;
  Py_DECREF(f);
}

std::shared_ptr<Callable> callableOf(PyObject *f) {
  if (!PyCallable_Check(f))
    typeError("a hook must be callable, got " + typeName(f));
  return std::make_shared<Callable>(f);
}

PyObject *handleObject(HookHandle hook) {
  static uint64_t next = 0;
  auto *h = reinterpret_cast<HandleObject *>(check(handleType->tp_alloc(handleType, 0)));
  new (&h->hook) HookHandle(std::move(hook));
  h->id = next++;
  return reinterpret_cast<PyObject *>(h);
}

PyObject *metadataOf(Node *n) {
  std::shared_ptr<void> &slot = n->more().metadata;
  if (!slot)
    slot = std::shared_ptr<void>(check(PyDict_New()), [](void *p) {
      GilHold gil;
      Py_DECREF(static_cast<PyObject *>(p));
    });
  return static_cast<PyObject *>(slot.get());
}

PyObject *nodeObject(Node *n) {
  PyTypeObject *type = classOfNode(torchc::nodeName(n));
  auto *o = reinterpret_cast<NodeObject *>(type->tp_alloc(type, 0));
  if (o)
    o->node = retain(n);
  return reinterpret_cast<PyObject *>(o);
}

bool addGradFn(PyObject *module) {
  nodeTypes = PyDict_New();
  nodeType = reinterpret_cast<PyTypeObject *>(PyType_FromSpec(&nodeSpec));
  handleType = reinterpret_cast<PyTypeObject *>(PyType_FromSpec(&handleSpec));
  return nodeTypes && nodeType && handleType &&
         PyModule_AddObjectRef(module, "_Node", reinterpret_cast<PyObject *>(nodeType)) == 0;
}

} // namespace torchc::py
