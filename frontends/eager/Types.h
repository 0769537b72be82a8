// The argument types of the C++ API.
#pragma once
#include "dialects/rules/Attr.h"
#include "dialects/rules/DType.h"
#include "frontends/eager/Error.h"
#include "runtime/device/Device.h"
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <type_traits>
#include <vector>

namespace torchc {

/// A Python number: its value and its category (bool, int, float or complex), which is all that promotion sees of it.
class Scalar {
public:
  Scalar() : kind(DType::I64), i(0) {}
  Scalar(bool v) : kind(DType::Bool), i(v) {}
  template <class T, std::enable_if_t<std::is_integral_v<T>, int> = 0> Scalar(T v) : kind(DType::I64), i(int64_t(v)) {}
  Scalar(double v) : kind(DType::F64), d(v) {}
  Scalar(float v) : Scalar(double(v)) {}
  static Scalar complex(double re, double im) {
    Scalar s(re);
    s.kind = DType::C128;
    s.im = im;
    return s;
  }

  /// An integer of 2^63 or more: uint64 holds it, floats round it, other types refuse it.
  static Scalar wideInteger(uint64_t v) {
    Scalar s = int64_t(v);
    s.wide = true;
    return s;
  }

  bool isBool() const { return kind == DType::Bool; }
  bool isWide() const { return wide; }
  bool isInt() const { return kind == DType::I64; }
  bool isFloat() const { return kind == DType::F64; }
  bool isComplex() const { return kind == DType::C128; }
  /// Bool, I64, F64 or C128.
  DType dtype() const { return kind; }
  /// Runtime error for a number with an imaginary part.
  double toDouble() const { return isFloat() ? d : isComplex() ? realOnly() : wide ? double(uint64_t(i)) : double(i); }
  /// A float is truncated as N8 says. Runtime error as toDouble(), and for a wide integer.
  int64_t toInt() const;
  /// As uint64: negative integers wrap, floats saturate (N8).
  uint64_t toUnsigned() const;
  bool toBool() const { return isFloat() ? d != 0 : isComplex() ? d != 0 || im != 0 : i != 0; }
  double real() const { return isComplex() ? d : toDouble(); }
  double imag() const { return im; }
  /// Is it this number, of whatever category?
  bool equals(int64_t v) const { return isFloat() || isComplex() ? d == double(v) && im == 0 : i == v && !wide; }
  uint64_t bits() const { return uint64_t(i); }
  /// Attributes hold no complex numbers: Runtime error as toDouble(). A wide integer becomes a float.
  Attr attr() const {
    return isBool() ? Attr::boolean(i) : kind == DType::I64 && !wide ? Attr::integer(i) : Attr::number(toDouble());
  }
  /// In an op that makes a `t` of it: as it is for uint64, refused for other integers.
  Attr attrFor(DType t) const { return wide && isIntegral(t) ? Attr::integer(t == DType::U64 ? i : toInt()) : attr(); }
  static Scalar fromAttr(const Attr &a) {
    return a.tag == AttrTag::Float ? Scalar(a.f) : a.tag == AttrTag::Bool ? Scalar(a.i != 0) : Scalar(a.i);
  }

private:
  double realOnly() const;

  DType kind;
  bool wide = false;
  union {
    int64_t i;
    double d;
  };
  double im = 0;
};

/// A borrowed list; whoever keeps it copies it.
template <class T> class List {
public:
  List() = default;
  List(const T *p, size_t n) : p(p), n(n) {}
  List(std::initializer_list<T> l) : p(l.begin()), n(l.size()) {}
  List(const std::vector<T> &v) : p(v.data()), n(v.size()) {}
  const T *data() const { return p; }
  size_t size() const { return n; }
  bool empty() const { return n == 0; }
  const T &operator[](size_t i) const { return p[i]; }
  const T *begin() const { return p; }
  const T *end() const { return p + n; }

private:
  const T *p = nullptr;
  size_t n = 0;
};
using IntList = List<int64_t>;
using FloatList = List<double>;

inline Attr toAttr(int64_t v) { return Attr::integer(v); }
inline Attr toAttr(int v) { return Attr::integer(v); }
inline Attr toAttr(bool v) { return Attr::boolean(v); }
inline Attr toAttr(double v) { return Attr::number(v); }
inline Attr toAttr(DType v) { return Attr::dtype(v); }
inline Attr toAttr(const Scalar &v) { return v.attr(); }
inline Attr toAttr(IntList v) { return Attr::ints(v.data(), uint32_t(v.size())); }
inline Attr toAttr(std::string_view v) { return Attr::string(v.data(), uint32_t(v.size())); }
template <class T> Attr toAttr(const std::optional<T> &v) { return v ? toAttr(*v) : Attr::none(); }

} // namespace torchc
