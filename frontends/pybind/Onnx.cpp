// torchc.onnx: a model file as an object that Python can run.
#include "dialects/trace/SavedProgram.h"
#include "frontends/onnx/Export.h"
#include "frontends/onnx/Program.h"
#include "frontends/pybind/PyTensor.h"

namespace torchc::py {
namespace {

constexpr const char *capsuleName = "torchc.onnx.Program";

onnx::Program &programOf(PyObject *capsule) {
  auto *p = static_cast<onnx::Program *>(PyCapsule_GetPointer(capsule, capsuleName));
  if (!p)
    throw PythonError();
  return *p;
}

/// _onnx_load(path) or _onnx_load(bytes)
PyObject *load(PyObject *, PyObject *source) {
  return guarded([&]() -> PyObject * {
    std::unique_ptr<onnx::Program> program;
    if (PyBytes_Check(source)) {
      program =
          onnx::Program::load(onnx::MappedFile({PyBytes_AS_STRING(source), size_t(PyBytes_GET_SIZE(source))}), "");
    } else {
      const char *path = PyUnicode_AsUTF8(source);
      if (!path)
        throw PythonError();
      program = onnx::Program::loadFile(path);
    }
    return check(PyCapsule_New(program.release(), capsuleName, [](PyObject *c) {
      delete static_cast<onnx::Program *>(PyCapsule_GetPointer(c, capsuleName));
    }));
  });
}

PyObject *namesOf(const std::vector<onnx::ValueInfo> &list) {
  Ref out(check(PyList_New(0)));
  for (const onnx::ValueInfo &v : list) {
    Ref dims(check(PyList_New(0)));
    for (const onnx::Dim &d : v.dims) {
      Ref item(check(d.value >= 0 ? PyLong_FromLongLong(d.value)
                                  : PyUnicode_DecodeUTF8(d.param.data(), Py_ssize_t(d.param.size()), "replace")));
      if (PyList_Append(dims.get(), item.get()))
        throw PythonError();
    }
    Ref entry(check(Py_BuildValue("(s#iO)", v.name.data(), Py_ssize_t(v.name.size()), int(v.elemType),
                                  v.hasShape ? dims.get() : Py_None)));
    if (PyList_Append(out.get(), entry.get()))
      throw PythonError();
  }
  return out.take();
}

/// _onnx_info(program): ([(name, type, sizes)] of inputs, of outputs, opset)
PyObject *info(PyObject *, PyObject *capsule) {
  return guarded([&] {
    onnx::Program &p = programOf(capsule);
    Ref in(namesOf(p.inputs())), out(namesOf(p.outputs()));
    return check(Py_BuildValue("(OOL)", in.get(), out.get(), (long long)p.opset()));
  });
}

/// _onnx_weights(program): [(name, tensor)]; the tensors are those that the program uses.
PyObject *weights(PyObject *, PyObject *capsule) {
  return guarded([&] {
    Ref out(check(PyList_New(0)));
    for (auto &[name, tensor] : programOf(capsule).weights()) {
      Ref item(check(Py_BuildValue("(s#N)", name.data(), Py_ssize_t(name.size()), wrap(Tensor(tensor)))));
      if (PyList_Append(out.get(), item.get()))
        throw PythonError();
    }
    return out.take();
  });
}

/// `level`: how many lists `o` lies in; one that contains itself has no end.
onnx::Value toValue(PyObject *o, int level = 0) {
  constexpr int maxLevels = 64;
  if (level > maxLevels)
    raise(PyExc_ValueError, "ONNX: lists nested more than 64 deep");
  onnx::Value v;
  if (isTensor(o)) {
    v.tensor = Tensor::borrow(implOf(o));
  } else if (PyList_Check(o)) {
    v.sequence = std::make_shared<std::vector<onnx::Value>>();
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(o); i++)
      v.sequence->push_back(toValue(Ref::borrow(PyList_GET_ITEM(o, i)).get(), level + 1));
  } else if (o != Py_None) {
    typeError("ONNX: expected a tensor or a list of tensors, got " + typeName(o));
  }
  return v;
}

PyObject *fromValue(const onnx::Value &v) {
  if (v.tensor.defined())
    return wrap(Tensor(v.tensor));
  if (!v.sequence)
    Py_RETURN_NONE;
  Ref list(check(PyList_New(0)));
  for (const onnx::Value &item : *v.sequence) {
    Ref o(fromValue(item));
    if (PyList_Append(list.get(), o.get()))
      throw PythonError();
  }
  return list.take();
}

/// _onnx_run(program, [input]): [output]
PyObject *run(PyObject *, PyObject *args) {
  PyObject *capsule, *list;
  if (!PyArg_ParseTuple(args, "OO!", &capsule, &PyList_Type, &list))
    return nullptr;
  return guarded([&] {
    onnx::Value in = toValue(list);
    onnx::Value out;
    out.sequence = std::make_shared<std::vector<onnx::Value>>(programOf(capsule).run(*in.sequence));
    return fromValue(out);
  });
}

std::vector<std::string> stringsOf(PyObject *list) {
  std::vector<std::string> out;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); i++) {
    const char *text = PyUnicode_AsUTF8(PyList_GET_ITEM(list, i));
    if (!text)
      throw PythonError();
    out.push_back(text);
  }
  return out;
}

uint32_t builtinOp(std::string_view name) {
  std::optional<OpId> id = lookupOp(opBaseName(name));
  return id ? uint32_t(*id) : unresolvedOp;
}

/// _onnx_export(trace, [(name, tensor)], opset, [input name], [output name]): bytes
PyObject *exportBytes(PyObject *, PyObject *args) {
  const char *data;
  Py_ssize_t size;
  long long opset;
  PyObject *list, *inputNames, *outputNames;
  if (!PyArg_ParseTuple(args, "y#O!LO!O!", &data, &size, &PyList_Type, &list, &opset, &PyList_Type, &inputNames,
                        &PyList_Type, &outputNames))
    return nullptr;
  return guarded([&]() -> PyObject * {
    SavedProgram program;
    Diag diag;
    if (!readTrace({reinterpret_cast<const uint8_t *>(data), size_t(size)}, program.trace, diag, builtinOp))
      throw Error(diag.kind, diag.text);
    std::vector<Tensor> kept;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); i++) {
      const char *name;
      PyObject *tensor;
      PyObject *item = PyList_GET_ITEM(list, i);
      if (!PyTuple_Check(item))
        typeError("ONNX: expected a tuple of name and tensor, got " + typeName(item));
      if (!PyArg_ParseTuple(item, "sO", &name, &tensor))
        throw PythonError();
      if (!isTensor(tensor))
        typeError("ONNX: expected a tensor, got " + typeName(tensor));
      kept.push_back(contiguous(detach(Tensor::borrow(implOf(tensor)))));
      const Tensor &t = kept.back();
      program.weights.push_back({name,
                                 t.dtype(),
                                 {t.sizes().begin(), t.sizes().end()},
                                 {static_cast<const uint8_t *>(t.data()), size_t(t.numel() * itemSize(t.dtype()))}});
    }
    std::string bytes =
        onnx::exportModel(program, {opset, "main_graph", stringsOf(inputNames), stringsOf(outputNames)});
    return check(PyBytes_FromStringAndSize(bytes.data(), Py_ssize_t(bytes.size())));
  });
}

PyMethodDef functions[] = {{"_onnx_export", exportBytes, METH_VARARGS, nullptr},
                           {"_onnx_load", load, METH_O, nullptr},
                           {"_onnx_info", info, METH_O, nullptr},
                           {"_onnx_weights", weights, METH_O, nullptr},
                           {"_onnx_run", run, METH_VARARGS, nullptr},
                           {}};

} // namespace

bool addOnnx(PyObject *module) { return PyModule_AddFunctions(module, functions) == 0; }

} // namespace torchc::py
