// From a text to kernels. Registers get numbers in order of appearance; what an instruction needs at run time is decided here.
#include "runtime/emulator/Parser.h"
#include "runtime/emulator/Ptx.h"
#include <cctype>
#include <cstdlib>
#include <unordered_map>

namespace torchc::ptx {
namespace {

Type typeNamed(std::string_view s) {
  static const std::unordered_map<std::string_view, Type> names = {
      {"pred", Type::Pred}, {"b8", Type::B8},   {"b16", Type::B16}, {"b32", Type::B32}, {"b64", Type::B64},
      {"u8", Type::U8},     {"u16", Type::U16}, {"u32", Type::U32}, {"u64", Type::U64}, {"s8", Type::S8},
      {"s16", Type::S16},   {"s32", Type::S32}, {"s64", Type::S64}, {"f32", Type::F32}, {"f64", Type::F64}};
  auto it = names.find(s);
  return it == names.end() ? Type::None : it->second;
}

/// Opcodes whose operands are one destination and sources, without more.
const std::unordered_map<std::string_view, Op> plainOps = {
    {"abs", Op::Abs},   {"add", Op::Add}, {"and", Op::And},   {"bfe", Op::Bfe},   {"brev", Op::Brev},
    {"clz", Op::Clz},   {"div", Op::Div}, {"fma", Op::Fma},   {"max", Op::Max},   {"min", Op::Min},
    {"neg", Op::Neg},   {"not", Op::Not}, {"or", Op::Or},     {"popc", Op::Popc}, {"prmt", Op::Prmt},
    {"rcp", Op::Rcp},   {"rem", Op::Rem}, {"selp", Op::Selp}, {"shl", Op::Shl},   {"shr", Op::Shr},
    {"sqrt", Op::Sqrt}, {"sub", Op::Sub}, {"xor", Op::Xor},   {"cvt", Op::Cvt},   {"copysign", Op::CopySign}};
const std::unordered_map<std::string_view, Mode> modes = {
    {"add", Mode::Add}, {"min", Mode::Min},   {"max", Mode::Max},        {"exch", Mode::Exchange},
    {"and", Mode::And}, {"or", Mode::Or},     {"xor", Mode::Xor},        {"cas", Mode::Swap},
    {"up", Mode::Up},   {"down", Mode::Down}, {"bfly", Mode::Butterfly}, {"idx", Mode::Index},
    {"l", Mode::Left},  {"r", Mode::Right}};

class ModuleParser {
public:
  ModuleParser(std::string_view text, Module &out, std::string &error) : pieces(text), out(out), error(error) {}
  bool run();

private:
  bool bad(const std::string &what) {
    if (error.empty())
      error = "line " + std::to_string(line) + ": " + what;
    return false;
  }
  bool beginKernel(const std::string &head);
  bool endKernel();
  bool directive(const std::string &text);
  bool shared(const std::string &text);
  bool instruction(const Statement &s);
  bool decode(const Statement &s, Instruction &i);
  bool compare(const Statement &s, Instruction &i);
  bool memory(const Statement &s, Instruction &i);
  bool address(const std::string &text, Instruction &i);
  int registerNamed(const std::string &name);
  int constant(uint64_t value);
  int operand(const std::string &text);
  void destination(const Statement &s, Instruction &i);
  void sources(const Statement &s, Instruction &i, size_t from);

  Pieces pieces;
  Module &out;
  std::string &error;
  Kernel *kernel = nullptr;
  int line = 0, depth = 0;
  std::unordered_map<std::string, int> registers, labels;
  std::unordered_map<std::string, uint32_t> sharedAt, parameterAt;
  uint32_t moduleShared = 0; // bytes of arrays outside of kernels
  std::unordered_map<std::string, uint32_t> moduleSharedAt;
  std::vector<std::pair<size_t, std::string>> jumps;
};

int ModuleParser::registerNamed(const std::string &name) {
  auto [it, isNew] = registers.try_emplace(name, kernel->registers);
  if (!isNew)
    return it->second;
  int r = kernel->registers++;
  size_t dot = name.find('.');
  if (dot == std::string::npos) {
    if (name == "%laneid")
      kernel->specials.push_back({r, Special::Lane});
    return r;
  }
  static const std::unordered_map<std::string, int> specials = {
      {"%tid", 0}, {"%ntid", 3}, {"%ctaid", 6}, {"%nctaid", 9}};
  auto special = specials.find(name.substr(0, dot));
  int dim = name[dot + 1] - 'x';
  if (special == specials.end() || dim < 0 || dim > 2)
    bad("no special register " + name);
  else
    kernel->specials.push_back({r, Special(special->second + dim)});
  return r;
}

int ModuleParser::constant(uint64_t value) {
  auto [it, isNew] = registers.try_emplace("#" + std::to_string(value), kernel->registers);
  if (isNew)
    kernel->constants.push_back({kernel->registers++, value});
  return it->second;
}

int ModuleParser::operand(const std::string &text) {
  if (text.empty())
    return bad("an operand is missing"), 0;
  if (text[0] == '%')
    return registerNamed(text);
  if (text == "_")
    return kernel->registers++;
  if (text[0] == '0' && text.size() > 2 && std::string_view("fFdD").find(text[1]) != std::string_view::npos)
    return constant(std::strtoull(text.c_str() + 2, nullptr, 16));
  if (std::isdigit(static_cast<unsigned char>(text[0])))
    return constant(std::strtoull(text.c_str(), nullptr, 0));
  if (text[0] == '-')
    return constant(uint64_t(std::strtoll(text.c_str(), nullptr, 0)));
  if (text == "true" || text == "false")
    return constant(text == "true");
  if (auto it = sharedAt.find(text); it != sharedAt.end())
    return constant(it->second);
  return bad("unknown name " + text), 0;
}

/// .shared .align 16 .b8 name[256];
bool ModuleParser::shared(const std::string &text) {
  uint32_t align = 4, size = 1, count = 1;
  std::vector<std::string> words = split(text, ' ');
  std::string name;
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i] == ".align" && i + 1 < words.size())
      align = uint32_t(std::atoi(words[++i].c_str()));
    else if (words[i].size() > 1 && words[i][0] == '.' && typeNamed(words[i].substr(1)) != Type::None)
      size = uint32_t(bytesOf(typeNamed(words[i].substr(1))));
    else if (!words[i].empty() && words[i][0] != '.')
      name = words[i];
  }
  size_t bracket = name.find('[');
  if (bracket != std::string::npos) {
    count = uint32_t(std::atoi(name.c_str() + bracket + 1));
    name = name.substr(0, bracket);
  }
  if (name.empty() || !align)
    return bad("unreadable declaration: " + text);
  uint32_t &top = kernel ? kernel->sharedBytes : moduleShared;
  top = (top + align - 1) / align * align;
  (kernel ? sharedAt : moduleSharedAt)[name] = top;
  top += size * count;
  return true;
}

/// .visible .entry name(.param .u64 name_param_0, ...)
bool ModuleParser::beginKernel(const std::string &head) {
  size_t open = head.find('('), close = head.rfind(')');
  size_t entry = head.find(".entry");
  std::string name = trimmed(head.substr(entry + 6, std::min(open, head.size()) - entry - 6));
  kernel = &out.kernels[name];
  *kernel = Kernel();
  kernel->name = name;
  kernel->sharedBytes = moduleShared;
  registers.clear();
  labels.clear();
  parameterAt.clear();
  jumps.clear();
  sharedAt = moduleSharedAt;
  if (open == std::string::npos || close == std::string::npos)
    return true;
  for (const std::string &parameter : split(head.substr(open + 1, close - open - 1), ',')) {
    if (parameter.empty())
      continue;
    uint32_t size = 0;
    std::string last;
    std::string flat = parameter;
    for (char &c : flat)
      c = c == '\t' || c == '\n' ? ' ' : c;
    for (const std::string &word : split(flat, ' ')) {
      if (word.empty())
        continue;
      if (Type t = word[0] == '.' ? typeNamed(word.substr(1)) : Type::None; t != Type::None && !size)
        size = uint32_t(bytesOf(t));
      last = word;
    }
    if (!size || last.find('[') != std::string::npos)
      return bad("unreadable parameter: " + parameter);
    uint32_t at = (kernel->parameterBytes + size - 1) / size * size;
    kernel->parameters.push_back({at, size});
    parameterAt[last] = at;
    kernel->parameterBytes = at + size;
  }
  return true;
}

bool ModuleParser::endKernel() {
  Instruction ret;
  ret.line = line;
  kernel->code.push_back(std::move(ret));
  for (const auto &[at, label] : jumps) {
    auto it = labels.find(label);
    if (it == labels.end())
      return bad("no label " + label);
    kernel->code[at].target = it->second;
  }
  kernel = nullptr;
  return true;
}

bool ModuleParser::directive(const std::string &text) {
  std::string flat = text;
  for (char &c : flat)
    c = c == '\t' || c == '\n' ? ' ' : c;
  if (flat.find(".entry") != std::string::npos)
    return beginKernel(text);
  if (flat.rfind(".shared", 0) == 0)
    return shared(flat);
  for (const char *known :
       {".reg", ".version", ".target", ".address_size", ".pragma", ".maxntid", ".reqntid", ".minnctapersm"})
    if (flat.rfind(known, 0) == 0)
      return true;
  return bad("unknown directive: " + flat);
}

void ModuleParser::destination(const Statement &s, Instruction &i) {
  if (s.operands.empty()) {
    bad("an operand is missing");
    return;
  }
  for (const std::string &name : s.operands[0])
    for (const std::string &part : split(name, '|'))
      i.to.push_back(operand(part));
}

void ModuleParser::sources(const Statement &s, Instruction &i, size_t from) {
  for (size_t k = from; k < s.operands.size(); ++k)
    for (const std::string &name : s.operands[k])
      i.in.push_back(operand(name));
}

bool ModuleParser::compare(const Statement &s, Instruction &i) {
  static const std::unordered_map<std::string_view, Compare> names = {
      {"eq", Compare::Eq}, {"ne", Compare::Ne}, {"lt", Compare::Lt},   {"le", Compare::Le},
      {"gt", Compare::Gt}, {"ge", Compare::Ge}, {"lo", Compare::Lt},   {"ls", Compare::Le},
      {"hi", Compare::Gt}, {"hs", Compare::Ge}, {"num", Compare::Num}, {"nan", Compare::Nan}};
  std::string name = s.opcode.size() > 1 ? s.opcode[1] : "";
  if (name.size() == 3 && name.back() == 'u') {
    i.unordered = true;
    name.pop_back();
  }
  auto it = names.find(name);
  if (it == names.end() || s.operands.size() != 3)
    return bad("unsupported comparison");
  i.op = Op::Setp;
  i.compare = it->second;
  destination(s, i);
  sources(s, i, 1);
  return true;
}

/// [base+offset] into i.in (unless it is a parameter) and i.offset.
bool ModuleParser::address(const std::string &text, Instruction &i) {
  if (text.size() < 3 || text[0] != '[')
    return bad("expected an address, got " + text);
  std::string inner = trimmed(text.substr(1, text.size() - 2));
  size_t plus = inner.find('+');
  i.offset = plus == std::string::npos ? 0 : std::strtoll(inner.c_str() + plus + 1, nullptr, 0);
  std::string base = trimmed(inner.substr(0, plus));
  if (i.space == Space::Param) {
    auto it = parameterAt.find(base);
    if (it == parameterAt.end())
      return bad("no parameter " + base);
    i.offset += it->second;
    return true;
  }
  i.in.push_back(operand(base));
  return true;
}

bool ModuleParser::memory(const Statement &s, Instruction &i) {
  const std::string &name = s.opcode[0];
  i.space = s.has("global")   ? Space::Global
            : s.has("shared") ? Space::Shared
            : s.has("param")  ? Space::Param
                              : Space::Generic;
  for (const char *missing : {"local", "const"})
    if (s.has(missing))
      return bad(std::string("no memory of kind ") + missing);
  bool stores = name == "st" || name == "red";
  if (s.operands.size() < 2)
    return bad("an operand is missing");
  i.op = name == "ld" ? (i.space == Space::Param ? Op::LdParam : Op::Ld) : name == "st" ? Op::St : Op::Atom;
  if (!stores)
    destination(s, i);
  if (!address(s.operands[stores ? 0 : 1][0], i))
    return false;
  sources(s, i, stores ? 1 : 2);
  if (i.op == Op::Atom) {
    for (const std::string &part : s.opcode)
      if (auto it = modes.find(part); it != modes.end() && &part != &s.opcode[0])
        i.mode = it->second;
    if (i.mode == Mode::None)
      return bad("unsupported atomic");
  }
  return true;
}

bool ModuleParser::decode(const Statement &s, Instruction &i) {
  const std::string &name = s.opcode[0];
  for (size_t k = 1; k < s.opcode.size(); ++k) {
    Type t = typeNamed(s.opcode[k]);
    if (t != Type::None)
      (i.type == Type::None ? i.type : i.from) = t;
  }
  for (const char *approximate : {"approx", "ftz", "sat", "full", "cc"})
    if (s.has(approximate))
      return bad("." + std::string(approximate) + " isn't exact");
  i.keepsNan = s.has("NaN");
  i.toInteger = s.has("rni") || s.has("rzi") || s.has("rmi") || s.has("rpi");
  i.rounding = s.has("rz") || s.has("rzi")   ? Rounding::Zero
               : s.has("rm") || s.has("rmi") ? Rounding::Down
               : s.has("rp") || s.has("rpi") ? Rounding::Up
                                             : Rounding::Nearest;
  if (auto it = plainOps.find(name); it != plainOps.end()) {
    i.op = it->second;
    destination(s, i);
    sources(s, i, 1);
    return true;
  }
  if (name == "setp")
    return compare(s, i);
  if (name == "ld" || name == "st" || name == "atom" || name == "red")
    return memory(s, i);
  if (name == "bra") {
    i.op = Op::Bra;
    jumps.push_back({kernel->code.size(), s.operands.empty() ? "" : s.operands[0][0]});
    return true;
  }
  if (name == "ret" || name == "exit")
    return i.op = Op::Ret, true;
  if (name == "bar" && s.has("warp"))
    return i.op = Op::WarpSync, true;
  if ((name == "bar" || name == "barrier") && s.has("sync"))
    return i.op = Op::Bar, true;
  destination(s, i);
  sources(s, i, 1);
  if (name == "mov") {
    i.op = i.to.size() > 1 ? Op::Unpack : i.in.size() > 1 ? Op::Pack : Op::Mov;
    return true;
  }
  if (name == "mul")
    return i.op = s.has("wide") ? Op::MulWide : s.has("hi") ? Op::MulHi : Op::Mul, true;
  if (name == "mad" && !s.has("hi"))
    return i.op = s.has("wide") ? Op::MadWide : Op::Mad, true;
  if (name == "cvta") {
    i.op = Op::Cvta;
    i.space = s.has("shared") ? Space::Shared : Space::Global;
    i.clamps = s.has("to");
    return s.has("local") ? bad("no memory of kind local") : true;
  }
  if (name == "shf" || name == "shfl") {
    i.op = name == "shf" ? Op::Shf : Op::Shfl;
    i.clamps = s.has("clamp");
    for (size_t k = 1; k < s.opcode.size(); ++k)
      if (auto it = modes.find(s.opcode[k]); it != modes.end())
        i.mode = it->second;
    return i.mode != Mode::None || bad("unsupported shuffle");
  }
  return bad("unsupported instruction " + name);
}

bool ModuleParser::instruction(const Statement &s) {
  Instruction i;
  i.line = s.line;
  if (!s.guard.empty()) {
    i.guard = registerNamed(s.guard);
    i.negated = s.negated;
  }
  if (!decode(s, i))
    return false;
  if (!error.empty())
    return false;
  kernel->code.push_back(std::move(i));
  return true;
}

bool ModuleParser::run() {
  for (;;) {
    Piece p = pieces.next();
    line = p.line;
    switch (p.kind) {
    case Piece::End: return depth ? bad("a kernel has no end") : error.empty();
    case Piece::Open: ++depth; continue;
    case Piece::Close:
      if (--depth < 0)
        return bad("unexpected }");
      if (!depth && kernel && !endKernel())
        return false;
      continue;
    case Piece::Label:
      if (!kernel)
        return bad("a label outside of a kernel");
      labels[p.text] = int(kernel->code.size());
      continue;
    case Piece::Code: break;
    }
    if (p.text.empty())
      continue;
    if (p.text[0] == '.'
            ? !directive(p.text)
            : !(kernel && depth ? instruction(parseStatement(p.text, p.line)) : bad("code outside of a kernel")))
      return false;
  }
}

} // namespace

bool parse(std::string_view text, Module &out, std::string &error) {
  error.clear();
  return ModuleParser(text, out, error).run() && error.empty();
}

} // namespace torchc::ptx
