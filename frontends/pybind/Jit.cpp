// torchc.compile's core as a Python callable: a jit::Call around each call of the program's function.
#include "frontends/jit/Function.h"
#include "frontends/pybind/PyTensor.h"
#include <chrono>
#include <frameobject.h>
#include <structmember.h>

namespace torchc::py {
namespace {

std::string *packageFolder; // frames below it are torchc's own, not the program's

std::string text(PyObject *o) {
  const char *s = o && PyUnicode_Check(o) ? PyUnicode_AsUTF8(o) : nullptr;
  if (!s)
    PyErr_Clear();
  return s ? s : "";
}

/// The innermost frame of the program; ops may run without Python's lock.
jit::Site programSite() {
  GilHold gil;
  jit::Site site;
  Ref frame = Ref::borrow(reinterpret_cast<PyObject *>(PyEval_GetFrame()));
  while (frame) {
    auto *f = reinterpret_cast<PyFrameObject *>(frame.get());
    Ref code(reinterpret_cast<PyObject *>(PyFrame_GetCode(f)));
    auto *c = reinterpret_cast<PyCodeObject *>(code.get());
    std::string file = text(c->co_filename);
    if (!packageFolder || file.compare(0, packageFolder->size(), *packageFolder) != 0) {
      site.file = file;
      site.function = text(c->co_name);
      site.line = uint32_t(std::max(PyFrame_GetLineNumber(f), 0));
      return site;
    }
    frame = Ref(reinterpret_cast<PyObject *>(PyFrame_GetBack(f)));
  }
  return site;
}

/// Waiting for another thread, which may need Python's lock to go on.
void withoutGil(void (*wait)(void *), void *context) {
  if (!PyGILState_Check())
    return wait(context);
  GilRelease release;
  wait(context);
}

#if PY_VERSION_HEX < 0x030C0000
/// No tracer, profiler or coverage is watching this thread's Python code.
bool unwatched() { return !PyThreadState_Get()->cframe->use_tracing; }
#else
bool unwatched() { return false; } // sys.monitoring can't be asked cheaply: no replay
#endif

PyNumberMethods originalOperators; // of Tensor: a program may replace them

struct Compiled {
  PyObject_HEAD vectorcallfunc vectorcall;
  PyObject *fn, *dict, *weakRefs;
  jit::Function *core;
  bool background;
  double patience; // seconds that a call waits for the compiler when not in the background
  PyObject *code; // for replay: the code that was analysed; null: none
};
Compiled *self(PyObject *o) { return reinterpret_cast<Compiled *>(o); }

/// Waits for all compiles, in short pieces so that signals reach the program (Ctrl-C raises). False: time is up.
bool waitForCompiles(double seconds) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds piece(20);
  auto until = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  for (;;) {
    {
      GilRelease release; // callbacks must not wait for us
      if (jit::CompileService::wait(piece))
        return true;
    }
    if (PyErr_CheckSignals())
      throw PythonError();
    if (Clock::now() >= until)
      return false;
  }
}

/// Tensors in a result: itself, or those of a tuple. False for anything else.
bool resultTensors(PyObject *o, std::vector<TensorImpl *> &out, bool &tuple) {
  tuple = PyTuple_CheckExact(o);
  if (!tuple && !isExactTensor(o))
    return false;
  for (Py_ssize_t i = 0; i < (tuple ? PyTuple_GET_SIZE(o) : 1); i++) {
    PyObject *item = tuple ? PyTuple_GET_ITEM(o, i) : o;
    if (!isExactTensor(item))
      return false;
    out.push_back(implOf(item));
  }
  return true;
}

bool replayGuards(Compiled *c) {
  return unwatched() && reinterpret_cast<PyFunctionObject *>(c->fn)->func_code == c->code &&
         !std::memcmp(tensorType->tp_as_number, &originalOperators, sizeof originalOperators);
}

/// The call without Python, if all guards hold; null without an exception otherwise.
PyObject *tryReplay(Compiled *c, PyObject *const *args, Py_ssize_t n) {
  constexpr Py_ssize_t most = 16;
  TensorImpl *tensors[most];
  if (n > most || n != reinterpret_cast<PyCodeObject *>(c->code)->co_argcount || !replayGuards(c))
    return nullptr;
  for (Py_ssize_t i = 0; i < n; i++) {
    if (!isExactTensor(args[i]))
      return nullptr;
    tensors[i] = implOf(args[i]);
  }
  std::vector<TensorImpl *> results;
  bool tuple;
  if (!c->core->replay(tensors, uint32_t(n), results, tuple))
    return nullptr;
  if (!tuple)
    return wrap(results[0]);
  std::vector<Tensor> owned;
  for (TensorImpl *t : results)
    owned.push_back(Tensor(t));
  return tupleOf(owned);
}

/// A recorded call of an analysed function: what replay has to reproduce.
void noteReplay(Compiled *c, jit::Call &call, PyObject *const *args, Py_ssize_t n, PyObject *result) {
  std::vector<TensorImpl *> arguments, results;
  bool tuple;
  for (Py_ssize_t i = 0; i < n; i++) {
    if (!isExactTensor(args[i]))
      return;
    arguments.push_back(implOf(args[i]));
  }
  if (replayGuards(c) && resultTensors(result, results, tuple))
    call.returned(arguments, results, tuple);
}

/// A digest of the tensors' shapes; 0: there are none.
uint64_t shapesOf(PyObject *const *args, Py_ssize_t n) {
  uint64_t h = 0;
  for (Py_ssize_t i = 0; i < n; i++) {
    if (!isTensor(args[i]))
      continue;
    const TensorImpl *t = implOf(args[i]);
    auto add = [&](int64_t v) { h = (h ^ uint64_t(v)) * 0x9e3779b97f4a7c15u + (h >> 29); };
    add(int64_t(i) * 64 + t->rank + 1);
    for (int k = 0; k < t->rank; k++)
      add(t->sizes()[k]);
    h |= 1;
  }
  return h;
}

int64_t largestArgument(PyObject *const *args, Py_ssize_t n) {
  int64_t most = 0;
  for (Py_ssize_t i = 0; i < n; i++)
    if (isTensor(args[i]))
      most = std::max(most, implOf(args[i])->numel);
  return most;
}

/// CompileError if some call so far isn't one compiled graph.
void checkWhole(Compiled *c) {
  std::string why = c->core->broken();
  if (why.empty())
    return;
  Ref module(check(PyImport_ImportModule("torchc.errors")));
  Ref type(check(PyObject_GetAttrString(module.get(), "CompileError")));
  raise(type.get(), c->core->options().name + ": fullgraph=True: " + why);
}

PyObject *callCompiled(PyObject *o, PyObject *const *args, size_t n, PyObject *names) {
  Compiled *c = self(o);
  if (c->code && !names)
    if (PyObject *r = guarded([&] { return tryReplay(c, args, PyVectorcall_NARGS(n)); }); r || PyErr_Occurred())
      return r;
  Ref keep = Ref::borrow(o); // the call may drop the last reference
  return guarded([&]() -> PyObject * {
    Ref result;
    bool recorded;
    {
      Py_ssize_t all = PyVectorcall_NARGS(n) + (names ? PyTuple_GET_SIZE(names) : 0);
      jit::Call call(*c->core, largestArgument(args, PyVectorcall_NARGS(n)), shapesOf(args, all));
      recorded = call.tracer();
      result = Ref(PyObject_Vectorcall(c->fn, args, n, names));
      if (!result) {
        PythonError error; // what was deferred is computed first, without an exception pending
        throw error;
      }
      call.finish();
      if (c->code && !names && call.wantsResults())
        noteReplay(c, call, args, PyVectorcall_NARGS(n), result.get());
    }
    if (recorded && !c->background && !waitForCompiles(c->patience))
      c->core->noteWait(c->patience);
    if (c->core->options().oneGraph)
      checkWhole(c);
    return result.take();
  });
}

PyObject *newCompiled(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  PyObject *fn;
  const char *name, *file = "";
  int line = 0, compile = 1, background = 1, interpret = 0, measure = 1, limit = 32, dynamic = 1, fullgraph = 0;
  double patience = 60;
  static const char *names[] = {"fn",      "name",  "file",     "line",    "compile",   "background", "interpret",
                                "measure", "limit", "patience", "dynamic", "fullgraph", nullptr};
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "Os|sippppidpp", const_cast<char **>(names), &fn, &name, &file, &line,
                                   &compile, &background, &interpret, &measure, &limit, &patience, &dynamic,
                                   &fullgraph))
    return nullptr;
  if (!PyCallable_Check(fn)) {
    PyErr_Format(PyExc_TypeError, "expected a callable, got %.200s", Py_TYPE(fn)->tp_name);
    return nullptr;
  }
  return guarded([&] {
    jit::FunctionOptions o;
    o.name = name;
    o.site.file = file;
    o.site.function = name;
    o.site.line = uint32_t(std::max(line, 0));
    o.compile = compile;
    o.interpret = interpret;
    o.measure = measure;
    o.maxRecordings = limit;
    o.dynamic = dynamic;
    o.oneGraph = fullgraph;
    auto core = std::make_unique<jit::Function>(std::move(o));
    PyObject *made = check(type->tp_alloc(type, 0));
    Compiled *c = self(made);
    c->vectorcall = callCompiled;
    c->fn = Py_NewRef(fn);
    c->core = core.release();
    c->background = background;
    c->patience = std::clamp(patience, 0.0, 1e6);
    return made;
  });
}

int traverse(PyObject *o, visitproc visit, void *arg) {
  Py_VISIT(self(o)->fn);
  Py_VISIT(self(o)->dict);
  Py_VISIT(self(o)->code);
  Py_VISIT(Py_TYPE(o));
  return 0;
}
int clear(PyObject *o) {
  Py_CLEAR(self(o)->fn);
  Py_CLEAR(self(o)->dict);
  Py_CLEAR(self(o)->code);
  return 0;
}
void dealloc(PyObject *o) {
  PyTypeObject *type = Py_TYPE(o);
  PyObject_GC_UnTrack(o);
  if (self(o)->weakRefs)
    PyObject_ClearWeakRefs(o);
  clear(o);
  delete self(o)->core;
  type->tp_free(o);
  Py_DECREF(type);
}

/// As a function found in a class: a bound method.
PyObject *descrGet(PyObject *o, PyObject *instance, PyObject *) {
  return !instance || instance == Py_None ? Py_NewRef(o) : PyMethod_New(o, instance);
}

PyObject *report(PyObject *o, PyObject *) {
  return guarded([&] {
    std::string s = self(o)->core->report();
    return check(PyUnicode_DecodeUTF8(s.data(), Py_ssize_t(s.size()), "replace"));
  });
}
PyObject *tier(PyObject *o, PyObject *) {
  return guarded([&] {
    std::string why, name = self(o)->core->tier(&why);
    return check(Py_BuildValue("(ss)", name.c_str(), why.c_str()));
  });
}
PyObject *counts(PyObject *o, PyObject *) {
  return guarded([&] {
    jit::Function::Counts c = self(o)->core->counts();
    return check(Py_BuildValue("{sK sK sK sK sK sK sK sK sK sK sK sK}", "calls", c.calls, "recorded", c.recorded,
                               "retraced", c.retraced, "left", c.left, "recordings", c.recordings, "ready", c.ready,
                               "failed", c.failed, "pending", c.pending, "launches", c.launches, "interpreted",
                               c.interpreted, "replayed", c.replayed, "dynamic", c.dynamic));
  });
}

/// _allow_replay(why): an empty `why` says that the function's code, as it is now, depends on its tensor arguments alone.
PyObject *allowReplay(PyObject *o, PyObject *why) {
  return guarded([&]() -> PyObject * {
    Compiled *c = self(o);
    std::string reason = text(why);
    bool allowed = reason.empty() && PyFunction_Check(c->fn);
    Py_CLEAR(c->code);
    if (allowed)
      c->code = Py_NewRef(PyFunction_GET_CODE(c->fn));
    c->core->allowReplay(allowed, std::move(reason));
    Py_RETURN_NONE;
  });
}

/// As a function, by its name; as a bound method, which isn't compiled when it is read.
PyObject *reduce(PyObject *o, PyObject *) {
  PyObject *fn = self(o)->fn;
  return PyMethod_Check(fn) ? PyObject_CallMethod(fn, "__reduce__", nullptr)
                            : PyObject_GetAttrString(o, "__qualname__");
}
PyObject *copy(PyObject *o, PyObject *) { return Py_NewRef(o); }
/// A function is its own copy, a method one of the copied object.
PyObject *deepCopy(PyObject *o, PyObject *memo) {
  Compiled *c = self(o);
  if (!PyMethod_Check(c->fn))
    return Py_NewRef(o);
  Ref copying(PyImport_ImportModule("copy")), jit(PyImport_ImportModule("torchc.jit"));
  Ref fn(copying ? PyObject_CallMethod(copying.get(), "deepcopy", "OO", c->fn, memo) : nullptr);
  if (!fn || !jit)
    return nullptr;
  Ref compile(PyObject_GetAttrString(jit.get(), "_compiled"));
  Ref args(Py_BuildValue("(OOs)", fn.get(), c->background ? Py_True : Py_False, c->core->options().name.c_str()));
  Ref options(Py_BuildValue("{sOsO}", "dynamic", c->core->options().dynamic ? Py_True : Py_False, "fullgraph",
                            c->core->options().oneGraph ? Py_True : Py_False));
  return compile && args && options ? PyObject_Call(compile.get(), args.get(), options.get()) : nullptr;
}

PyMethodDef methods[] = {
    {"__reduce__", reduce, METH_NOARGS, nullptr},
    {"__copy__", copy, METH_NOARGS, nullptr},
    {"__deepcopy__", deepCopy, METH_O, nullptr},
    {"_allow_replay", allowReplay, METH_O, nullptr},
    {"report", report, METH_NOARGS,
     "report($self)\n--\n\nWhat calls do and why, the recordings with their state, and what happened, as text."},
    {"tier", tier, METH_NOARGS,
     "tier($self)\n--\n\nWhat the next call does (eager, recording, re-trace, replay), and why."},
    {"counts", counts, METH_NOARGS,
     "counts($self)\n--\n\nHow many calls, recordings and launches there were, as a dict."},
    {}};
PyMemberDef members[] = {{"__vectorcalloffset__", T_PYSSIZET, offsetof(Compiled, vectorcall), READONLY, nullptr},
                         {"__dictoffset__", T_PYSSIZET, offsetof(Compiled, dict), READONLY, nullptr},
                         {"__weaklistoffset__", T_PYSSIZET, offsetof(Compiled, weakRefs), READONLY, nullptr},
                         {"function", T_OBJECT, offsetof(Compiled, fn), READONLY, "the function that is compiled"},
                         {}};
PyGetSetDef getset[] = {{"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr}, {}};
PyType_Slot slots[] = {
    {Py_tp_new, reinterpret_cast<void *>(newCompiled)},
    {Py_tp_dealloc, reinterpret_cast<void *>(dealloc)},
    {Py_tp_traverse, reinterpret_cast<void *>(traverse)},
    {Py_tp_clear, reinterpret_cast<void *>(clear)},
    {Py_tp_call, reinterpret_cast<void *>(PyVectorcall_Call)},
    {Py_tp_descr_get, reinterpret_cast<void *>(descrGet)},
    {Py_tp_methods, methods},
    {Py_tp_members, members},
    {Py_tp_getset, getset},
    {Py_tp_doc, const_cast<char *>("A function that torchc.compile made; called like the original.")},
    {}};
PyType_Spec spec = {"torchc._C.CompiledFunction", sizeof(Compiled), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL, slots};

/// _jit_configure(helper, cache_folder, package_folder, why): before the first compile. An empty helper: nothing is
/// compiled, and `why` is the reason that reports give.
PyObject *configure(PyObject *, PyObject *args) {
  const char *helper, *cache, *package, *why;
  if (!PyArg_ParseTuple(args, "ssss", &helper, &cache, &package, &why))
    return nullptr;
  return guarded([&] {
    if (!packageFolder)
      packageFolder = new std::string;
    *packageFolder = package;
    jit::sourceCallback = programSite;
    jit::blockingCallback = withoutGil;
    jit::CompileService::Options o;
    o.helper = helper;
    if (*cache)
      o.cacheFolder = cache;
    o.why = why;
    return PyBool_FromLong(jit::CompileService::configure(std::move(o)));
  });
}
PyObject *wait(PyObject *, PyObject *args) {
  double seconds = 1e6;
  if (!PyArg_ParseTuple(args, "|d", &seconds))
    return nullptr;
  return guarded([&] { return PyBool_FromLong(waitForCompiles(std::clamp(seconds, 0.0, 1e6))); });
}
PyObject *helperPid(PyObject *, PyObject *) {
  std::optional<pid_t> pid = jit::CompileService::helperPid();
  return pid ? PyLong_FromLong(*pid) : Py_NewRef(Py_None);
}
PyObject *recordsText(PyObject *, PyObject *) {
  return guarded([&] {
    std::string s = jit::Records::global().text();
    return check(PyUnicode_DecodeUTF8(s.data(), Py_ssize_t(s.size()), "replace"));
  });
}
PyMethodDef functions[] = {
    {"_jit_configure", configure, METH_VARARGS, nullptr},
    {"_jit_wait", wait, METH_VARARGS,
     "_jit_wait(seconds=1000000.0)\n--\n\nWaits until no compile is pending; False: the time was up before."},
    {"_jit_helper_pid", helperPid, METH_NOARGS,
     "_jit_helper_pid()\n--\n\nProcess id of the running helper, None if there is none."},
    {"_jit_records", recordsText, METH_NOARGS,
     "_jit_records()\n--\n\nThe process's records of fallbacks, misses and failures, as text."},
    {}};

} // namespace

bool addJit(PyObject *module) {
  originalOperators = *tensorType->tp_as_number;
  PyObject *type = PyType_FromSpec(&spec);
  return type && PyModule_AddObject(module, "_CompiledFunction", type) == 0 &&
         PyModule_AddFunctions(module, functions) == 0;
}

} // namespace torchc::py
