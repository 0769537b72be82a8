// Scaled dot-product attention in primitives (N6): an online softmax over blocks of 64 keys, and its derivative.
#pragma once
#include "dialects/rules/Builder.h"
#include <algorithm>
#include <vector>

namespace torchc::rules {

/// Bits of the attribute `parts`: what operand `extra` holds. With both it is [..., 2, L, S], the mask first.
enum AttentionParts : int64_t { AttentionMask = 1, AttentionFactor = 2 };

inline constexpr int64_t attentionKeys = 64;
inline constexpr int64_t attentionGroup = 8; // rows of a triangle: what isn't a product

template <class B> class Attention {
public:
  using V = typename B::V;

  /// Operands in the op-math type; `extra` may be null.
  Attention(B &b, const V &q, const V &k, const V &v, const V *extra, double scale, bool causal, int64_t parts)
      : b(b), q(q), k(k), v(v), scale(scale), causal(causal), r(b.dims(q).size()), rows(b.dims(q)[r - 2]),
        keys(b.dims(k)[r - 2]) {
    int64_t both = AttentionMask | AttentionFactor;
    if (extra && (parts & AttentionMask))
      mask = parts == both ? part(*extra, 0) : *extra;
    if (extra && (parts & AttentionFactor))
      factor = parts == both ? part(*extra, 1) : *extra;
    hasMask = extra && (parts & AttentionMask);
    hasFactor = extra && (parts & AttentionFactor);
  }

  V forward() {
    Dims wide = b.dims(q);
    wide[r - 1] = b.dims(v)[r - 1];
    if (!wide.numel() || !keys)
      return full(wide, 0);
    Rows all = start();
    if (!causal) {
      for (int64_t key = 0; key < keys; key += attentionKeys)
        block(all, key, std::min(attentionKeys, keys - key), false);
      return result(all);
    }
    // Rows on the diagonal of a block see no later one; those below it see all of its keys.
    std::vector<V> done;
    for (int64_t key = 0; key < keys && all.count; key += attentionKeys) {
      int64_t n = std::min(attentionKeys, keys - key);
      Rows diagonal = part(all, 0, std::min(n, all.count));
      all = part(all, diagonal.count, all.count);
      block(diagonal, key, n, true);
      done.push_back(result(diagonal));
      if (all.count)
        block(all, key, n, false);
    }
    if (all.count)
      done.push_back(result(all));
    return joined(done);
  }

  /// The same without blocks, for formats that have no order of their own.
  V whole() {
    V p = probabilities();
    return b.op(OpId::Matmul, {hasFactor ? b.op(OpId::Mul, {p, factor}) : p, v});
  }

  /// The cotangent of operand 0 (query), 1 (key), 2 (value) or 3 (an additive mask), from probabilities computed anew.
  V backward(const V &g, int operand) {
    V p = probabilities(), dropped = hasFactor ? b.op(OpId::Mul, {p, factor}) : p;
    if (operand == 2)
      return b.op(OpId::Matmul, {flipped(dropped), g});
    V dp = b.op(OpId::Matmul, {g, flipped(v)});
    if (hasFactor)
      dp = b.op(OpId::Mul, {dp, factor});
    V mean = sum(b.op(OpId::Mul, {dp, p}));
    V ds = b.op(OpId::Mul, {p, b.op(OpId::Sub, {dp, mean})});
    if (operand == 3)
      return ds;
    ds = b.op(OpId::Mul, {ds, scale});
    return operand == 0 ? b.op(OpId::Matmul, {ds, k}) : b.op(OpId::Matmul, {flipped(ds), q});
  }

private:
  static constexpr double inf = __builtin_inf();

  V full(const Dims &dims, double value) {
    return b.op(OpId::Full, {}, {ints(dims), Attr::number(value), Attr::dtype(b.dtype(q))});
  }
  V slice(const V &x, int dim, int64_t from, int64_t to) {
    return b.op(OpId::Slice, {x}, {Attr::integer(dim), Attr::integer(from), Attr::integer(to), Attr::integer(1)});
  }
  V part(const V &x, int64_t i) {
    Dims dims = b.dims(x);
    int at = dims.size() - 3;
    V one = slice(x, at, i, i + 1);
    dims.erase(at);
    return b.op(OpId::Reshape, {one}, {ints(dims)});
  }
  V flipped(const V &x) { return b.op(OpId::Transpose, {x}, {Attr::integer(r - 2), Attr::integer(r - 1)}); }
  V sum(const V &x) {
    int64_t last = r - 1;
    return b.op(OpId::Sum, {x}, {Attr::ints(&last, 1), Attr::boolean(true)});
  }
  /// Columns of something that broadcasts over the keys.
  V columns(const V &x, int64_t start, int64_t n) {
    int last = b.dims(x).size() - 1;
    return b.dims(x)[last] == 1 ? x : slice(x, last, start, start + n);
  }
  V range(int64_t n, const Dims &shape) {
    V r = b.op(OpId::Arange, {}, {Attr::integer(n), Attr::integer(0), Attr::integer(1), Attr::dtype(DType::I64)});
    return b.op(OpId::Reshape, {r}, {ints(shape)});
  }
  /// Which of n keys a query sees, of which the first one sees the first key: [count, n].
  V seen(int64_t count, int64_t n) { return b.op(OpId::Ge, {range(count, Dims({count, 1})), range(n, Dims({1, n}))}); }
  V masked(const V &s, const V &m) {
    return b.dtype(m) == DType::Bool ? b.op(OpId::Where, {m, s, -inf}) : b.op(OpId::Add, {s, m});
  }

  V probabilities() {
    V s = b.op(OpId::Mul, {b.op(OpId::Matmul, {q, flipped(k)}), scale});
    if (hasMask)
      s = masked(s, mask);
    if (causal)
      s = b.op(OpId::Where, {seen(rows, keys), s, -inf});
    V p = b.op(OpId::Softmax, {s}, {Attr::integer(r - 1)});
    return b.op(OpId::Where, {b.op(OpId::Eq, {s, -inf}), 0.0, p}); // a row without keys too
  }

  /// Queries [first, first + count) with what N6 keeps for each.
  struct Rows {
    int64_t first, count;
    V q, m, l, o;
  };

  Rows start() {
    Dims row = b.dims(q), wide = row;
    row[r - 1] = 1;
    wide[r - 1] = b.dims(v)[r - 1];
    return {0, rows, q, full(row, -inf), full(row, 0), full(wide, 0)};
  }
  Rows part(const Rows &x, int64_t from, int64_t to) {
    if (from >= to || (!from && to == x.count))
      return {x.first + from, std::max<int64_t>(to - from, 0), x.q, x.m, x.l, x.o};
    auto cut = [&](const V &t) { return slice(t, r - 2, from, to); };
    return {x.first + from, to - from, cut(x.q), cut(x.m), cut(x.l), cut(x.o)};
  }
  V result(const Rows &x) {
    V none = b.op(OpId::Eq, {x.m, -inf});
    return b.op(OpId::Where, {none, 0.0, b.op(OpId::Div, {x.o, x.l})});
  }
  V joined(const std::vector<V> &parts) {
    return parts.size() == 1 ? parts[0] : b.op(OpId::Cat, parts.data(), int(parts.size()), {Attr::integer(r - 2)});
  }
  /// What of a mask or factor, which broadcasts, stands for these rows and keys.
  V cut(const V &x, const Rows &rows, int64_t key, int64_t n) {
    V some = columns(x, key, n);
    int at = b.dims(x).size() - 2;
    return at < 0 || b.dims(x)[at] == 1 ? some : slice(some, at, rows.first, rows.first + rows.count);
  }

  /// `diagonal`: the first row sees the first key, each other row one key more.
  void block(Rows &x, int64_t key, int64_t n, bool diagonal) {
    int64_t last = r - 1;
    V vb = slice(v, r - 2, key, key + n), allowed;
    V s = b.op(OpId::Mul, {b.op(OpId::Matmul, {x.q, flipped(slice(k, r - 2, key, key + n))}), scale});
    if (hasMask)
      s = masked(s, cut(mask, x, key, n));
    if (diagonal) {
      allowed = seen(x.count, n);
      s = b.op(OpId::Where, {allowed, s, -inf});
    }
    V next = b.op(OpId::Maximum, {x.m, b.op(OpId::Amax, {s}, {Attr::ints(&last, 1), Attr::boolean(true)})});
    V none = b.op(OpId::Eq, {next, -inf});
    V p = b.op(OpId::Where, {none, 0.0, b.op(OpId::Exp, {b.op(OpId::Sub, {s, next})})});
    V a = b.op(OpId::Where, {none, 1.0, b.op(OpId::Exp, {b.op(OpId::Sub, {x.m, next})})});
    // -0 is the identity of sums: an excluded key takes no part.
    V terms = diagonal ? b.op(OpId::Where, {allowed, p, -0.0}) : p;
    x.l = b.op(OpId::Add, {b.op(OpId::Mul, {x.l, a}), sum(terms)});
    x.o = b.op(OpId::Mul, {x.o, a});
    if (hasFactor)
      p = b.op(OpId::Mul, {p, cut(factor, x, key, n)});
    x.o = diagonal ? belowDiagonal(p, vb, x.o, std::min(n, x.count)) : b.op(OpId::MatmulFrom, {p, vb, x.o});
    x.m = next;
  }

  /// o + p v over the keys that each of `count` rows sees: products of the keys in front of each group of rows, then the
  /// triangles on the diagonal, all at once.
  V belowDiagonal(const V &p, const V &vb, const V &o, int64_t count) {
    std::vector<V> sums, triangles;
    int64_t whole = count / attentionGroup * attentionGroup;
    for (int64_t i = 0; i < count; i += attentionGroup) {
      int64_t end = std::min(i + attentionGroup, count);
      V row = slice(p, r - 2, i, end), from = slice(o, r - 2, i, end);
      if (i)
        from = b.op(OpId::MatmulFrom, {slice(row, r - 1, 0, i), slice(vb, r - 2, 0, i), from});
      V triangle = slice(row, r - 1, i, end);
      if (end - i < attentionGroup) {
        from = triangleTimes(triangle, slice(vb, r - 2, i, end), from, end - i);
        if (!whole)
          return from;
        return joined({groups(joined(triangles), slice(vb, r - 2, 0, whole), joined(sums)), from});
      }
      sums.push_back(from);
      triangles.push_back(triangle);
    }
    return groups(joined(triangles), slice(vb, r - 2, 0, whole), joined(sums));
  }
  /// Triangles below each other, with the values and sums of their rows.
  V groups(const V &p, const V &vb, const V &o) {
    auto split = [&](const V &x) {
      Dims d = b.dims(x), out(d.data(), r - 2);
      for (int64_t n : {d[r - 2] / attentionGroup, attentionGroup, d[r - 1]})
        out.push(n);
      return b.op(OpId::Reshape, {x}, {ints(out)});
    };
    return b.op(OpId::Reshape, {triangleTimes(split(p), split(vb), split(o), attentionGroup)}, {ints(b.dims(o))});
  }
  V triangleTimes(const V &p, const V &vb, V o, int64_t n) {
    V allowed = seen(n, n);
    int at = b.dims(p).size() - 1;
    for (int64_t j = 0; j < n; j++) {
      V more = b.op(OpId::Fma, {slice(p, at, j, j + 1), slice(vb, at - 1, j, j + 1), o});
      o = b.op(OpId::Where, {slice(allowed, 1, j, j + 1), more, o});
    }
    return o;
  }

  B &b;
  V q, k, v, mask, factor;
  double scale;
  bool causal, hasMask = false, hasFactor = false;
  int r;
  int64_t rows, keys;
};

template <class B> typename B::V opMathOf(B &b, const typename B::V &x, DType result) {
  if (b.dtype(x) == DType::Bool)
    return x;
  DType t = computeType(result);
  return b.dtype(x) == t ? x : b.op(OpId::Cast, {x}, {Attr::dtype(t)});
}

template <class B>
typename B::V attention(B &b, const typename B::V &q, const typename B::V &k, const typename B::V &v, const Attr *attrs,
                        DType result) {
  auto y = Attention<B>(b, opMathOf(b, q, result), opMathOf(b, k, result), opMathOf(b, v, result), nullptr, attrs[0].f,
                        attrs[1].i, 0)
               .forward();
  return b.dtype(y) == result ? y : b.op(OpId::Cast, {y}, {Attr::dtype(result)});
}

template <class B>
typename B::V attentionMasked(B &b, const typename B::V &q, const typename B::V &k, const typename B::V &v,
                              const typename B::V &extra, const Attr *attrs, DType result) {
  auto e = opMathOf(b, extra, result);
  auto y = Attention<B>(b, opMathOf(b, q, result), opMathOf(b, k, result), opMathOf(b, v, result), &e, attrs[0].f,
                        attrs[1].i, attrs[2].i)
               .forward();
  return b.dtype(y) == result ? y : b.op(OpId::Cast, {y}, {Attr::dtype(result)});
}

template <class B, class C> typename B::V attentionVjp(B &b, const C &c, const typename B::V &g, int operand) {
  DType t = c.operandDType(0);
  return Attention<B>(b, opMathOf(b, c.operand(0), t), opMathOf(b, c.operand(1), t), opMathOf(b, c.operand(2), t),
                      nullptr, c.attr(0).f, c.attr(1).i, 0)
      .backward(opMathOf(b, g, t), operand);
}

template <class B, class C> typename B::V attentionMaskedVjp(B &b, const C &c, const typename B::V &g, int operand) {
  DType t = c.operandDType(0);
  if (operand == 3 && c.attr(2).i != AttentionMask)
    return typename B::V(); // random factors have no gradient
  auto e = opMathOf(b, c.operand(3), t);
  return Attention<B>(b, opMathOf(b, c.operand(0), t), opMathOf(b, c.operand(1), t), opMathOf(b, c.operand(2), t), &e,
                      c.attr(0).f, c.attr(1).i, c.attr(2).i)
      .backward(opMathOf(b, g, t), operand);
}

} // namespace torchc::rules
