// From a saved program and its compiled graph to what the linker needs.
#pragma once
#include "compiler/link/Model.h"
#include "dialects/rules/Window.h"
#include "dialects/trace/SavedProgram.h"

namespace torchc::link {

/// The part of an object's .torchc.meta (compiler/pipeline/Meta.h) that a model needs. results[i] is the whole content,
/// row-major, of a storage of the trace (-1: a gradient), and output pointer i of the entry.
struct ObjectMeta {
  struct Result {
    int64_t storage = -1;
    DType dtype = DType::F32;
    std::vector<int64_t> dims;
    int64_t gradient = -1; // of this argument
  };
  /// An argument behind the trace's inputs: the cotangent of a result.
  struct Cotangent {
    DType dtype = DType::F32;
    std::vector<int64_t> dims;
    int64_t of = -1; // contents first, then gradients
  };
  /// A matrix product that the entry calls torchc_gemm for.
  struct Product {
    DType dtype = DType::F32;
    int64_t m = 0, n = 0, k = 0;
    int64_t aRow = 0, aK = 0, bK = 0, bColumn = 0, cRow = 0; // strides in elements
    int64_t start = 0; // 1: its chains start from C
  };
  /// A convolution that it calls torchc_conv for.
  struct Convolution {
    DType dtype = DType::F32;
    ConvWhat what = ConvWhat::Output;
    ConvGeometry geometry = {};
  };
  std::string entry;
  uint64_t arenaBytes = 0;
  bool loops = false; // runs as long as its data say
  std::vector<Result> results;
  std::vector<int64_t> contents; // storages that @main's results hold, those of written inputs among them
  std::vector<Cotangent> cotangents;
  std::vector<int64_t> writtenInputs; // whose memory the entry overwrites
  std::vector<Product> products;
  std::vector<Convolution> convolutions;
};
bool parseObjectMeta(llvm::StringRef json, ObjectMeta &meta, Diag &diag);

/// Gives every output of the trace a dense storage of its own, in the order of the outputs: views, inputs and values
/// that are returned twice are copied. Costs nothing where the output is that already. Before compiling.
void makeOutputsWhole(Trace &trace);

/// Fills inputs, outputs, symbols, weights (borrowed from `program`) and slots of `model`. Arguments and numbers become
/// inputs; parameters, buffers and captured tensors become weights, or inputs when the graph writes to them. Refuses
/// what an artefact can't express yet, naming it.
bool modelFromProgram(const SavedProgram &program, const ObjectMeta &meta, Model &model, Diag &diag);

} // namespace torchc::link
