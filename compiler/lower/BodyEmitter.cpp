#include "compiler/lower/BodyEmitter.h"
#include "compiler/lower/Convert.h"
#include <algorithm>
#include <tuple>
#include <vector>

using namespace mlir;
using IPred = arith::CmpIPredicate;
using FPred = arith::CmpFPredicate;

namespace torchc::lower {

Value emitMax(KernelBuilder &b, Value x, Value y, DType t) {
  if (isFloat(t)) // llvm.maximum: NaN propagates and -0 < +0
    return arith::MaximumFOp::create(b, x, y);
  if (torchc::isUnsigned(t) || t == DType::Bool)
    return arith::MaxUIOp::create(b, x, y);
  return arith::MaxSIOp::create(b, x, y);
}

Value emitMin(KernelBuilder &b, Value x, Value y, DType t) {
  if (isFloat(t))
    return arith::MinimumFOp::create(b, x, y);
  if (torchc::isUnsigned(t) || t == DType::Bool)
    return arith::MinUIOp::create(b, x, y);
  return arith::MinSIOp::create(b, x, y);
}

namespace {

class Emitter {
public:
  Emitter(KernelBuilder &b, DType compute, unsigned lanes, Values *traps)
      : b(b), traps(traps), compute(compute), lanes(lanes), isFloatBody(isFloat(compute)),
        isUnsigned(torchc::isUnsigned(compute) || compute == DType::Bool), type(b.wide(compute, lanes)),
        intType(isFloatBody ? b.wide(b.getIntegerType(unsigned(itemSize(compute)) * 8), lanes) : type) {}

  Value node(const BodyNode &n, Value x, Value y, Value z);

private:
  Value binary(BodyOp op, Value x, Value y);
  Value unary(BodyOp op, Value x);
  Value compareOp(BodyOp op, Value x, Value y);
  Value integer(BodyOp op, Value x, Value y);
  Value shift(BodyOp op, Value x, Value y);
  Value constant(const BodyNode &n);
  Value intFromFloat(Value x);
  Value floatFromInt(Value x);
  Value divide(Value x, Value y);

  KernelBuilder &b;
  Values *traps;
  DType compute;
  unsigned lanes;
  bool isFloatBody, isUnsigned;
  Type type, intType;
};

Value Emitter::constant(const BodyNode &n) {
  double d = llvm::bit_cast<double>(n.bits);
  if (n.op == BodyOp::Bits)
    return b.bitsConst(type, n.bits);
  if (n.op == BodyOp::ConstI)
    return b.intConst(intType, int64_t(n.bits));
  if (isFloatBody)
    return b.floatConst(type, d);
  return b.intConst(type, compute == DType::Bool ? d != 0 : int64_t(d));
}

Value Emitter::binary(BodyOp op, Value x, Value y) {
  switch (op) {
  case BodyOp::Add: return isFloatBody ? Value(arith::AddFOp::create(b, x, y)) : b.add(x, y);
  case BodyOp::Sub: return isFloatBody ? Value(arith::SubFOp::create(b, x, y)) : b.sub(x, y);
  case BodyOp::Mul: return isFloatBody ? Value(arith::MulFOp::create(b, x, y)) : b.mul(x, y);
  case BodyOp::Div: return isFloatBody ? Value(arith::DivFOp::create(b, x, y)) : divide(x, y);
  case BodyOp::Max: return emitMax(b, x, y, compute);
  case BodyOp::Min: return emitMin(b, x, y, compute);
  default: return {};
  }
}

Value Emitter::unary(BodyOp op, Value x) {
  switch (op) {
  case BodyOp::Neg: return isFloatBody ? Value(arith::NegFOp::create(b, x)) : b.sub(b.zero(type), x);
  case BodyOp::Abs:
    if (isFloatBody)
      return LLVM::FAbsOp::create(b, type, x);
    return isUnsigned ? x : b.select(b.compare(IPred::slt, x, b.zero(type)), b.sub(b.zero(type), x), x);
  case BodyOp::Sqrt: return isFloatBody ? Value(LLVM::SqrtOp::create(b, type, x)) : Value();
  case BodyOp::Floor: return isFloatBody ? Value(LLVM::FFloorOp::create(b, type, x)) : x;
  case BodyOp::RoundEven: return isFloatBody ? Value(LLVM::RoundEvenOp::create(b, type, x)) : x;
  case BodyOp::IsNan:
    if (isFloatBody)
      return arith::CmpFOp::create(b, FPred::UNO, x, x);
    return b.intConst(b.wide(b.getI1Type(), lanes), 0);
  case BodyOp::Not: return arith::XOrIOp::create(b, x, b.intConst(x.getType(), -1));
  case BodyOp::ToInt: return isFloatBody ? Value(arith::BitcastOp::create(b, intType, x)) : x;
  case BodyOp::FromInt: return isFloatBody ? Value(arith::BitcastOp::create(b, type, x)) : x;
  case BodyOp::IFromF: return isFloatBody ? intFromFloat(x) : x;
  case BodyOp::FFromI: return isFloatBody ? floatFromInt(x) : x;
  default: return {};
  }
}

Value Emitter::compareOp(BodyOp op, Value x, Value y) {
  bool asFloat = isa<FloatType>(KernelBuilder::scalarOf(x.getType()));
  // The paired integers of a float body are signed.
  bool asUnsigned = isUnsigned || KernelBuilder::scalarOf(x.getType()).isInteger(1);
  FPred f;
  IPred s, u;
  switch (op) {
  case BodyOp::Lt: f = FPred::OLT, s = IPred::slt, u = IPred::ult; break;
  case BodyOp::Le: f = FPred::OLE, s = IPred::sle, u = IPred::ule; break;
  case BodyOp::Gt: f = FPred::OGT, s = IPred::sgt, u = IPred::ugt; break;
  case BodyOp::Ge: f = FPred::OGE, s = IPred::sge, u = IPred::uge; break;
  case BodyOp::Eq: f = FPred::OEQ, s = u = IPred::eq; break;
  default: f = FPred::UNE, s = u = IPred::ne; break;
  }
  if (asFloat)
    return arith::CmpFOp::create(b, f, x, y);
  return b.compare(asUnsigned ? u : s, x, y);
}

/// Counts outside [0, width) give 0, or the sign for IShr (N8); a constant count in range needs no guard.
Value Emitter::shift(BodyOp op, Value x, Value y) {
  if (isUnsigned && op == BodyOp::IShr)
    op = BodyOp::IUShr;
  Type t = x.getType();
  int64_t width = KernelBuilder::scalarOf(t).getIntOrFloatBitWidth();
  auto make = [&](Value count) -> Value {
    if (op == BodyOp::IShl)
      return arith::ShLIOp::create(b, x, count);
    if (op == BodyOp::IShr)
      return arith::ShRSIOp::create(b, x, count);
    return arith::ShRUIOp::create(b, x, count);
  };
  llvm::APInt known;
  if (matchPattern(y, m_ConstantInt(&known)) && known.ult(uint64_t(width)))
    return make(y);
  Value last = b.intConst(t, width - 1);
  if (op == BodyOp::IShr)
    return make(arith::MinUIOp::create(b, y, last));
  Value inRange = b.compare(IPred::ule, y, last);
  return b.select(inRange, make(b.select(inRange, y, b.zero(t))), b.zero(t));
}

Value Emitter::integer(BodyOp op, Value x, Value y) {
  switch (op) {
  case BodyOp::IAdd: return b.add(x, y);
  case BodyOp::ISub: return b.sub(x, y);
  case BodyOp::IMul: return b.mul(x, y);
  case BodyOp::And:
  case BodyOp::IAnd: return arith::AndIOp::create(b, x, y);
  case BodyOp::Or:
  case BodyOp::IOr: return arith::OrIOp::create(b, x, y);
  case BodyOp::Xor:
  case BodyOp::IXor: return arith::XOrIOp::create(b, x, y);
  default: return shift(op, x, y);
  }
}

/// The operand is integral and in range by contract; other lanes (NaN, before a select drops them) may give anything
/// but must not be poison.
Value Emitter::intFromFloat(Value x) {
  if (compute == DType::F32)
    return LLVM::FreezeOp::create(b, arith::FPToSIOp::create(b, intType, x));
  // 1.5 * 2^52 puts an integer of less than 2^51 into the low bits; AVX2 has no f64 -> i64 instruction.
  Value magic = b.bitsConst(type, 0x4338000000000000);
  Value bits = arith::BitcastOp::create(b, intType, Value(arith::AddFOp::create(b, x, magic)));
  return b.sub(bits, b.intConst(intType, 0x4338000000000000));
}

/// Integer division towards zero (N8): INT_MIN / -1 wraps, a zero divisor traps. No vector unit divides integers; a float
/// type twice as wide gives the exact quotient after truncation.
Value Emitter::divide(Value x, Value y) {
  if (!traps || compute == DType::Bool)
    return {};
  Value zero = b.zero(type), one = b.intConst(type, 1);
  Value bad = b.compare(IPred::eq, y, zero);
  traps->push_back(bad);
  Value unsafe = bad;
  if (!isUnsigned) {
    unsigned bits = unsigned(itemSize(compute)) * 8;
    Value least = b.bitsConst(type, llvm::APInt::getSignedMinValue(bits).getZExtValue());
    Value wraps =
        arith::AndIOp::create(b, b.compare(IPred::eq, x, least), b.compare(IPred::eq, y, b.intConst(type, -1)));
    unsafe = arith::OrIOp::create(b, bad, wraps);
  }
  y = b.select(unsafe, one, y);
  if (compute == DType::I64)
    return arith::DivSIOp::create(b, x, y);
  Type middle = b.wide(b.getI32Type(), lanes);
  Type wide = b.wide(compute == DType::I32 ? DType::F64 : DType::F32, lanes);
  auto toFloat = [&](Value v) -> Value {
    if (compute == DType::U8)
      v = arith::ExtUIOp::create(b, middle, v);
    else if (compute != DType::I32)
      v = arith::ExtSIOp::create(b, middle, v);
    return arith::SIToFPOp::create(b, wide, v);
  };
  Value q = arith::FPToSIOp::create(b, middle, Value(arith::DivFOp::create(b, toFloat(x), toFloat(y))));
  return compute == DType::I32 ? q : Value(arith::TruncIOp::create(b, type, q));
}

Value Emitter::floatFromInt(Value x) {
  if (compute == DType::F64)
    return i64ToF64(b, x);
  return arith::SIToFPOp::create(b, type, x);
}

Value Emitter::node(const BodyNode &n, Value x, Value y, Value z) {
  switch (n.op) {
  case BodyOp::Const:
  case BodyOp::Bits:
  case BodyOp::ConstI: return constant(n);
  case BodyOp::Fma: return isFloatBody ? Value(LLVM::FMAOp::create(b, type, x, y, z)) : b.add(b.mul(x, y), z);
  case BodyOp::Select: return b.select(x, y, z);
  default: break;
  }
  if (!x)
    return {};
  if (n.op >= BodyOp::Lt && n.op <= BodyOp::Ne)
    return y ? compareOp(n.op, x, y) : Value();
  if (!y)
    return unary(n.op, x);
  if (n.op >= BodyOp::Add && n.op <= BodyOp::Max)
    return binary(n.op, x, y);
  return integer(n.op, x, y);
}

} // namespace

static int operandsOf(BodyOp op) {
  switch (op) {
  case BodyOp::Arg:
  case BodyOp::Index:
  case BodyOp::Const:
  case BodyOp::Bits:
  case BodyOp::ConstI: return 0;
  case BodyOp::Fma:
  case BodyOp::Select: return 3;
  case BodyOp::Neg:
  case BodyOp::Abs:
  case BodyOp::Sqrt:
  case BodyOp::Floor:
  case BodyOp::RoundEven:
  case BodyOp::IsNan:
  case BodyOp::Not:
  case BodyOp::ToInt:
  case BodyOp::FromInt:
  case BodyOp::IFromF:
  case BodyOp::FFromI: return 1;
  default: return 2;
  }
}

namespace {

int16_t operandOf(const BodyNode &n, int k) { return k == 0 ? n.a : k == 1 ? n.b : n.c; }

using Nodes = std::vector<bool>;

/// What only one side of selects on one condition needs, where it is long enough to be worth a branch around it.
struct Arm {
  int condition = -1;
  bool taken = false; // the side: where the condition holds, or not
  int at = 0; // the first of those selects
  int work = 0;
  int parent = -1; // the arm that it is a part of
  Nodes nodes;

  bool has(int i) const { return nodes[size_t(i)]; }
};

constexpr int leastWork = 24; // nodes

/// What the result depends on.
Nodes liveNodes(const Body &body) {
  Nodes live(size_t(body.numNodes), false);
  live.back() = true;
  for (int i = body.numNodes; i-- > 0;)
    for (int k = 0; live[size_t(i)] && k < operandsOf(body.nodes[i].op); ++k)
      live[size_t(operandOf(body.nodes[i], k))] = true;
  return live;
}

/// The arm of one side of one condition; its work is 0 where it can't be cut out.
Arm armOf(const Body &body, const Nodes &live, int condition, bool taken) {
  Arm arm{condition, taken, body.numNodes, 0, -1, live};
  arm.nodes.back() = false;
  for (int i = body.numNodes; i-- > 0;) { // users come after what they use
    const BodyNode &n = body.nodes[i];
    bool chooses = n.op == BodyOp::Select && n.a == condition;
    for (int k = 0; k < operandsOf(n.op); ++k)
      if (live[size_t(i)] && !arm.has(i) && !(chooses && k == (taken ? 1 : 2)))
        arm.nodes[size_t(operandOf(n, k))] = false;
    if (n.op == BodyOp::Arg || n.op == BodyOp::Index)
      arm.nodes[size_t(i)] = false;
  }
  for (int i = 0; i < body.numNodes; ++i) {
    const BodyNode &n = body.nodes[i];
    if (arm.has(i))
      arm.work += operandsOf(n.op) > 0;
    else if (live[size_t(i)] && n.op == BodyOp::Select && n.a == condition && arm.has(taken ? n.b : n.c))
      arm.at = std::min(arm.at, i);
  }
  for (int i = arm.at; i < body.numNodes; ++i)
    if (arm.has(i))
      arm.work = 0;
  return arm;
}

/// Is all of `inner`, or nothing of it, a part of `outer`?
bool nested(const Arm &outer, const Arm &inner, bool &within) {
  bool without = true;
  within = true;
  for (size_t i = 0; i < inner.nodes.size(); ++i)
    if (inner.nodes[i])
      (outer.nodes[i] ? without : within) = false;
  return within || without;
}

/// Arms that are apart or one within the other, the longest first.
std::vector<Arm> armsOf(const Body &body, const Nodes &live) {
  std::vector<Arm> all, chosen;
  Nodes seen(size_t(body.numNodes), false);
  for (int i = 0; i < body.numNodes; ++i) {
    const BodyNode &n = body.nodes[i];
    if (n.op != BodyOp::Select || seen[size_t(n.a)])
      continue;
    seen[size_t(n.a)] = true;
    for (bool taken : {true, false})
      if (Arm arm = armOf(body, live, n.a, taken); arm.work >= leastWork)
        all.push_back(std::move(arm));
  }
  std::sort(all.begin(), all.end(), [](const Arm &a, const Arm &b) {
    return std::tuple(-a.work, a.condition, a.taken) < std::tuple(-b.work, b.condition, b.taken);
  });
  for (Arm &arm : all) {
    bool fits = true, within = false;
    for (size_t c = 0; c < chosen.size(); ++c) {
      fits &= nested(chosen[c], arm, within);
      if (within) // later ones are shorter
        arm.parent = int(c);
    }
    if (fits)
      chosen.push_back(std::move(arm));
  }
  return chosen;
}

class BodyRun {
public:
  BodyRun(KernelBuilder &b, const Body &body, DType compute, llvm::ArrayRef<Values> args, ValueRange index,
          unsigned lanes, unsigned vectors, Diag &diag, Values *traps)
      : b(b), body(body), compute(compute), args(args), index(index), lanes(lanes), vectors(vectors), diag(diag),
        emitter(b, compute, lanes, traps), done(size_t(body.numNodes)) {}

  Values run();

private:
  bool emit(int i);
  bool emitPart(int part, int end);
  bool emitArm(int number);
  Value anyLane(const Arm &arm);
  bool bad(int i, const char *what) {
    diag.fail(ErrorKind::Internal, "body node " + std::to_string(i) + " (op " + std::to_string(int(body.nodes[i].op)) +
                                       ") " + what + " for " + std::string(shortName(compute)));
    return false;
  }

  KernelBuilder &b;
  const Body &body;
  DType compute;
  llvm::ArrayRef<Values> args;
  ValueRange index;
  unsigned lanes, vectors;
  Diag &diag;
  Emitter emitter;
  llvm::SmallVector<Values, 32> done;
  std::vector<Arm> arms;
  std::vector<int> part; // of each node: the innermost arm, -1 for none, -2 if it isn't needed
};

/// Is there a lane that takes the arm's side?
Value BodyRun::anyLane(const Arm &arm) {
  Value any;
  for (Value c : done[size_t(arm.condition)]) {
    if (!arm.taken)
      c = arith::XOrIOp::create(b, c, b.intConst(c.getType(), -1));
    any = any ? Value(arith::OrIOp::create(b, any, c)) : c;
  }
  return vector::ReductionOp::create(b, vector::CombiningKind::OR, any);
}

/// The arm's nodes behind a branch. Where it isn't taken its values are zeros, which every lane's select drops.
bool BodyRun::emitArm(int number) {
  const Arm &arm = arms[size_t(number)];
  llvm::SmallVector<int, 4> wanted;
  for (int i = arm.at; i < body.numNodes; ++i) {
    const BodyNode &n = body.nodes[i];
    int value = n.op == BodyOp::Select && n.a == arm.condition ? (arm.taken ? n.b : n.c) : -1;
    if (value >= 0 && arm.has(value) && !llvm::is_contained(wanted, value))
      wanted.push_back(value);
  }
  llvm::SmallVector<Type, 8> types(wanted.size() * vectors, b.wide(compute, lanes));
  bool ok = true;
  Values results = b.ifElse(
      anyLane(arm), types,
      [&] {
        ok = emitPart(number, arm.at);
        Values out;
        for (int i : wanted)
          out.append(done[size_t(i)].begin(), done[size_t(i)].end());
        out.resize(types.size(), out.empty() ? Value() : out.front());
        return out;
      },
      [&] { return Values(types.size(), b.zero(types[0])); });
  for (size_t w = 0; w < wanted.size(); ++w)
    done[size_t(wanted[w])] = Values(llvm::ArrayRef<Value>(results).slice(w * vectors, vectors));
  return ok;
}

/// The nodes before `end` that belong to no arm within this part, and those arms.
bool BodyRun::emitPart(int number, int end) {
  for (int i = 0; i < end; ++i) {
    for (size_t a = 0; a < arms.size(); ++a)
      if (arms[a].parent == number && arms[a].at == i && !emitArm(int(a)))
        return false;
    if (part[size_t(i)] == number && !emit(i))
      return false;
  }
  return true;
}

bool BodyRun::emit(int i) {
  const BodyNode &n = body.nodes[i];
  for (unsigned u = 0; u < vectors; ++u) {
    Value v;
    if (n.op == BodyOp::Arg)
      v = n.bits < args.size() ? args[n.bits][u] : Value();
    else if (n.op == BodyOp::Index)
      v = u < index.size() ? index[u] : Value();
    else {
      Value in[3];
      for (int k = 0; k < operandsOf(n.op); ++k)
        in[k] = done[size_t(operandOf(n, k))][u];
      v = emitter.node(n, in[0], in[1], in[2]);
    }
    if (!v)
      return bad(i, "is not supported");
    done[size_t(i)].push_back(v);
  }
  return true;
}

Values BodyRun::run() {
  for (int i = 0; i < body.numNodes; ++i)
    for (int k = 0; k < operandsOf(body.nodes[i].op); ++k)
      if (int o = operandOf(body.nodes[i], k); o < 0 || o >= i)
        return bad(i, "has an operand that is not an earlier node"), Values();
  part.assign(size_t(body.numNodes), -1);
  if (lanes > 1 && isFloat(compute)) { // divisions of integers report from where they stand
    Nodes live = liveNodes(body);
    arms = armsOf(body, live);
    for (int i = 0; i < body.numNodes; ++i) {
      if (!live[size_t(i)])
        part[size_t(i)] = -2;
      for (size_t a = 0; a < arms.size(); ++a) // the innermost comes last
        if (arms[a].has(i))
          part[size_t(i)] = int(a);
    }
  }
  if (!emitPart(-1, body.numNodes))
    return {};
  return done.back();
}

} // namespace

Values emitBody(KernelBuilder &b, const Body &body, DType compute, llvm::ArrayRef<Values> args, ValueRange index,
                unsigned lanes, unsigned vectors, Diag &diag, Values *traps) {
  if (body.numNodes == 0) {
    diag.fail(ErrorKind::NotImplemented, "no scalar body for " + std::string(shortName(compute)));
    return {};
  }
  return BodyRun(b, body, compute, args, index, lanes, vectors, diag, traps).run();
}

} // namespace torchc::lower
