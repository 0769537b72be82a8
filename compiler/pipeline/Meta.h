// What an object says about itself: section .torchc.meta.
#pragma once
#include "compiler/pipeline/Pipeline.h"

namespace llvm {
class Module;
}

namespace torchc::compiler {

/// {"version", "entry", "arena" (bytes), "steps" (their number), "results": [{storage, dtype, dims}], "writes": [{storage,
/// input}], "contents": [storage], "inputs": [{dtype, dims, strides unless row-major}], "products": [[dtype, m, n, k,
/// strides of A, B and C]], "convolutions": [[dtype, ConvWhat, the fields of ConvGeometry]]}. A result that is a gradient has storage -1
/// and "gradient", the number of its input; an input that is a cotangent has "cotangent", the number of a result in
/// "contents" (the storages of results and writes in the order of @main's results), or after these of a gradient.
std::string metaJson(const Trace &trace, const Imported &imported, const Compiled &compiled);

/// Adds the bytes as a section that isn't loaded.
void addMetaSection(llvm::Module &module, llvm::StringRef bytes);

} // namespace torchc::compiler
