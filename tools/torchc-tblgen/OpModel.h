// The op table as torchc-tblgen's emitters see it: records read once into plain structs.
#pragma once
#include "llvm/ADT/StringRef.h"
#include "llvm/TableGen/Record.h"
#include <cstdint>
#include <string>
#include <vector>

namespace torchc::tblgen {

/// One node of a scalar body; operands are indices of earlier nodes, -1 when unused.
struct BodyNode {
  std::string op;
  int args[3] = {-1, -1, -1};
  uint64_t bits = 0;
};

struct AttrModel {
  std::string name;
  std::string tag; // AttrTag enumerator
};

/// A parameter or the result of an API schema.
struct Param {
  std::string type, name, defaultValue;
  bool keywordOnly = false, hasDefault = false;
  bool varargs = false; // `Tensor[] *tensors`: all positional arguments
};

struct ApiModel {
  std::string name, result, impl;
  std::string doc; // what a docstring says below the signatures: a line for each thing
  std::string fields; // of a result of several tensors, separated by spaces; empty: a plain tuple
  std::vector<Param> params;
  std::vector<std::string> kinds;
  bool copiesOut = false; // `impl` knows no targets: its result is copied into them
  bool sameOut = false;   // and they must have its dtype
  // A method whose name and number of parameters a function has in another meaning (x.where(condition, y)): C++ has no
  // spelling for it but `impl`.
  bool shadowed = false;
  bool has(llvm::StringRef kind) const;
};

enum BodyKind { F32, F64, Int, Bool, NumBodies };

struct OpModel {
  const llvm::Record *record = nullptr;
  std::string ident; // "IndexSelect"
  std::string name; // "index_select"
  std::string summary, notes, family, promote, shape, vjpFn, complex, decompose, gradName;
  std::vector<std::string> operands, flags, onnx;
  std::vector<AttrModel> attrs;
  std::vector<ApiModel> api;
  std::vector<BodyNode> bodies[NumBodies];
  std::vector<const llvm::DagInit *> vjp; // per operand; empty when vjpFn says it
  uint32_t differentiable = 0;
  std::vector<uint32_t> saves; // per operand

  bool hasFlag(llvm::StringRef f) const;
};

struct Table {
  std::vector<OpModel> ops; // record order
  std::vector<ApiModel> composites;
  const OpModel *find(llvm::StringRef name) const;
};

/// Reads every Torchc_Op and Composite; stops the program with the record's location on a malformed one.
Table readTable(const llvm::RecordKeeper &records);

/// Parses `name(Type a=1, *, Type b) -> Type`.
ApiModel parseSchema(const llvm::Record *record, llvm::StringRef schema);

} // namespace torchc::tblgen
