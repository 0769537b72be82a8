// torchc.export: what a function computes, as one trace.
#include "dialects/trace/SavedProgram.h"
#include "frontends/eager/Families.h"
#include "frontends/jit/Program.h"
#include "frontends/pybind/PyTensor.h"

namespace torchc::py {
namespace {

TensorImpl *tensorOf(PyObject *o) {
  if (!isTensor(o))
    typeError("export(): expected a tensor, got " + typeName(o));
  return implOf(o);
}

/// [(name, tensor)], or with a kind as a third item.
std::vector<jit::NamedTensor> namedList(PyObject *list) {
  std::vector<jit::NamedTensor> out;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); i++) {
    const char *name;
    PyObject *tensor;
    int kind = int(InputKind::Argument);
    PyObject *item = PyList_GET_ITEM(list, i);
    if (!PyTuple_Check(item))
      typeError("export(): expected a tuple of name and tensor, got " + typeName(item));
    if (!PyArg_ParseTuple(item, "sO|i", &name, &tensor, &kind))
      throw PythonError();
    out.push_back({name, Tensor::borrow(tensorOf(tensor)), InputKind(kind)});
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

/// _export_record(fn, [(name, tensor)], [(name, tensor, kind)]): fn() gives a list of tensors.
/// (trace, names of inputs, [(name, tensor)] of weights)
PyObject *exportRecord(PyObject *, PyObject *args) {
  PyObject *fn, *arguments, *state;
  if (!PyArg_ParseTuple(args, "OO!O!", &fn, &PyList_Type, &arguments, &PyList_Type, &state))
    return nullptr;
  return guarded([&]() -> PyObject * {
    auto run = [&] {
      Ref list(check(PyObject_CallNoArgs(fn)));
      if (!PyList_Check(list.get()))
        typeError("_export_record(): expected a list of tensors from the function, got " + typeName(list.get()));
      std::vector<Tensor> results;
      for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list.get()); i++)
        results.push_back(Tensor::borrow(tensorOf(PyList_GET_ITEM(list.get(), i))));
      return results;
    };
    jit::RecordedProgram program;
    try {
      program = jit::recordProgram(run, namedList(arguments), namedList(state));
    } catch (const jit::Unsupported &e) {
      unsupported(e.what());
    }
    Ref names(check(PyList_New(0))), weights(check(PyList_New(0)));
    for (const std::string &name : program.inputs)
      append(names.get(), Ref(check(PyUnicode_FromString(name.c_str()))));
    for (const jit::NamedTensor &w : program.weights)
      append(weights.get(), Ref(check(Py_BuildValue("(sN)", w.name.c_str(), wrap(Tensor(w.tensor))))));
    std::vector<uint8_t> bytes = writeTrace(program.trace);
    return check(Py_BuildValue("(y#OO)", reinterpret_cast<const char *>(bytes.data()), Py_ssize_t(bytes.size()),
                               names.get(), weights.get()));
  });
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
    for (const jit::NamedTensor &n : namedList(list)) {
      materialize(n.tensor.impl());
      Tensor t = Tensor(contiguousOf(n.tensor.impl()));
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
