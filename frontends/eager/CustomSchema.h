// The signature of an op registered at run time, in PyTorch's notation: "ns::name.overload(Tensor(a!) x, int[] n,
// float? a=None, *, bool b=True) -> (Tensor, Tensor)".
#pragma once
#include "frontends/eager/Tensor.h"
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace torchc {

/// One argument or result. monostate: None.
using CustomValue = std::variant<std::monostate, Tensor, std::vector<Tensor>, bool, int64_t, double, std::string, DType,
                                 DeviceId, std::vector<bool>, std::vector<int64_t>, std::vector<double>,
                                 std::vector<std::string>, std::vector<Scalar>>;
using CustomValues = std::vector<CustomValue>;

enum class CustomKind : uint8_t { Tensor, Bool, Int, Float, Str, Scalar, DType, Device };

struct CustomArgument {
  std::string name; // of a result: mostly empty
  CustomKind kind = CustomKind::Tensor;
  bool list = false;
  bool optional = false;      // the value may be None
  bool optionalItems = false; // Tensor?[]
  bool written = false;       // Tensor(a!)
  bool keywordOnly = false;
  bool hasDefault = false;
  int64_t size = -1; // int[2]: one int stands for as many
  std::string alias; // "a" of Tensor(a)
  CustomValue value; // the default
  /// "Tensor(a!)", "int[]?".
  std::string type() const;
};

struct CustomSchema {
  std::string space, name, overload;
  std::vector<CustomArgument> arguments, returns;
  /// "ns::name", with ".overload" if there is one.
  std::string qualified() const;
  /// As PyTorch prints schemas.
  std::string str() const;
  bool mutates() const;
};

/// Reads the notation; Runtime in `diag`, naming the position and what was expected.
bool parseSchema(std::string_view text, CustomSchema &out, Diag &diag);

/// Does a value have an argument's type?
bool accepts(const CustomArgument &a, const CustomValue &v);
/// "Tensor", "int[]": what a value is, for messages.
std::string typeOfValue(const CustomValue &v);

} // namespace torchc
