// TensorProto -> Tensor.
#include "frontends/eager/Api.h"
#include "frontends/onnx/Model.h"
#include <algorithm>
#include <cstring>
#include <fcntl.h>
#include <optional>
#include <sys/stat.h>
#include <unistd.h>

namespace torchc::onnx {
namespace {

constexpr DType noDType = DType(255);

struct Proto {
  std::vector<int64_t> dims;
  int32_t type = 0;
  std::string_view name;
  Bytes raw;
  bool hasRaw = false, hasStrings = false, external = false;
  // By field: each may come packed, in pieces, or one by one.
  std::vector<float> floats;
  std::vector<double> doubles;
  std::vector<int32_t> int32s;
  std::vector<int64_t> int64s;
  std::string location;
  int64_t offset = 0, length = -1;
};

std::string titleOf(const Proto &p) { return "tensor '" + std::string(p.name) + "'"; }

template <class T, class One, class Packed>
void append(protozero::pbf_reader &r, std::vector<T> &to, One one, Packed packed) {
  if (r.wire_type() != protozero::pbf_wire_type::length_delimited)
    return to.push_back((r.*one)());
  auto range = (r.*packed)();
  to.insert(to.end(), range.begin(), range.end());
}

int64_t numberOf(const std::string &text, const Proto &p) {
  char *end = nullptr;
  int64_t v = std::strtoll(text.c_str(), &end, 10);
  if (text.empty() || *end || v < 0)
    fail(ErrorKind::Value, titleOf(p) + ": external data has the offset or length '" + text + "'");
  return v;
}

void externalEntry(Bytes m, Proto &p) {
  std::string key, value;
  protozero::pbf_reader r(m);
  while (r.next()) {
    if (r.tag() == pb::StringStringEntryProto::key_)
      key = r.get_string();
    else if (r.tag() == pb::StringStringEntryProto::value_)
      value = r.get_string();
    else
      r.skip();
  }
  if (key == "location")
    p.location = value;
  else if (key == "offset")
    p.offset = numberOf(value, p);
  else if (key == "length")
    p.length = numberOf(value, p);
}

Proto decode(Bytes m) {
  using namespace pb::TensorProto;
  using R = protozero::pbf_reader;
  Proto p;
  R r(m);
  while (r.next()) {
    switch (r.tag()) {
    case dims_: append(r, p.dims, &R::get_int64, &R::get_packed_int64); break;
    case data_type_: p.type = r.get_int32(); break;
    case name_: {
      Bytes v = r.get_view();
      p.name = {v.data(), v.size()};
      break;
    }
    case raw_data_: p.raw = r.get_view(), p.hasRaw = true; break;
    case float_data_: append(r, p.floats, &R::get_float, &R::get_packed_float); break;
    case double_data_: append(r, p.doubles, &R::get_double, &R::get_packed_double); break;
    case int32_data_: append(r, p.int32s, &R::get_int32, &R::get_packed_int32); break;
    case int64_data_: append(r, p.int64s, &R::get_int64, &R::get_packed_int64); break;
    case string_data_: p.hasStrings = true, r.skip(); break;
    case external_data_: externalEntry(r.get_view(), p); break;
    case data_location_: p.external = r.get_enum() == 1; break;
    default: r.skip();
    }
  }
  return p;
}

/// Opens `name` below `folder` without following a link in any part of it; -1 when there is no such file.
int openBelow(const std::string &folder, const std::string &name) {
  int at = open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  for (size_t from = 0; at >= 0 && from <= name.size();) {
    size_t end = std::min(name.find('/', from), name.size());
    int flags = O_NOFOLLOW | O_CLOEXEC | (end < name.size() ? O_PATH | O_DIRECTORY : O_RDONLY | O_NONBLOCK);
    int next = openat(at, name.substr(from, end - from).c_str(), flags);
    close(at);
    at = next, from = end + 1;
  }
  return at;
}

/// Bytes of a file beside the model. Only plain relative names: a model can't read what lies elsewhere.
class ExternalData {
public:
  /// Checks that the file has the bytes.
  ExternalData(const Proto &p, const std::string &folder, int64_t bytes) : p(p), path(folder + "/" + p.location) {
    const std::string &name = p.location;
    if (folder.empty() || name.empty() || name[0] == '/' || name.find("..") != std::string::npos ||
        name.find('\0') != std::string::npos)
      fail(ErrorKind::Value,
           titleOf(p) + ": external data at '" + name + "', expected a file below the model's folder");
    if (p.length >= 0 && p.length != bytes)
      fail(ErrorKind::Value,
           titleOf(p) + ": external data of " + std::to_string(p.length) + " bytes, expected " + std::to_string(bytes));
    file = openBelow(folder, name);
    struct stat info;
    if (file >= 0 && (fstat(file, &info) || !S_ISREG(info.st_mode) || info.st_size - bytes < p.offset)) {
      close(file);
      file = -1;
    }
    if (file < 0)
      refuse(bytes);
  }
  ~ExternalData() { close(file); }

  void read(char *to, int64_t bytes) const {
    for (int64_t done = 0; done < bytes;) {
      ssize_t got = pread(file, to + done, size_t(bytes - done), p.offset + done);
      if (got <= 0)
        refuse(bytes);
      done += got;
    }
  }

private:
  [[noreturn]] void refuse(int64_t bytes) const {
    fail(ErrorKind::OS, titleOf(p) + ": can't read " + std::to_string(bytes) + " bytes at " + std::to_string(p.offset) +
                            " of " + path);
  }
  const Proto &p;
  std::string path;
  int file = -1;
};

/// Number fields that hold one element each, converted to `T`.
template <class T, class F> void fillFrom(const Proto &p, const std::vector<F> &field, char *to, int64_t count) {
  if (int64_t(field.size()) != count)
    fail(ErrorKind::Value, titleOf(p) + ": " + std::to_string(field.size()) + " elements of data, its shape has " +
                               std::to_string(count));
  for (int64_t i = 0; i < count; i++) {
    T v = T(field[size_t(i)]);
    std::memcpy(to + i * int64_t(sizeof(T)), &v, sizeof(T));
  }
}

void fillFields(const Proto &p, DType t, char *to, int64_t count) {
  switch (t) {
  case DType::F32: return fillFrom<float>(p, p.floats, to, count);
  case DType::F64: return fillFrom<double>(p, p.doubles, to, count);
  case DType::I64: return fillFrom<int64_t>(p, p.int64s, to, count);
  case DType::I32: return fillFrom<int32_t>(p, p.int32s, to, count);
  case DType::I16:
  case DType::F16: // halves by their bits
  case DType::BF16: return fillFrom<uint16_t>(p, p.int32s, to, count);
  case DType::Bool: return fillFrom<bool>(p, p.int32s, to, count);
  default: return fillFrom<uint8_t>(p, p.int32s, to, count);
  }
}

} // namespace

std::string dataTypeName(int32_t dataType) {
  static const char *const names[] = {"UNDEFINED", "FLOAT",  "UINT8",     "INT8",       "UINT16",  "INT16",
                                      "INT32",     "INT64",  "STRING",    "BOOL",       "FLOAT16", "DOUBLE",
                                      "UINT32",    "UINT64", "COMPLEX64", "COMPLEX128", "BFLOAT16"};
  return dataType >= 0 && dataType < int(std::size(names)) ? names[dataType] : "number " + std::to_string(dataType);
}

static DType dtypeOrNone(int32_t dataType) {
  using namespace pb::DataType;
  switch (dataType) {
  case FLOAT_: return DType::F32;
  case DOUBLE_: return DType::F64;
  case FLOAT16_: return DType::F16;
  case BFLOAT16_: return DType::BF16;
  case BOOL_: return DType::Bool;
  case UINT8_: return DType::U8;
  case INT8_: return DType::I8;
  case INT16_: return DType::I16;
  case INT32_: return DType::I32;
  case INT64_: return DType::I64;
  default: return noDType;
  }
}

DType dtypeOfOnnx(int32_t dataType, std::string_view what) {
  DType t = dtypeOrNone(dataType);
  if (t == noDType)
    fail(ErrorKind::NotImplemented, std::string(what) + ": element type " + dataTypeName(dataType));
  return t;
}

int32_t onnxOfDType(DType t) {
  for (int32_t i = 0; i < 32; i++)
    if (dtypeOrNone(i) == t)
      return i;
  fail(ErrorKind::NotImplemented, "ONNX: no element type for " + std::string(torchName(t)));
}

Tensor readTensor(Bytes proto, const std::string &folder) {
  Proto p;
  try {
    p = decode(proto);
  } catch (const protozero::exception &e) {
    fail(ErrorKind::Value, "not an ONNX tensor: " + std::string(e.what()));
  }
  DType t = dtypeOfOnnx(p.type, titleOf(p));
  int64_t bytes = itemSize(t);
  for (int64_t d : p.dims)
    if (d < 0 || __builtin_mul_overflow(bytes, d, &bytes))
      fail(ErrorKind::Value, titleOf(p) + ": a dimension of " + std::to_string(d));
  // What the file can't back is refused before memory is asked for.
  if (p.hasRaw && int64_t(p.raw.size()) != bytes)
    fail(ErrorKind::Value,
         titleOf(p) + ": " + std::to_string(p.raw.size()) + " bytes of data, its shape has " + std::to_string(bytes));
  size_t fields = p.floats.size() + p.doubles.size() + p.int32s.size() + p.int64s.size();
  if (!p.hasRaw && !p.external && int64_t(fields) != bytes / itemSize(t))
    fail(ErrorKind::Value, titleOf(p) + ": " + std::to_string(fields) + " elements of data, its shape has " +
                               std::to_string(bytes / itemSize(t)));
  if (!bytes)
    return empty(p.dims, t);
  std::optional<ExternalData> data;
  if (p.external)
    data.emplace(p, folder, bytes);
  Tensor out = empty(p.dims, t);
  char *to = static_cast<char *>(out.data());
  if (data)
    data->read(to, bytes);
  else if (p.hasRaw)
    std::memcpy(to, p.raw.data(), size_t(bytes));
  else
    fillFields(p, t, to, bytes / itemSize(t));
  if (t == DType::Bool) // other bytes than 0 and 1 occur
    for (int64_t i = 0; i < bytes; i++)
      to[i] = to[i] != 0;
  return out;
}

} // namespace torchc::onnx
