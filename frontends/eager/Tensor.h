// Tensor: the owning handle of the C++ API. Its operations are free functions with PyTorch's names (Api.h).
#pragma once
#include "frontends/eager/TensorImpl.h"
#include "frontends/eager/Types.h"
#include <utility>
#include <variant>

namespace torchc {

/// Owns one reference; may hold none (`defined()`).
class Tensor {
public:
  Tensor() = default;
  /// Takes the reference.
  explicit Tensor(TensorImpl *t) : p(t) {}
  static Tensor borrow(TensorImpl *t) { return Tensor(t ? retain(t) : nullptr); }
  Tensor(const Tensor &o) : p(o.p ? retain(o.p) : nullptr) {}
  Tensor(Tensor &&o) noexcept : p(std::exchange(o.p, nullptr)) {}
  Tensor &operator=(const Tensor &o) { return *this = Tensor(o); }
  Tensor &operator=(Tensor &&o) noexcept {
    std::swap(p, o.p);
    return *this;
  }
  ~Tensor() {
    if (p)
      release(p);
  }
  bool defined() const { return p; }
  explicit operator bool() const { return p; }
  TensorImpl *impl() const { return p; }
  TensorImpl *operator->() const { return p; }
  /// Gives the reference away.
  TensorImpl *take() { return std::exchange(p, nullptr); }
  bool same(const Tensor &o) const { return p == o.p; }

  int64_t dim() const { return p->rank; }
  int64_t numel() const { return p->numel; }
  DType dtype() const { return p->dtype; }
  DeviceId device() const { return {DeviceKind(p->device), int8_t(p->storage ? p->storage->deviceIndex : -1)}; }
  IntList sizes() const { return IntList(p->sizes(), p->rank); }
  IntList strides() const { return IntList(p->strides(), p->rank); }
  /// Negative dimensions count from the end; Index error outside the range.
  int64_t size(int64_t dim) const;
  int64_t stride(int64_t dim) const;
  bool isContiguous() const { return p->contiguous(); }
  bool requiresGrad() const;
  /// The first element, of the type `T` must name; Runtime error for another. Computes a pending tensor.
  template <class T> T *dataAs() const;
  /// Untyped; computes a pending tensor.
  void *data() const;

private:
  TensorImpl *p = nullptr;
};
using OptTensor = Tensor;
using TensorList = List<Tensor>;
/// Where an argument says which: `nonzero(x, as_tuple=True)`.
using TensorOrList = std::variant<Tensor, std::vector<Tensor>>;

template <class T> inline constexpr DType dtypeOf = DType::Bool;
template <> inline constexpr DType dtypeOf<uint8_t> = DType::U8;
template <> inline constexpr DType dtypeOf<int8_t> = DType::I8;
template <> inline constexpr DType dtypeOf<int16_t> = DType::I16;
template <> inline constexpr DType dtypeOf<int32_t> = DType::I32;
template <> inline constexpr DType dtypeOf<int64_t> = DType::I64;
template <> inline constexpr DType dtypeOf<float> = DType::F32;
template <> inline constexpr DType dtypeOf<double> = DType::F64;
void *typedData(const Tensor &t, DType want);
template <class T> T *Tensor::dataAs() const {
  return static_cast<T *>(typedData(*this, dtypeOf<std::remove_const_t<T>>));
}

/// What an op takes where PyTorch takes a tensor or a number. Borrows the tensor.
struct Operand {
  TensorImpl *tensor = nullptr; // null: a number, or nothing
  Scalar number;
  Operand() = default;
  Operand(const Tensor &t) : tensor(t.impl()) {}
  explicit Operand(TensorImpl *t) : tensor(t) {}
  Operand(const Scalar &s) : number(s) {}
  template <class T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0> Operand(T v) : number(v) {}
  bool isNumber() const { return !tensor; }
};

/// Where a result goes: into a new tensor, into operand 0 (`add_`), or into the tensor given by `out=`.
struct Out {
  enum Kind : uint8_t { None, Inplace, Given };
  Kind kind = None;
  TensorImpl *tensor = nullptr;
  static Out inplace(const Tensor &t) { return {Inplace, t.impl()}; }
  static Out given(const Tensor &t) { return {Given, t.impl()}; }
};

/// A stream of random numbers (N9): seed and ordinal, shared by copies of the handle; may hold none.
struct GeneratorState {
  RefCount refs;
  std::atomic<uint64_t> seed, ordinal;
};
class Generator {
public:
  Generator() = default;
  explicit Generator(GeneratorState *s) : p(s) {}
  Generator(const Generator &o) : p(o.p) {
    if (p)
      p->refs.increment();
  }
  Generator &operator=(const Generator &o) {
    Generator c(o);
    std::swap(p, c.p);
    return *this;
  }
  ~Generator() {
    if (p && p->refs.decrement())
      delete p;
  }
  bool defined() const { return p; }
  GeneratorState *state() const { return p; }
  /// A new stream with PyTorch's default seed.
  static Generator make(uint64_t seed = 67280421310721u);

private:
  GeneratorState *p = nullptr;
};
using OptGenerator = Generator;
/// The one that random functions use without `generator=`.
Generator &defaultGenerator();
/// seed modulo 2^64, ordinal 0.
void manualSeed(Generator &g, uint64_t seed);
/// Takes the next ordinal.
inline uint64_t takeOrdinal(Generator &g) { return g.state()->ordinal.fetch_add(1); }

} // namespace torchc
