// The functions and methods that are generated from the op table.
#include "frontends/pybind/Args.h"
#include <structmember.h>

namespace torchc::py {

#include "torchc-gen/Bindings.inc"

/// One field per line, as PyTorch shows these.
static PyObject *namedRepr(PyObject *o) {
  return guarded([&] {
    std::string out = typeName(o) + "(";
    PyMemberDef *m = Py_TYPE(o)->tp_members;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(o); i++) {
      Ref text(check(PyObject_Repr(PyTuple_GET_ITEM(o, i))));
      out += std::string(i ? "," : "") + "\n" + m[i].name + "=" + std::string(strArg(text.get()));
    }
    return PyUnicode_FromString((out + ")").c_str());
  });
}

const PyMethodDef *generatedMethods() { return tensorFunctions; }
bool addOps(PyObject *module) { return PyModule_AddFunctions(module, moduleFunctions) == 0; }

PyObject *namedResult(const char *name, const char *fields, std::initializer_list<TensorImpl *> owned) {
  static PyObject *types = PyDict_New();
  PyObject *type = PyDict_GetItemString(types, name);
  if (!type) {
    // Lives for ever, as the type reads it.
    auto *words = new std::vector<std::string>;
    for (std::string_view rest = fields; !rest.empty();) {
      size_t end = rest.find(' ');
      words->emplace_back(rest.substr(0, end));
      rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    }
    auto *members = new std::vector<PyStructSequence_Field>;
    for (const std::string &w : *words)
      members->push_back({w.c_str(), nullptr});
    members->push_back({nullptr, nullptr});
    auto *typeName = new std::string("torchc.return_types." + std::string(name));
    PyStructSequence_Desc desc = {typeName->c_str(), nullptr, members->data(), int(words->size())};
    Ref made(check(reinterpret_cast<PyObject *>(PyStructSequence_NewType(&desc))));
    reinterpret_cast<PyTypeObject *>(made.get())->tp_repr = namedRepr;
    PyDict_SetItemString(types, name, made.get());
    type = made.get();
  }
  Ref out(check(PyStructSequence_New(reinterpret_cast<PyTypeObject *>(type))));
  Py_ssize_t i = 0;
  for (TensorImpl *t : owned)
    PyStructSequence_SET_ITEM(out.get(), i++, wrap(t));
  return out.take();
}

} // namespace torchc::py
