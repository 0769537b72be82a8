// torchc.export: what a function computes, as one trace.
#include "dialects/trace/SavedProgram.h"
#include "frontends/eager/Families.h"
#include "frontends/jit/Function.h"
#include "frontends/pybind/PyTensor.h"

namespace torchc::py {
namespace {

struct Named {
  std::string name;
  TensorImpl *tensor; // borrowed from the caller's list
  InputKind kind;
};

TensorImpl *tensorOf(PyObject *o) {
  if (!isTensor(o))
    typeError("export(): expected a tensor, got " + typeName(o));
  return implOf(o);
}

/// [(name, tensor)], or with a kind as a third item.
std::vector<Named> namedList(PyObject *list) {
  std::vector<Named> out;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); i++) {
    const char *name;
    PyObject *tensor;
    int kind = int(InputKind::Argument);
    if (!PyArg_ParseTuple(PyList_GET_ITEM(list, i), "sO|i", &name, &tensor, &kind))
      throw PythonError();
    out.push_back({name, tensorOf(tensor), InputKind(kind)});
  }
  return out;
}

[[noreturn]] void unsupported(const std::string &text) {
  Ref module(check(PyImport_ImportModule("torchc.errors")));
  Ref type(check(PyObject_GetAttrString(module.get(), "Unsupported")));
  raise(type.get(), "export(): " + text);
}

void append(PyObject *list, const Ref &item) {
  if (PyList_Append(list, item.get()))
    throw PythonError();
}

/// One run of `fn`, recorded.
class Exporter {
public:
  Exporter(PyObject *fn, std::vector<Named> arguments, std::vector<Named> state)
      : fn(fn), arguments(std::move(arguments)), state(std::move(state)) {}

  /// (trace, names of inputs, [(name, tensor)] of weights)
  PyObject *run() {
    jit::installHooks();
    jit::FunctionOptions options;
    options.name = "export";
    jit::Function function(std::move(options));
    jit::Call call(function);
    if (!call.tracer())
      unsupported("it can't run inside a compiled function, or under inference_mode or autocast");
    std::vector<uint32_t> results = record(*call.tracer());
    tensors = call.tracer()->inputTensors();
    for (TensorImpl *t : tensors) // the tracer lets them go
      if (t)
        kept.push_back(Ref(wrap(Tensor::borrow(t))));
    call.tracer()->finish();
    std::vector<std::unique_ptr<jit::Recording>> path = call.takeRecorded();
    if (path.empty())
      unsupported("the function computes nothing");
    if (path.size() > 1) {
      uint32_t last = path[0]->steps.empty() ? 0 : uint32_t(path[0]->steps.size()) - 1;
      jit::Site site = path[0]->siteOf(last);
      unsupported("the function looks at the numbers of a tensor (item(), bool(), printing) after " + site.file + ":" +
                  std::to_string(site.line) + ", which one graph can't hold");
    }
    if (!path[0]->refused.empty())
      unsupported(path[0]->refused);
    return finish(path[0]->trace, results);
  }

private:
  std::vector<uint32_t> record(jit::Tracer &tracer) {
    for (size_t i = 0; i < arguments.size(); i++) {
      TensorImpl *t = arguments[i].tensor;
      if (t->storage && t->storage->exposed)
        unsupported("argument " + arguments[i].name + " shares memory with another library (NumPy, DLPack); pass a " +
                    "clone() of it");
      tracer.valueOf(t);
      if (tracer.inputTensors().size() != i + 1)
        unsupported("argument " + arguments[i].name + " is the same tensor as an earlier one, or isn't on the CPU");
    }
    Ref list(check(PyObject_CallNoArgs(fn)));
    std::vector<uint32_t> results;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list.get()); i++) {
      uint32_t v = tracer.valueOf(tensorOf(PyList_GET_ITEM(list.get(), i)));
      results.push_back(v == traceNone ? 0 : v); // the recording is refused
    }
    return results;
  }

  PyObject *finish(Trace &trace, const std::vector<uint32_t> &results) {
    Ref names(check(PyList_New(0))), weights(check(PyList_New(0)));
    size_t captured = 0;
    for (size_t i = 0; i < trace.inputs.size(); i++) {
      TraceInput &in = trace.inputs[i];
      std::string name;
      if (i < arguments.size()) {
        in.kind = InputKind::Argument;
        name = arguments[i].name;
      } else if (!tensors[i]) { // seed and ordinal of the generator
        in.kind = InputKind::Argument;
        name = "generator";
      } else {
        const Named *known = nullptr;
        for (const Named &n : state)
          if (n.tensor == tensors[i])
            known = &n;
        in.kind = known ? known->kind : InputKind::Captured;
        name = known ? known->name : "captured" + std::to_string(captured++);
        Ref item(check(Py_BuildValue("(sO)", name.c_str(), objectOf(tensors[i]))));
        append(weights.get(), item);
      }
      in.name = trace.addString(name);
      if (in.kind == InputKind::Argument) {
        Ref text(check(PyUnicode_FromString(name.c_str())));
        append(names.get(), text);
      }
    }
    trace.outputs.clear();
    for (uint32_t v : results)
      trace.addOutput(v);
    std::vector<uint8_t> bytes = writeTrace(trace);
    return check(Py_BuildValue("(y#OO)", reinterpret_cast<const char *>(bytes.data()), Py_ssize_t(bytes.size()),
                               names.get(), weights.get()));
  }

  PyObject *fn;
  std::vector<Named> arguments, state;
  std::vector<TensorImpl *> tensors; // by input; null: the generator
  std::vector<Ref> kept;
};

/// _export_record(fn, [(name, tensor)], [(name, tensor, kind)]): fn() gives a list of tensors.
PyObject *exportRecord(PyObject *, PyObject *args) {
  PyObject *fn, *arguments, *state;
  if (!PyArg_ParseTuple(args, "OO!O!", &fn, &PyList_Type, &arguments, &PyList_Type, &state))
    return nullptr;
  return guarded([&] { return Exporter(fn, namedList(arguments), namedList(state)).run(); });
}

bool readBytes(const char *data, Py_ssize_t size, Trace &trace, Diag &diag) {
  return readTrace({reinterpret_cast<const uint8_t *>(data), size_t(size)}, trace, diag);
}

/// _export_save(path, trace, [(name, tensor)], meta)
PyObject *exportSave(PyObject *, PyObject *args) {
  const char *path, *data, *meta;
  Py_ssize_t size;
  PyObject *list;
  if (!PyArg_ParseTuple(args, "sy#O!s", &path, &data, &size, &PyList_Type, &list, &meta))
    return nullptr;
  return guarded([&]() -> PyObject * {
    SavedProgram program;
    Diag diag;
    program.meta = meta;
    std::vector<Tensor> dense;
    for (const Named &n : namedList(list)) {
      materialize(n.tensor);
      Tensor t = Tensor(contiguousOf(n.tensor));
      dense.push_back(t);
      TensorImpl *impl = t.impl();
      program.weights.push_back({n.name,
                                 impl->dtype,
                                 {impl->sizes(), impl->sizes() + impl->rank},
                                 {reinterpret_cast<const uint8_t *>(impl->data), size_t(impl->nbytes())}});
    }
    if (!readBytes(data, size, program.trace, diag) || !writeProgramFile(path, program, diag))
      throw Error(diag.kind, diag.text);
    Py_RETURN_NONE;
  });
}

/// _export_print(trace)
PyObject *exportPrint(PyObject *, PyObject *args) {
  const char *data;
  Py_ssize_t size;
  if (!PyArg_ParseTuple(args, "y#", &data, &size))
    return nullptr;
  return guarded([&] {
    Trace trace;
    Diag diag;
    if (!readBytes(data, size, trace, diag))
      throw Error(diag.kind, diag.text);
    std::string text = printTrace(trace);
    return check(PyUnicode_DecodeUTF8(text.data(), Py_ssize_t(text.size()), "replace"));
  });
}

PyMethodDef functions[] = {{"_export_record", exportRecord, METH_VARARGS, nullptr},
                           {"_export_save", exportSave, METH_VARARGS, nullptr},
                           {"_export_print", exportPrint, METH_VARARGS, nullptr},
                           {}};

} // namespace

bool addExport(PyObject *module) { return PyModule_AddFunctions(module, functions) == 0; }

} // namespace torchc::py
