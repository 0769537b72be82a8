// Interprets scalar bodies one element at a time; written from Body.h and N7, N8, without the kernel generator.
#pragma once
#include "test/Unit/CodegenSupport.h"

namespace torchc::test {

template <class F, class I> F maxN7(F x, F y) {
  if (std::isnan(x) || std::isnan(y))
    return F(NAN);
  if (x == 0 && y == 0)
    return std::signbit(x) ? y : x;
  return x > y ? x : y;
}

/// Float bodies: F = float or double, I the integer of its width.
template <class F, class I> struct FloatBody {
  struct V {
    F f = 0;
    I i = 0;
    bool b = false;
    enum { Float, Int, Truth } kind = Float;
  };
  static V f(F x) { return {x, 0, false, V::Float}; }
  static V i(I x) { return {0, x, false, V::Int}; }
  static V t(bool x) { return {0, 0, x, V::Truth}; }

  static V node(const BodyNode &n, const V &x, const V &y, const V &z, const std::vector<V> &args) {
    using U = std::make_unsigned_t<I>;
    auto cmp = [&](auto less) {
      return t(x.kind == V::Float ? less(x.f, y.f) : x.kind == V::Int ? less(x.i, y.i) : less(x.b, y.b));
    };
    auto bits = [&](auto op) { return x.kind == V::Truth ? t(op(int(x.b), int(y.b)) & 1) : i(I(op(x.i, y.i))); };
    constexpr I width = sizeof(I) * 8;
    bool inRange = U(y.i) < U(width);
    switch (n.op) {
    case BodyOp::Arg: return args[n.bits];
    case BodyOp::Const: return f(F(std::bit_cast<double>(n.bits)));
    case BodyOp::Bits: return f(std::bit_cast<F>(I(n.bits)));
    case BodyOp::ConstI: return i(I(n.bits));
    case BodyOp::Add: return f(x.f + y.f);
    case BodyOp::Sub: return f(x.f - y.f);
    case BodyOp::Mul: return f(x.f * y.f);
    case BodyOp::Div: return f(x.f / y.f);
    case BodyOp::Neg: return f(-x.f);
    case BodyOp::Abs: return f(std::fabs(x.f));
    case BodyOp::Sqrt: return f(std::sqrt(x.f));
    case BodyOp::Fma: return f(std::fma(x.f, y.f, z.f));
    case BodyOp::Max: return f(maxN7<F, I>(x.f, y.f));
    case BodyOp::Min: return f(-maxN7<F, I>(-x.f, -y.f));
    case BodyOp::Floor: return f(std::floor(x.f));
    case BodyOp::RoundEven: return f(std::nearbyint(x.f));
    case BodyOp::Lt: return cmp([](auto a, auto b) { return a < b; });
    case BodyOp::Le: return cmp([](auto a, auto b) { return a <= b; });
    case BodyOp::Gt: return cmp([](auto a, auto b) { return a > b; });
    case BodyOp::Ge: return cmp([](auto a, auto b) { return a >= b; });
    case BodyOp::Eq: return cmp([](auto a, auto b) { return a == b; });
    case BodyOp::Ne: return cmp([](auto a, auto b) { return a != b; });
    case BodyOp::IsNan: return t(std::isnan(x.f));
    case BodyOp::And:
    case BodyOp::IAnd: return bits([](auto a, auto b) { return a & b; });
    case BodyOp::Or:
    case BodyOp::IOr: return bits([](auto a, auto b) { return a | b; });
    case BodyOp::Xor:
    case BodyOp::IXor: return bits([](auto a, auto b) { return a ^ b; });
    case BodyOp::Not: return x.kind == V::Truth ? t(!x.b) : i(~x.i);
    case BodyOp::Select: return x.b ? y : z;
    case BodyOp::ToInt: return i(std::bit_cast<I>(x.f));
    case BodyOp::FromInt: return f(std::bit_cast<F>(x.i));
    case BodyOp::IAdd: return i(I(U(x.i) + U(y.i)));
    case BodyOp::ISub: return i(I(U(x.i) - U(y.i)));
    case BodyOp::IMul: return i(I(U(x.i) * U(y.i)));
    case BodyOp::IShl: return i(inRange ? I(U(x.i) << y.i) : 0);
    case BodyOp::IUShr: return i(inRange ? I(U(x.i) >> y.i) : 0);
    case BodyOp::IShr: return i(x.i >> (inRange ? y.i : width - 1));
    case BodyOp::IFromF: return i(std::fabs(x.f) < 1e9 ? I(x.f) : 0); // others are dropped by a select
    case BodyOp::FFromI: return f(F(x.i));
    default: return f(F(NAN));
    }
  }

  static V run(const Body &body, const std::vector<V> &args) {
    std::vector<V> v;
    for (int k = 0; k < body.numNodes; ++k) {
      const BodyNode &n = body.nodes[k];
      auto in = [&](int16_t a) { return a >= 0 ? v[size_t(a)] : V(); };
      v.push_back(node(n, in(n.a), in(n.b), in(n.c), args));
    }
    return v.back();
  }
};

/// Integer and bool bodies; `wrap` keeps values in the type's range.
struct IntBody {
  DType type;
  int64_t wrap(int64_t v) const {
    char bytes[8];
    writeElement(type, bytes, {0, type == DType::Bool ? v & 1 : v});
    return readElement(type, bytes).i;
  }
  int64_t bits() const { return itemSize(type) * 8; }
  uint64_t mask() const { return bits() == 64 ? ~0ull : (1ull << bits()) - 1; }
  /// Is it a shift count of the type?
  bool inside(int64_t count) const { return count >= 0 && count < bits(); }
  int64_t run(const Body &body, const std::vector<int64_t> &args) const {
    std::vector<int64_t> v;
    for (int k = 0; k < body.numNodes; ++k) {
      const BodyNode &n = body.nodes[k];
      int64_t x = n.a >= 0 ? v[size_t(n.a)] : 0, y = n.b >= 0 ? v[size_t(n.b)] : 0, z = n.c >= 0 ? v[size_t(n.c)] : 0,
              r = 0;
      auto u = [](int64_t a) { return uint64_t(a); };
      switch (n.op) {
      case BodyOp::Arg: r = args[n.bits]; break;
      case BodyOp::Const: r = wrap(int64_t(std::bit_cast<double>(n.bits))); break;
      case BodyOp::ConstI: r = wrap(int64_t(n.bits)); break;
      case BodyOp::Add: r = wrap(int64_t(u(x) + u(y))); break;
      case BodyOp::Sub: r = wrap(int64_t(u(x) - u(y))); break;
      case BodyOp::Mul: r = wrap(int64_t(u(x) * u(y))); break;
      case BodyOp::Div: r = y == 0 || y == -1 ? wrap(y ? int64_t(-u(x)) : x) : x / y; break; // 0 traps
      case BodyOp::Neg: r = wrap(int64_t(-u(x))); break;
      case BodyOp::Abs: r = wrap(x < 0 ? int64_t(-u(x)) : x); break;
      case BodyOp::Max: r = std::max(x, y); break;
      case BodyOp::Min: r = std::min(x, y); break;
      case BodyOp::Lt: r = x < y; break;
      case BodyOp::Le: r = x <= y; break;
      case BodyOp::Gt: r = x > y; break;
      case BodyOp::Ge: r = x >= y; break;
      case BodyOp::Eq: r = x == y; break;
      case BodyOp::Ne: r = x != y; break;
      case BodyOp::And:
      case BodyOp::IAnd: r = x & y; break;
      case BodyOp::Or:
      case BodyOp::IOr: r = x | y; break;
      case BodyOp::Xor:
      case BodyOp::IXor: r = x ^ y; break;
      case BodyOp::IShl: r = inside(y) ? wrap(int64_t(u(x) << y)) : 0; break;
      case BodyOp::IShr: r = x >> (inside(y) ? y : 63); break;
      case BodyOp::IUShr: r = inside(y) ? wrap(int64_t((u(x) & mask()) >> y)) : 0; break;
      case BodyOp::Not: r = type == DType::Bool ? !x : wrap(~x); break;
      case BodyOp::Select: r = x ? y : z; break;
      default: r = INT64_MIN + 99; break;
      }
      v.push_back(r);
    }
    return v.back();
  }
};

} // namespace torchc::test
