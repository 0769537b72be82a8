// Small helpers of the eager tests.
#pragma once
#include "frontends/autograd/Autograd.h"
#include "frontends/eager/Api.h"
#include "frontends/eager/Index.h"
#include "frontends/eager/Modes.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace torchc {

inline Tensor make(std::vector<float> values, std::vector<int64_t> sizes, bool grad = false) {
  Tensor t = torchc::empty(sizes);
  for (size_t i = 0; i < values.size(); i++)
    t.dataAs<float>()[i] = values[i];
  if (grad)
    setRequiresGrad(t.impl(), true);
  return t;
}
inline Tensor vec(std::vector<float> values, bool grad = false) { return make(values, {int64_t(values.size())}, grad); }

inline std::vector<double> values(const Tensor &t) {
  Tensor c = composite::contiguousTensor(composite::toF64(detachTensor(t)));
  return std::vector<double>(c.dataAs<double>(), c.dataAs<double>() + c.numel());
}
inline std::vector<int64_t> shape(const Tensor &t) { return {t.sizes().begin(), t.sizes().end()}; }
inline std::vector<double> gradValues(const Tensor &t) { return values(gradOf(t.impl())); }

/// Runs f and tells the error's text; "" if there was none.
template <class F> std::string errorOf(F f, ErrorKind *kind = nullptr) {
  try {
    f();
  } catch (const Error &e) {
    if (kind)
      *kind = e.kind();
    return e.what();
  }
  return "";
}

} // namespace torchc
