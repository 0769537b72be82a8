// PTX as the emulator runs it: what Parser.cpp makes of a text, and what Warp.cpp executes.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace torchc::ptx {

enum class Op : uint8_t {
  Abs,
  Add,
  And,
  Atom,
  Bar,
  Bfe,
  Bra,
  Brev,
  Clz,
  CopySign,
  Cvt,
  Cvta,
  Div,
  Fma,
  Ld,
  LdParam,
  Mad,
  MadWide,
  Max,
  Min,
  Mov,
  Mul,
  MulHi,
  MulWide,
  Neg,
  Not,
  Or,
  Pack,
  Popc,
  Prmt,
  Rcp,
  Rem,
  Ret,
  Selp,
  Setp,
  Shf,
  Shfl,
  Shl,
  Shr,
  Sqrt,
  St,
  Sub,
  Unpack,
  WarpSync,
  Xor
};
enum class Type : uint8_t { None, Pred, B8, B16, B32, B64, U8, U16, U32, U64, S8, S16, S32, S64, F32, F64 };
enum class Space : uint8_t { Generic, Global, Shared, Param };
enum class Compare : uint8_t { Eq, Ne, Lt, Le, Gt, Ge, Num, Nan };
enum class Rounding : uint8_t { Nearest, Zero, Down, Up };
enum class Mode : uint8_t {
  None,
  Add,
  Min,
  Max,
  Exchange,
  And,
  Or,
  Xor,
  Swap,
  Up,
  Down,
  Butterfly,
  Index,
  Left,
  Right
};

inline int bytesOf(Type t) {
  switch (t) {
  case Type::B8:
  case Type::U8:
  case Type::S8: return 1;
  case Type::B16:
  case Type::U16:
  case Type::S16: return 2;
  case Type::B64:
  case Type::U64:
  case Type::S64:
  case Type::F64: return 8;
  default: return 4;
  }
}

/// Operands are numbers of registers; immediates and special registers are registers filled at the start.
struct Instruction {
  Op op = Op::Ret;
  Type type = Type::None, from = Type::None; // from: cvt's source, the second type of others
  Space space = Space::Generic;
  Compare compare = Compare::Eq;
  Rounding rounding = Rounding::Nearest;
  Mode mode = Mode::None;
  bool unordered = false; // setp: true for NaN
  bool keepsNan = false; // min, max: .NaN
  bool toInteger = false; // cvt: .rni and its like
  bool clamps = false; // shf
  bool negated = false; // the guard
  int guard = -1; // predicate register; -1: always
  int target = -1; // bra
  int line = 0;
  int64_t offset = 0; // of a memory operand
  std::vector<int> to = {}, in = {};
};

enum class Special : uint8_t {
  TidX,
  TidY,
  TidZ,
  NtidX,
  NtidY,
  NtidZ,
  CtaidX,
  CtaidY,
  CtaidZ,
  NctaidX,
  NctaidY,
  NctaidZ,
  Lane
};

struct Kernel {
  struct Parameter {
    uint32_t offset, size;
  };
  std::string name;
  std::vector<Parameter> parameters;
  std::vector<Instruction> code;
  std::vector<std::pair<int, uint64_t>> constants; // register, value
  std::vector<std::pair<int, Special>> specials;
  int registers = 0;
  uint32_t parameterBytes = 0, sharedBytes = 0;
};

struct Module {
  std::map<std::string, Kernel, std::less<>> kernels;
};

/// False, with "line N: what" in `error`: malformed, or an instruction that the emulator lacks.
bool parse(std::string_view text, Module &out, std::string &error);

} // namespace torchc::ptx
