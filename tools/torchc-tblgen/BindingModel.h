// The spellings that Python sees, grouped from the API schemas; shared by the emitters of bindings and stubs.
#pragma once
#include "ApiTypes.h"
#include "Emitters.h"

namespace torchc::tblgen {

/// One name of the module or of Tensor, with its overloads in the order they are tried.
struct Spelling {
  std::string name;
  bool method, inplace;
  std::vector<const ApiModel *> overloads;
};
/// In the order in which names appear first.
std::vector<Spelling> collectSpellings(const Table &table);

inline bool takesOut(const Spelling &s, const ApiModel &a) { return !s.method && a.has("out"); }
/// "(Tensor input, *, Scalar alpha=1, Tensor out)": what messages show.
std::string signatureText(const Spelling &s, const ApiModel &a);
/// A line "name(params)\n--\n\n" that Python reads as __text_signature__, where there is one signature, and the list of
/// signatures, what the op does, its dtypes, shapes and gradients; escaped for a C string.
std::string docText(const Spelling &s);

} // namespace torchc::tblgen
