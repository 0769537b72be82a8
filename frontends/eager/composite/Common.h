// What composites share.
#pragma once
#include "dialects/rules/Infer.h"
#include "frontends/eager/Api.h"
#include "frontends/eager/Index.h"
#include "frontends/eager/Modes.h"

namespace torchc::composite {

/// Wraps a dimension of a tensor of `rank`; throws Index.
int64_t wrap(int64_t dim, int rank);
/// 0 .. rank-1.
Dims allAxes(int rank);
/// Ascending axes of a `dim=` argument; none means all. Throws for repeated ones.
Dims axesOf(const Tensor &t, std::optional<IntList> dim);
inline Attr attr(const Dims &d) { return Attr::ints(d.data(), uint32_t(d.size())); }
/// torch.result_type of an operation on two operands.
DType typeOf(const Operand &a, const Operand &b);
/// x in `t`; x itself if it is.
Tensor as(const Tensor &x, DType t);
/// Puts a computed value where it is wanted.
Tensor deliver(const Tensor &value, Out out);
Tensor reshaped(const Tensor &x, const Dims &shape);
Tensor fullTensor(const Dims &shape, const Scalar &value, DType t, uint8_t device = 0);
/// f(); where its gather or scatter finds an index out of range, an Index error instead of their Runtime error.
template <class F> auto withIndexErrors(F f) {
  try {
    return f();
  } catch (const Error &e) {
    if (std::string_view(e.what()).find("out of bounds") == std::string_view::npos)
      throw;
    fail(ErrorKind::Index, e.what());
  }
}
/// NotImplemented error.
[[noreturn]] void unsupported(std::string what);

} // namespace torchc::composite
