#include "dialects/rules/Infer.h"
#include <algorithm>

namespace torchc {

static std::string str(int64_t v) { return std::to_string(v); }

bool broadcastShapes(const Dims &a, const Dims &b, Dims &out, Diag &diag) {
  int rank = std::max(a.size(), b.size());
  out = Dims();
  out.resize(rank);
  for (int i = 0; i < rank; i++) {
    int ia = i - (rank - a.size()), ib = i - (rank - b.size());
    int64_t x = ia < 0 ? 1 : a[ia], y = ib < 0 ? 1 : b[ib];
    if (x != y && x != 1 && y != 1)
      return diag.fail(ErrorKind::Runtime, "The size of tensor a (" + str(x) + ") must match the size of tensor b (" +
                                               str(y) + ") at non-singleton dimension " + str(i));
    out[i] = x == 1 ? y : x;
  }
  return true;
}

bool wrapDim(int64_t dim, int rank, int64_t &out, Diag &diag) {
  int64_t n = std::max(rank, 1);
  if (dim < -n || dim >= n)
    return diag.fail(ErrorKind::Index, "Dimension out of range (expected to be in range of [" + str(-n) + ", " +
                                           str(n - 1) + "], but got " + str(dim) + ")");
  out = dim < 0 ? dim + n : dim;
  return true;
}

bool checkedNumel(const Dims &dims, int64_t &out, Diag &diag) {
  bool zero = false;
  for (int64_t d : dims) {
    if (d < 0)
      return diag.fail(ErrorKind::Runtime,
                       "expected sizes of at least 0, got the negative dimension " + str(d) + " in " + dims.str());
    zero |= d == 0;
  }
  out = zero ? 0 : 1;
  for (int64_t d : dims)
    if (!zero && __builtin_mul_overflow(out, d, &out))
      return diag.fail(ErrorKind::Runtime,
                       "the number of elements of shape " + dims.str() + " doesn't fit into 64 bits");
  return true;
}

bool inferReshape(const Dims &from, const int64_t *shape, int n, Dims &out, Diag &diag) {
  if (n > maxRank)
    return diag.fail(ErrorKind::Runtime, "expected at most " + str(maxRank) + " dimensions, got " + str(n));
  out = Dims(shape, n);
  int64_t have = from.numel(), known = 1;
  int unknown = -1;
  for (int i = 0; i < n; i++) {
    if (shape[i] == -1) {
      if (unknown >= 0)
        return diag.fail(ErrorKind::Runtime, "only one dimension can be inferred, got shape " + out.str());
      unknown = i;
    } else if (shape[i] < 0) {
      return diag.fail(ErrorKind::Runtime, "invalid shape dimension " + str(shape[i]) + " in " + out.str());
    } else if (__builtin_mul_overflow(known, shape[i], &known)) {
      return diag.fail(ErrorKind::Runtime, "shape '" + out.str() + "' is invalid for input of size " + str(have));
    }
  }
  bool fits = unknown < 0 ? known == have : known != 0 && have % known == 0;
  if (unknown >= 0 && known == 0)
    return diag.fail(ErrorKind::Runtime,
                     "cannot reshape tensor of 0 elements into shape " + out.str() +
                         " because the unspecified dimension size -1 can be any value and is ambiguous");
  if (!fits)
    return diag.fail(ErrorKind::Runtime, "shape '" + out.str() + "' is invalid for input of size " + str(have));
  if (unknown >= 0)
    out[unknown] = have / known;
  return true;
}

bool inferExpand(const Dims &from, const int64_t *shape, int n, Dims &out, Diag &diag) {
  if (n < from.size() || n > maxRank)
    return diag.fail(ErrorKind::Runtime, "expand(): the number of sizes provided (" + str(n) +
                                             ") must be greater or equal to the number of dimensions in the tensor (" +
                                             str(from.size()) + ")");
  out = Dims(shape, n);
  for (int i = 0; i < n; i++) {
    int k = i - (n - from.size());
    if (shape[i] == -1 && k < 0)
      return diag.fail(ErrorKind::Runtime,
                       "expand(): -1 isn't allowed in the leading, non-existing dimension " + str(i));
    if (shape[i] == -1)
      out[i] = from[k];
    else if (shape[i] < 0)
      return diag.fail(ErrorKind::Runtime, "expand(): expected sizes of at least 0, got " + out.str());
    else if (k >= 0 && from[k] != 1 && from[k] != shape[i])
      return diag.fail(ErrorKind::Runtime, "The expanded size of the tensor (" + str(shape[i]) +
                                               ") must match the existing size (" + str(from[k]) +
                                               ") at non-singleton dimension " + str(i) +
                                               ". Target sizes: " + out.str() + ". Tensor sizes: " + from.str());
  }
  return true;
}

namespace {

/// promoteTypes, which notes the first two types that have no common one.
DType join(DType a, DType b, TypeClash *clash) {
  if (clash && !clash->found() && !promotes(a, b))
    *clash = {a, b};
  return promoteTypes(a, b);
}

/// Running state of result_type: the type so far per priority class.
struct Classes {
  TypeClash *clash;
  DType type[3];
  bool seen[3] = {};
  void add(int k, DType t) {
    type[k] = seen[k] ? join(type[k], t, clash) : t;
    seen[k] = true;
  }
};

/// `lower` joins only when its category is higher than what decides so far.
void combine(DType &have, bool &any, bool seen, DType lower, TypeClash *clash) {
  if (!seen)
    return;
  if (!any)
    have = lower, any = true;
  else if (category(lower) <= category(have))
    return;
  else if (category(have) == 2 && !isStored(have)) // floats become complex at their own precision
    have = complexType(have);
  else
    have = join(have, lower, clash);
}

} // namespace

std::string TypeClash::text() const {
  return std::string(torchName(a)) + " and " + std::string(torchName(b)) + " have no common type: " +
         (isFloat8(a) || isFloat8(b) ? "float8 types promote with no other type"
                                     : "uint16, uint32 and uint64 promote with floating point types alone");
}

DType resultType(const OperandType *operands, int n, DType defaultDType, TypeClash *clash) {
  Classes c{clash, {}, {}};
  for (int i = 0; i < n; i++) {
    const OperandType &o = operands[i];
    if (!o.isNumber)
      c.add(o.rank() ? 0 : 1, o.dtype);
    else // a Python number stands for its category's default type
      c.add(2, category(o.dtype) == 2 ? defaultDType : category(o.dtype) == 3 ? complexType(defaultDType) : o.dtype);
  }
  DType have = DType::Bool;
  bool any = false;
  for (int k = 0; k < 3; k++)
    combine(have, any, c.seen[k], c.type[k], clash);
  return have;
}

Promoted promote(Promote rule, const OperandType *operands, int n, DType defaultDType) {
  switch (rule) {
  case Promote::Truth: return {DType::Bool, DType::Bool};
  case Promote::Branch: {
    DType t = resultType(operands + 1, n - 1, defaultDType);
    return {t, t};
  }
  default: break;
  }
  DType t = resultType(operands, n, defaultDType);
  if (rule == Promote::Float && category(t) < 2)
    t = defaultDType;
  return {t, rule == Promote::Compare ? DType::Bool : rule == Promote::Magnitude ? realType(t) : t};
}

bool checkStored(const OpInfo &info, const OperandType *operands, int n, DType defaultDType, DType result, Diag &diag) {
  bool stored = isStored(result);
  DType t = result; // the type it computes in
  for (int i = n; i-- > 0;)
    if (isStored(operands[i].dtype)) {
      stored = true;
      t = operands[i].dtype;
    }
  if (!stored)
    return true;
  bool branch = info.promote == Promote::Branch;
  if (info.promote != Promote::None && info.promote != Promote::Truth) {
    TypeClash clash;
    resultType(operands + branch, n - branch, defaultDType, &clash);
    if (clash.found())
      return diag.fail(ErrorKind::Runtime, std::string(info.name) + "(): " + clash.text());
    t = promote(info.promote, operands, n, defaultDType).compute;
  }
  bool moves = info.family == Family::View || info.family == Family::Cast || info.shape == ShapeRule::Full ||
               (info.family == Family::Indexing && !(info.flags & OpAccumulates));
  bool computes = moves || (info.flags & (isFloat8(t) ? OpFloat8 : OpUnsigned));
  for (int i = 0; i < n && isFloat8(t); i++) // PyTorch's float8 arithmetic is between tensors
    computes &= !operands[i].isNumber || moves || branch || info.promote == Promote::Compare;
  return !isStored(t) || computes ||
         diag.fail(ErrorKind::NotImplemented,
                   "\"" + std::string(info.name) + "\" not implemented for '" + std::string(torchName(t)) + "'");
}

} // namespace torchc
