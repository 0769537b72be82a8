// How schema types are spelt in C++; shared by the C++ API and the Python binding emitters.
#pragma once
#include "OpModel.h"

namespace torchc::tblgen {

/// Parameter type with its trailing space or `&`; empty for a type the schema language doesn't have.
std::string cppType(llvm::StringRef type);
std::string cppResult(llvm::StringRef type);
std::string cppDefault(const Param &p);
/// The API name where it isn't a C++ keyword, else with a trailing underscore.
std::string cppName(llvm::StringRef name);
/// Whether the implementation takes a trailing `Out`.
bool writesInto(const ApiModel &a);

} // namespace torchc::tblgen
