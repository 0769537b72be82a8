#include "frontends/eager/Tensor.h"
#include "dialects/rules/Infer.h"
#include "frontends/autograd/Views.h"
#include "frontends/eager/JitHooks.h"
#include <cmath>

namespace torchc {

double Scalar::realOnly() const {
  if (im != 0)
    fail("value cannot be converted to type double without overflow: its imaginary part is " + std::to_string(im));
  return d;
}

int64_t Scalar::toInt() const {
  if (wide)
    fail("value cannot be converted to type int64_t without overflow");
  if (!isFloat() && !isComplex())
    return i;
  double d = toDouble();
  if (std::isnan(d))
    return 0;
  if (d >= 9223372036854775807.0)
    return INT64_MAX;
  return d <= -9223372036854775808.0 ? INT64_MIN : int64_t(d);
}

uint64_t Scalar::toUnsigned() const {
  if (!isFloat() && !isComplex())
    return uint64_t(i);
  double v = toDouble();
  return v >= 0x1p64 ? UINT64_MAX : v > 0 ? uint64_t(v) : 0;
}

static int64_t dimOf(const TensorImpl *t, int64_t dim) {
  Diag diag;
  int64_t out;
  if (!t->rank)
    fail(ErrorKind::Index, "Dimension specified as " + std::to_string(dim) + " but tensor has no dimensions");
  if (!wrapDim(dim, t->rank, out, diag))
    fail(diag);
  return out;
}
int64_t Tensor::size(int64_t dim) const { return p->sizes()[dimOf(p, dim)]; }
int64_t Tensor::stride(int64_t dim) const { return p->strides()[dimOf(p, dim)]; }

bool Tensor::requiresGrad() const {
  refreshView(p);
  return p->requiresGrad();
}

void *Tensor::data() const {
  materialize(p);
  return p->data;
}
void *typedData(const Tensor &t, DType want) {
  DType have = t->dtype;
  if (have != want && !(have == DType::Bool && want == DType::U8) && !(isReducedFloat(have) && want == DType::I16) &&
      !(isWideUnsigned(have) && want == signedType(have)) && !(isFloat8(have) && want == DType::U8))
    fail("expected scalar type " + std::string(torchName(want)) + " but found " + std::string(torchName(have)));
  return t.data();
}

Generator Generator::make(uint64_t seed) {
  auto *s = new GeneratorState;
  s->refs.init();
  s->seed = seed;
  s->ordinal = 0;
  return Generator(s);
}
Generator &defaultGenerator() {
  static auto *g = new Generator(Generator::make());
  return *g;
}
void manualSeed(Generator &g, uint64_t seed) {
  g.state()->seed = seed;
  g.state()->ordinal = 0;
}

} // namespace torchc
