// Runs a C++ function as a compiled one and compares every result with plain eager execution, bit for bit.
#pragma once
#include "EagerUtil.h"
#include "frontends/jit/Function.h"
#include <cstring>

namespace torchc::jit {

inline std::vector<char> bytesOf(const Tensor &t) {
  Tensor c = composite::contiguousTensor(detachTensor(t));
  auto *p = static_cast<const char *>(c.data());
  return {p, p + c->nbytes()};
}

/// The compiled function under test. `compiled`: through the helper, else interpreted.
class Subject {
public:
  explicit Subject(bool compiled = false) : f(optionsOf(compiled)) {}
  template <class F> auto operator()(F program) {
    Call call(f);
    auto result = program();
    call.finish();
    return result;
  }
  Function f;

private:
  static FunctionOptions optionsOf(bool compiled) {
    FunctionOptions o;
    o.name = "subject";
    o.interpret = !compiled;
    o.measure = false;
    return o;
  }
};

} // namespace torchc::jit
