#include "dialects/trace/Safetensors.h"
#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

using namespace torchc;

namespace {

constexpr uint64_t maxHeader = 100'000'000;
constexpr size_t maxRank = 64;
// By dtype; an empty one is none of the format.
constexpr std::string_view formatNames[] = {"BOOL", "U8",  "I8", "I16", "I32", "I64", "F16",     "BF16",   "F32",
                                            "F64",  "C64", "",   "U16", "U32", "U64", "F8_E4M3", "F8_E5M2"};

bool failWith(Diag &diag, const std::string &problem, ErrorKind kind = ErrorKind::Runtime) {
  return diag.fail(kind, "safetensors: " + problem);
}

/// Bytes of a tensor, or false when that overflows.
bool byteSize(const SafeTensor &t, uint64_t &bytes) {
  bytes = uint64_t(itemSize(t.dtype));
  for (int64_t d : t.shape)
    if (d < 0 || __builtin_mul_overflow(bytes, uint64_t(d), &bytes) || bytes >> 63)
      return false;
  return true;
}

/// Reads the header event by event: nothing is kept but what the format allows, however deep the
/// JSON goes.
class Header : public nlohmann::json_sax<nlohmann::json> {
public:
  struct Record {
    SafeTensor tensor;
    uint64_t begin = 0, end = 0;
  };
  std::vector<Record> records;
  SafeMetadata metadata;

  Header(Diag &diag) : diag(diag) {}

  bool null() override { return unexpected("null"); }
  bool boolean(bool) override { return unexpected("a boolean"); }
  bool number_integer(number_integer_t) override { return unexpected("a negative number"); }
  bool number_float(number_float_t, const string_t &) override { return unexpected("a fraction"); }
  bool binary(binary_t &) override { return unexpected("binary data"); }

  bool number_unsigned(number_unsigned_t v) override {
    if (where == InShape && records.back().tensor.shape.size() < maxRank && v < uint64_t(1) << 62) {
      records.back().tensor.shape.push_back(int64_t(v));
      return true;
    }
    if (where == InOffsets && offsets < 2) {
      (offsets++ ? records.back().end : records.back().begin) = v;
      return true;
    }
    return unexpected("number " + std::to_string(v));
  }

  bool string(string_t &v) override {
    if (where == InMetadata) {
      metadata[field] = v;
      return true;
    }
    if (where == InTensor && field == "dtype")
      return dtype(v);
    return unexpected("a string");
  }

  bool start_object(std::size_t) override {
    if (where == Start)
      return go(InRoot);
    if (where == InRoot && field == "__metadata__")
      return go(InMetadata);
    if (where != InRoot)
      return unexpected("an object");
    records.emplace_back();
    records.back().tensor.name = field;
    seen = 0;
    return go(InTensor);
  }

  bool key(string_t &v) override {
    field = v;
    if (where == InRoot)
      return names.insert(v).second || failWith(diag, "name '" + v + "' appears twice");
    if (where == InMetadata)
      return !metadata.contains(v) || failWith(diag, "metadata '" + v + "' appears twice");
    int bit = v == "dtype" ? 1 : v == "shape" ? 2 : v == "data_offsets" ? 4 : 0;
    if (!bit || seen & bit)
      return failWith(diag, "tensor '" + records.back().tensor.name + "': field '" + v + "' is unexpected");
    seen |= bit;
    return true;
  }

  bool end_object() override {
    if (where == InTensor && seen != 7)
      return failWith(diag, "tensor '" + records.back().tensor.name + "': dtype, shape and data_offsets expected");
    return go(where == InRoot ? End : InRoot);
  }

  bool start_array(std::size_t) override {
    if (where == InTensor && field == "shape")
      return go(InShape);
    offsets = 0;
    if (where == InTensor && field == "data_offsets")
      return go(InOffsets);
    return unexpected("an array");
  }

  bool end_array() override {
    if (where == InOffsets && offsets != 2)
      return unexpected("one of two data_offsets");
    return go(InTensor);
  }

  bool parse_error(std::size_t position, const std::string &, const nlohmann::detail::exception &) override {
    return failWith(diag, "the header isn't JSON at byte " + std::to_string(8 + position));
  }

private:
  enum Where { Start, InRoot, InMetadata, InTensor, InShape, InOffsets, End };
  Diag &diag;
  Where where = Start;
  std::string field;
  std::set<std::string, std::less<>> names;
  int seen = 0, offsets = 0;

  bool go(Where next) {
    where = next;
    return true;
  }
  bool unexpected(const std::string &what) {
    std::string at = records.empty() ? "the header" : "tensor '" + records.back().tensor.name + "'";
    return failWith(diag, at + ", field '" + field + "': unexpected " + what);
  }
  bool dtype(const std::string &name) {
    auto found = std::find(std::begin(formatNames), std::end(formatNames), name);
    if (found == std::end(formatNames) || name.empty())
      return failWith(diag,
                      "tensor '" + records.back().tensor.name + "' has dtype '" + name + "', which isn't supported",
                      ErrorKind::NotImplemented);
    records.back().tensor.dtype = DType(found - std::begin(formatNames));
    return true;
  }
};

/// Sizes match and the tensors fill the data without gaps.
bool place(Header &header, std::span<const uint8_t> data, Diag &diag) {
  auto &records = header.records;
  std::sort(records.begin(), records.end(), [](const auto &a, const auto &b) {
    return std::tie(a.begin, a.end, a.tensor.name) < std::tie(b.begin, b.end, b.tensor.name);
  });
  uint64_t next = 0;
  for (auto &r : records) {
    std::string name = "tensor '" + r.tensor.name + "'";
    uint64_t bytes = 0;
    if (r.begin != next || r.end < r.begin || r.end > data.size())
      return failWith(diag, name + ": data from byte " + std::to_string(next) + " of " + std::to_string(data.size()) +
                                " expected, got " + std::to_string(r.begin) + " to " + std::to_string(r.end));
    if (!byteSize(r.tensor, bytes) || bytes != r.end - r.begin)
      return failWith(diag, name + ": its shape and dtype don't take " + std::to_string(r.end - r.begin) + " bytes");
    r.tensor.data = data.subspan(r.begin, bytes);
    next = r.end;
  }
  return next == data.size() ||
         failWith(diag, std::to_string(next) + " bytes of data expected, got " + std::to_string(data.size()));
}

using Json = nlohmann::ordered_json;

/// Text that isn't UTF-8 loses bytes here instead of throwing; the writer refuses such text before.
std::string dump(const Json &value) { return value.dump(-1, ' ', false, Json::error_handler_t::ignore); }

bool isUtf8(const std::string &text) { return Json::parse(dump(text), nullptr, false) == text; }

} // namespace

bool torchc::readSafetensors(std::span<const uint8_t> bytes, std::vector<SafeTensor> &tensors, SafeMetadata &metadata,
                             Diag &diag) {
  tensors.clear();
  metadata.clear();
  uint64_t size = 0;
  if (bytes.size() < 8)
    return failWith(diag, "a header length of 8 bytes expected, got " + std::to_string(bytes.size()));
  std::memcpy(&size, bytes.data(), 8);
  if (size > maxHeader || size > bytes.size() - 8)
    return failWith(diag, "a header of " + std::to_string(size) + " bytes doesn't fit into " +
                              std::to_string(bytes.size()) + " bytes (100 MB at most)");
  auto text = bytes.subspan(8, size);
  if (text.empty() || text[0] != '{')
    return failWith(diag, "the header doesn't start with '{'");
  Header header(diag);
  if (!nlohmann::json::sax_parse(text.begin(), text.end(), &header))
    return failWith(diag, "the header isn't JSON");
  if (!place(header, bytes.subspan(8 + size), diag))
    return false;
  for (auto &r : header.records)
    tensors.push_back(std::move(r.tensor));
  metadata = std::move(header.metadata);
  return true;
}

bool torchc::writeSafetensors(std::span<const SafeTensor> tensors, const SafeMetadata &metadata,
                              std::vector<uint8_t> &out, Diag &diag) {
  std::vector<const SafeTensor *> order;
  for (const SafeTensor &t : tensors)
    order.push_back(&t);
  std::sort(order.begin(), order.end(), [](auto *a, auto *b) {
    int64_t x = itemSize(a->dtype), y = itemSize(b->dtype);
    return x != y ? x > y : a < b;
  });
  std::set<std::string_view> names{"__metadata__"};
  for (const auto &[key, value] : metadata)
    if (!isUtf8(key) || !isUtf8(value))
      return failWith(diag, "metadata isn't UTF-8", ErrorKind::Value);
  uint64_t offset = 0;
  std::string text = "{";
  for (const SafeTensor *t : order) {
    uint64_t bytes = 0;
    if (size_t(t->dtype) >= std::size(formatNames) || formatNames[size_t(t->dtype)].empty())
      return failWith(diag, "tensor '" + t->name + "': the format has no " + std::string(torchName(t->dtype)),
                      ErrorKind::NotImplemented);
    if (!names.insert(t->name).second)
      return failWith(diag, "name '" + t->name + "' appears twice", ErrorKind::Value);
    if (!isUtf8(t->name))
      return failWith(diag, "a tensor's name isn't UTF-8", ErrorKind::Value);
    if (t->shape.size() > maxRank || !byteSize(*t, bytes) || bytes != t->data.size())
      return failWith(
          diag, "tensor '" + t->name + "': its shape and dtype don't take " + std::to_string(t->data.size()) + " bytes",
          ErrorKind::Value);
  }
  // One small document per tensor: an ordered_json object searches all its keys at every insertion.
  auto append = [&](const std::string &key, const Json &value) {
    text += (text.size() > 1 ? "," : "") + dump(key) + ":" + dump(value);
  };
  if (!metadata.empty())
    append("__metadata__", metadata);
  for (const SafeTensor *t : order) {
    append(t->name, {{"dtype", formatNames[size_t(t->dtype)]},
                     {"shape", t->shape},
                     {"data_offsets", {offset, offset + t->data.size()}}});
    offset += t->data.size();
  }
  text += "}";
  text.resize((text.size() + 8 + 63) / 64 * 64 - 8, ' ');
  uint64_t size = text.size();
  if (size > maxHeader)
    return failWith(diag, "the header would be over 100 MB", ErrorKind::Value);
  out.clear();
  out.reserve(8 + size + offset);
  for (int i = 0; i < 8; ++i)
    out.push_back(uint8_t(size >> 8 * i));
  out.insert(out.end(), text.begin(), text.end());
  for (const SafeTensor *t : order)
    out.insert(out.end(), t->data.begin(), t->data.end());
  return true;
}
