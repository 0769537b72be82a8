#include "frontends/jit/HelperProtocol.h"
#include <cstring>

using namespace torchc;
using namespace torchc::jit;

namespace {

template <class T> void put(std::vector<uint8_t> &out, T v) {
  auto *p = reinterpret_cast<const uint8_t *>(&v);
  out.insert(out.end(), p, p + sizeof v);
}

template <class T> bool take(std::span<const uint8_t> &from, T &v) {
  if (from.size() < sizeof v)
    return false;
  std::memcpy(&v, from.data(), sizeof v);
  from = from.subspan(sizeof v);
  return true;
}

} // namespace

std::vector<uint8_t> torchc::jit::makeCompileRequest(std::string_view optionsJson, std::span<const uint8_t> trace) {
  std::vector<uint8_t> out;
  out.reserve(12 + optionsJson.size() + trace.size());
  for (char c : std::string_view("TCRQ"))
    out.push_back(uint8_t(c));
  put(out, requestVersion);
  put(out, uint32_t(optionsJson.size()));
  out.insert(out.end(), optionsJson.begin(), optionsJson.end());
  out.insert(out.end(), trace.begin(), trace.end());
  return out;
}

const AnswerPiece *CompileAnswer::find(std::string_view kind) const {
  for (const AnswerPiece &p : pieces)
    if (p.kind == kind)
      return &p;
  return nullptr;
}

bool torchc::jit::parseCompileAnswer(std::span<const uint8_t> bytes, CompileAnswer &answer, Diag &diag) {
  answer = CompileAnswer();
  if (!take(bytes, answer.status))
    return diag.fail(ErrorKind::Runtime,
                     "helper's answer: a status expected, got " + std::to_string(bytes.size()) + " bytes");
  while (!bytes.empty()) {
    uint32_t kind = 0;
    uint64_t count = 0;
    if (!take(bytes, kind) || !take(bytes, count) || bytes.size() < kind || bytes.size() - kind < count)
      return diag.fail(ErrorKind::Runtime,
                       "helper's answer: piece " + std::to_string(answer.pieces.size()) + " reaches beyond the end");
    answer.pieces.push_back({{reinterpret_cast<const char *>(bytes.data()), kind}, bytes.subspan(kind, count)});
    bytes = bytes.subspan(kind + count);
  }
  return true;
}
