// torch.autograd.Function, saved_tensors_hooks and anomaly mode: the parts of python/torchc/autograd that touch nodes.
#include "frontends/autograd/Autograd.h"
#include "frontends/autograd/Tape.h"
#include "frontends/autograd/Views.h"
#include "frontends/eager/Modes.h"
#include "frontends/pybind/Args.h"
#include "frontends/pybind/AutogradObjects.h"
#include <algorithm>

namespace torchc::py {
namespace {

// ---- what ctx.save_for_backward keeps

struct Saved {
  Tensor tensor;
  uint32_t version = 0;
  int output = -1; // >= 0: that output of the function, kept without its history
  Unpack packed;
};
struct SavedList {
  std::vector<Saved> items; // undefined tensor and no `packed`: None
  Node *node = nullptr;     // borrowed
  bool freed = false;
};
struct SavedObject {
  PyObject_HEAD std::shared_ptr<SavedList> list;
};
PyTypeObject *savedType;

Tensor unpackSaved(const SavedList &list, const Saved &s) {
  Tensor t = s.tensor;
  if (s.packed)
    t = s.packed();
  else if (t.defined() && t->version() != s.version)
    fail("one of the variables needed for gradient computation has been modified by an inplace operation: [" +
         std::string(torchName(t->dtype)) + " " + t->dims().str() + "] is at version " + std::to_string(t->version()) +
         "; expected version " + std::to_string(s.version) + " instead.");
  return s.output >= 0 && list.node && t.defined() ? withHistory(t, list.node, s.output) : t;
}

PyObject *savedUnpack(PyObject *o, PyObject *) {
  return guarded([&] {
    std::shared_ptr<SavedList> list = reinterpret_cast<SavedObject *>(o)->list;
    if (list->freed)
      backwardTwice();
    std::vector<Tensor> out;
    for (const Saved &s : list->items)
      out.push_back(unpackSaved(*list, s));
    return tupleOf(out);
  });
}
void savedDealloc(PyObject *o) {
  PyTypeObject *type = Py_TYPE(o);
  reinterpret_cast<SavedObject *>(o)->list.~shared_ptr();
  type->tp_free(o);
  Py_DECREF(type);
}
PyMethodDef savedMethods[] = {
    {"unpack", savedUnpack, METH_NOARGS, "unpack($self)\n--\n\nThe saved tensors, checked against later writes."}, {}};
PyType_Slot savedSlots[] = {{Py_tp_dealloc, reinterpret_cast<void *>(savedDealloc)}, {Py_tp_methods, savedMethods}, {}};
PyType_Spec savedSpec = {"torchc._C._SavedTensors", sizeof(SavedObject), 0,
                         Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, savedSlots};

// ---- the node of a custom function

class PyFunction : public NodeFunction {
public:
  PyFunction(PyObject *context, std::string name, std::shared_ptr<SavedList> saved)
      : context(Ref::borrow(context)), label(std::move(name)), saved(std::move(saved)) {}
  ~PyFunction() override {
    saved->node = nullptr;
    GilHold gil;
    context = Ref();
  }
  std::string name() const override { return label; }
  std::vector<Tensor> apply(const std::vector<Tensor> &cotangents, const std::vector<bool> &) override {
    GilHold gil;
    Ref grads(tupleOf(cotangents));
    PyObject *args[] = {context.get(), grads.get()};
    Ref r(check(callPackage("torchc.autograd.function", "_run_backward", args, 2)));
    std::vector<Tensor> out;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(r.get()); i++) {
      PyObject *item = PyTuple_GET_ITEM(r.get(), i);
      out.push_back(item == Py_None ? Tensor() : Tensor::borrow(implOf(item)));
    }
    return out;
  }
  void releaseSaved() override {
    saved->items.clear();
    saved->freed = true;
  }
  PyObject *ctx() const { return context.get(); }

private:
  Ref context;
  std::string label;
  std::shared_ptr<SavedList> saved;
};

bool contains(PyObject *tuple, PyObject *o) {
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple); i++)
    if (PyTuple_GET_ITEM(tuple, i) == o)
      return true;
  return false;
}

struct FunctionCall {
  PyObject *context, *inputs, *outputs, *dirty, *fixed, *saved; // tuples but the first
};

/// What apply() returns for each output, and the tensors among them that get the function as their history.
void chooseOutputs(const FunctionCall &c, std::vector<Ref> &shown, std::vector<Tensor> &recorded) {
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(c.dirty); i++)
    if (!contains(c.outputs, PyTuple_GET_ITEM(c.dirty, i)))
      fail("Some elements marked as dirty during the forward method were not returned as output. The inputs that are "
           "modified inplace must all be outputs of the Function.");
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(c.outputs); i++) {
    PyObject *o = PyTuple_GET_ITEM(c.outputs, i);
    shown.push_back(Ref::borrow(o));
    recorded.emplace_back();
    if (!isTensor(o) || contains(c.fixed, o) || !isDifferentiable(implOf(o)->dtype))
      continue;
    if (contains(c.dirty, o)) {
      checkInplace(implOf(o), true);
      recorded.back() = Tensor::borrow(implOf(o));
      continue;
    }
    if (contains(c.inputs, o) || requiresGrad(implOf(o)))
      shown.back() = Ref(wrap(detachTensor(Borrowed(o))));
    recorded.back() = Tensor::borrow(implOf(shown.back().get()));
    if (contains(c.inputs, o) || implOf(o)->view)
      recorded.back()->flags |= flagFixedView;
  }
}

std::shared_ptr<SavedList> saveAll(const FunctionCall &c) {
  auto list = std::make_shared<SavedList>();
  NoGradGuard quiet;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(c.saved); i++) {
    PyObject *o = PyTuple_GET_ITEM(c.saved, i);
    Saved s;
    if (isTensor(o)) {
      s.tensor = Tensor::borrow(implOf(o));
      for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(c.outputs) && !contains(c.inputs, o); k++)
        if (PyTuple_GET_ITEM(c.outputs, k) == o && !contains(c.fixed, o) && isDifferentiable(implOf(o)->dtype)) {
          s.tensor = detachTensor(s.tensor);
          s.output = int(k);
        }
      s.version = s.tensor->version();
      if (savedHooks) {
        s.packed = savedHooks->pack(s.tensor);
        s.tensor = Tensor();
      }
    }
    list->items.push_back(std::move(s));
  }
  return list;
}

/// _finish_function(ctx, name, inputs, outputs, dirty, non_differentiable, saved): makes `outputs` the results of a
/// custom function; returns them as apply() shows them, and what ctx.saved_tensors reads.
PyObject *finishFunction(PyObject *, PyObject *args) {
  FunctionCall c;
  const char *name;
  if (!PyArg_ParseTuple(args, "OsO!O!O!O!O!:_finish_function", &c.context, &name, &PyTuple_Type, &c.inputs,
                        &PyTuple_Type, &c.outputs, &PyTuple_Type, &c.dirty, &PyTuple_Type, &c.fixed, &PyTuple_Type,
                        &c.saved))
    return nullptr;
  return guarded([&] {
    std::vector<Tensor> inputs, recorded;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(c.inputs); i++) {
      PyObject *o = PyTuple_GET_ITEM(c.inputs, i);
      inputs.push_back(isTensor(o) ? Tensor::borrow(implOf(o)) : Tensor());
    }
    std::vector<Ref> shown;
    std::shared_ptr<SavedList> list = saveAll(c);
    chooseOutputs(c, shown, recorded);
    list->node = recordFunction(std::make_unique<PyFunction>(c.context, name, list), inputs, recorded);
    Ref saved(check(savedType->tp_alloc(savedType, 0)));
    new (&reinterpret_cast<SavedObject *>(saved.get())->list) std::shared_ptr<SavedList>(list);
    Ref results(check(PyTuple_New(Py_ssize_t(shown.size()))));
    for (size_t i = 0; i < shown.size(); i++)
      PyTuple_SET_ITEM(results.get(), Py_ssize_t(i), shown[i].take());
    return check(PyTuple_Pack(2, results.get(), saved.get()));
  });
}

// ---- saved_tensors_hooks

class PySavedHooks : public SavedHooks {
public:
  PySavedHooks(PyObject *pack, PyObject *unpack)
      : packer(callableOf(pack)), unpacker(callableOf(unpack)), outer(savedHooks) {}
  Unpack pack(const Tensor &t) override {
    GilHold gil;
    Ref given(wrap(Tensor(t)));
    struct Hidden { // hooks don't apply to what hooks compute
      SavedHooks *was = std::exchange(savedHooks, nullptr);
      ~Hidden() { savedHooks = was; }
    } hidden;
    auto stored = std::make_shared<Callable>(Ref(check(PyObject_CallOneArg(packer->f, given.get()))).get());
    return [stored, unpack = unpacker]() -> Tensor {
      GilHold held;
      Ref r(check(PyObject_CallOneArg(unpack->f, stored->f)));
      if (!isTensor(r.get()))
        typeError("Output of saved tensor unpack_hook expected to be a Tensor but got " + typeName(r.get()));
      return Tensor::borrow(implOf(r.get()));
    };
  }
  std::shared_ptr<Callable> packer, unpacker;
  SavedHooks *outer;
};

PyObject *pushSavedHooks(PyObject *, PyObject *args) {
  PyObject *pack, *unpack;
  if (!PyArg_ParseTuple(args, "OO:_push_saved_hooks", &pack, &unpack))
    return nullptr;
  return guarded([&]() -> PyObject * {
    savedHooks = new PySavedHooks(pack, unpack);
    changeFlags(FlagSavedHooks, 0); // compiled functions run eagerly
    Py_RETURN_NONE;
  });
}
PyObject *popSavedHooks(PyObject *, PyObject *) {
  if (auto *top = static_cast<PySavedHooks *>(savedHooks)) {
    savedHooks = top->outer;
    delete top;
    if (!savedHooks)
      changeFlags(0, FlagSavedHooks);
  }
  Py_RETURN_NONE;
}

// ---- anomaly mode

/// Calls a function of the package about a node; what it raises is shown and dropped.
void tellPackage(const char *function, Node *n) {
  GilHold gil;
  Ref name(PyUnicode_FromString(torchc::nodeName(n).c_str()));
  PyObject *args[] = {metadataOf(n), name.get()};
  Ref r(callPackage("torchc.autograd.anomaly_mode", function, args, 2));
  if (!r)
    PyErr_WriteUnraisable(name.get());
}
PyObject *setAnomaly(PyObject *, PyObject *args) {
  int on, nan;
  if (!PyArg_ParseTuple(args, "pp:_set_detect_anomaly", &on, &nan))
    return nullptr;
  anomalyMode.created = [](Node *n) {
    if (n->kind != NodeKind::Function) // its name isn't known yet
      tellPackage("_created", n);
  };
  anomalyMode.failed = [](Node *n) { tellPackage("_failed", n); };
  anomalyMode.checkNan = nan;
  anomalyMode.enabled = on;
  Py_RETURN_NONE;
}
PyObject *anomalyState(PyObject *, PyObject *) {
  return Py_BuildValue("(NN)", PyBool_FromLong(anomalyMode.enabled), PyBool_FromLong(anomalyMode.checkNan));
}

PyMethodDef functions[] = {{"_finish_function", finishFunction, METH_VARARGS, nullptr},
                           {"_push_saved_hooks", pushSavedHooks, METH_VARARGS, nullptr},
                           {"_pop_saved_hooks", popSavedHooks, METH_NOARGS, nullptr},
                           {"_set_detect_anomaly", setAnomaly, METH_VARARGS, nullptr},
                           {"_anomaly_state", anomalyState, METH_NOARGS, nullptr},
                           {}};

} // namespace

PyObject *functionContext(Node *n) {
  if (n->kind != NodeKind::Function)
    return nullptr;
  auto *f = dynamic_cast<PyFunction *>(n->extra->function.get());
  return f ? f->ctx() : nullptr;
}

bool addFunction(PyObject *module) {
  savedType = reinterpret_cast<PyTypeObject *>(PyType_FromSpec(&savedSpec));
  return savedType && PyModule_AddFunctions(module, functions) == 0;
}

} // namespace torchc::py
