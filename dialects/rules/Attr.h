// Attributes of an op, as eager calls, tape nodes and traces carry them. Names and order come from the op's record.
// An Attr borrows its list or string: whoever keeps it past the call copies it (Graph.h, Trace.h).
#pragma once
#include "dialects/rules/DType.h"
#include <cstdint>
#include <cstring>

namespace torchc {

/// Tags are part of the trace format (J1).
enum class AttrTag : uint8_t {
  None = 0,
  Bool = 1,
  Int = 2,
  Float = 3,
  Str = 4,
  DType = 5,
  Device = 6,
  IntList = 7,
  Hole = 8,
  Graph = 9
};

struct Attr {
  AttrTag tag = AttrTag::None;
  uint32_t size = 0; // elements of a list, bytes of a string
  union {
    int64_t i;
    double f;
    const int64_t *list;
    const char *str;
  };

  constexpr Attr() : i(0) {}
  static Attr none() { return Attr(); }
  static Attr boolean(bool v) { return make(AttrTag::Bool, v); }
  static Attr integer(int64_t v) { return make(AttrTag::Int, v); }
  static Attr dtype(DType v) { return make(AttrTag::DType, int64_t(v)); }
  static Attr device(int64_t v) { return make(AttrTag::Device, v); }
  static Attr number(double v) {
    Attr a;
    a.tag = AttrTag::Float;
    a.f = v;
    return a;
  }
  static Attr ints(const int64_t *p, uint32_t n) {
    Attr a;
    a.tag = AttrTag::IntList;
    a.size = n;
    a.list = p;
    return a;
  }
  static Attr string(const char *p, uint32_t n) {
    Attr a;
    a.tag = AttrTag::Str;
    a.size = n;
    a.str = p;
    return a;
  }
  bool isNone() const { return tag == AttrTag::None; }
  DType asDType() const { return DType(i); }

private:
  static Attr make(AttrTag t, int64_t v) {
    Attr a;
    a.tag = t;
    a.i = v;
    return a;
  }
};

/// Equal tags and equal values; floats compare by bits, so that -0.0 and NaN are told apart as a trace must.
inline bool operator==(const Attr &a, const Attr &b) {
  if (a.tag != b.tag || a.size != b.size)
    return false;
  if (a.tag == AttrTag::IntList)
    return std::memcmp(a.list, b.list, a.size * sizeof(int64_t)) == 0;
  if (a.tag == AttrTag::Str)
    return std::memcmp(a.str, b.str, a.size) == 0;
  return a.i == b.i;
}

} // namespace torchc
