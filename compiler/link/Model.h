// What the compiler knows about a finished model: enough to write its description, signature and C
// header.
#pragma once
#include "compiler/link/ObjectWriter.h"
#include "dialects/rules/DType.h"
#include "dialects/rules/Diag.h"
#include "dialects/rules/Isa.h"
#include "llvm/Support/JSON.h"

namespace torchc::link {

using torchc::Isa;

/// Where the weights of an artefact live. Auto: the appended segment of a linked file, a section of
/// an object.
enum class WeightsPlace : uint8_t { Auto, External };

/// An input or output. A dimension d >= 0 is a constant, d < 0 is symbol number -1 - d.
struct TensorDesc {
  std::string name;
  DType dtype = DType::F32;
  std::vector<int64_t> dims;
  bool written = false; // an input whose memory the model overwrites
};

/// The pack's kernels for matrix products of one element type (compiler/lower/Gemm.h).
struct Product {
  DType dtype = DType::F32;
  uint32_t columns = 0;                     // of the register tile
  std::string strided, packed, wide, copy, turn; // symbols; empty: not called
};

/// The same for convolutions (compiler/lower/Window.h).
struct Convolution {
  DType dtype = DType::F32;
  uint32_t rows = 0, columns = 0; // of the register tile
  std::string shared, lanes, stepped, turn; // symbols
};

/// Dense inputs and the outputs they must give, followed by what the written inputs hold afterwards, and a value for
/// each symbol.
struct SelfTest {
  std::vector<std::string> inputs, outputs;
  std::vector<int64_t> symbols;
};

/// Byte ranges are borrowed: they must live until the link is done.
struct Model {
  std::string name; // a C identifier
  Arch arch = Arch::X86_64;
  Isa isa = Isa::None; // beyond the baseline of `arch`
  std::vector<TensorDesc> inputs, outputs;
  std::vector<std::string> symbols; // each must occur in an input
  std::vector<llvm::StringRef> weights;
  // The place of each input and weight among the inputs of the graph; both empty: inputs, then weights.
  std::vector<uint32_t> inputSlots, weightSlots;
  // Text of status value i + 1; the runtime knows those of KernelStatus itself.
  std::vector<std::string> traps;
  std::vector<SelfTest> tests;
  std::vector<Product> products; // every element type that torchc_gemm is called with
  std::vector<Convolution> convolutions; // every element type that torchc_conv is called with
  uint64_t arenaBytes = 0, scratchBytes = 0; // scratch: of the largest product or convolution
  std::string arenaFunction; // symbol of `uint64_t (const int64_t *symbols)`, or empty
  std::string entry = "torchc_entry"; // ptrs = outputs, inputs, status, arena (torchc/runtime.h)
  WeightsPlace place = WeightsPlace::Auto;
  llvm::json::Object provenance; // compiler version, flags, input digest, licence note
};

/// Offset of each weight in the weights block (multiples of 64), and at the end the block's size.
std::vector<uint64_t> weightOffsets(const Model &model);

/// Whether an input or output can have this name: 1 to 200 characters, no '=', no end of a line.
bool isTensorName(llvm::StringRef name);

/// Refuses a description that would make a broken artefact.
bool checkModel(const Model &model, Diag &diag);

/// The signature that an artefact carries.
std::string signatureJson(const Model &model);

/// A C header that declares the model's function and documents its inputs and outputs.
std::string headerText(const Model &model);

enum class Form : uint8_t { Shared, Executable, Relocatable };

/// The object that holds description, table, signature, test vectors and (in Relocatable form) the
/// weights.
std::string modelObject(const Model &model, Form form);

} // namespace torchc::link
