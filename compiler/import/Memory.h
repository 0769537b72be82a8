// Storages and views of a trace while it is imported: what each value currently holds.
//
// A storage is filled by one root value. Views remember the op that made them from their parent. Reading a view whose
// storage was written since replays that chain from the root; writing one runs the chain's inverses back to the root.
#pragma once
#include "dialects/torchc/ValueBuilder.h"
#include "dialects/trace/Trace.h"
#include <map>

namespace torchc::compiler {

class Memory {
public:
  Memory(const Trace &trace, mlir::OpBuilder &builder, Diag &diag);

  /// Declares a function argument as the root of its storage. Two inputs over one written storage are refused.
  bool addInput(uint32_t value, int32_t input, mlir::Value argument, const std::vector<bool> &written);
  /// Declares a fresh result as the root of its storage.
  bool define(uint32_t value, mlir::Value content);
  bool addView(uint32_t value, uint32_t parent, uint32_t node, OpId op);

  /// The current content of a value; null and a diagnostic when it is unknown.
  mlir::Value read(uint32_t name, mlir::Location loc);
  /// Replaces the memory that `value` describes; the value may be a new name of an older one with the same layout.
  bool write(uint32_t value, mlir::Value content, mlir::Location loc);

  /// The storage's root content, or null for a storage nothing defined.
  mlir::Value content(uint32_t storage) const;
  /// The value that fills the storage.
  uint32_t rootOf(uint32_t storage) const { return roots[storage]; }
  /// The input that brought the storage, or -1.
  int32_t inputOf(uint32_t storage) const { return inputs[storage]; }

private:
  struct Slot {
    mlir::Value content;
    uint32_t version = 0;           // of the storage when `content` was right
    uint32_t parent = traceNone;    // views
    uint32_t node = traceNone;      // the view op's node: its attributes
    OpId op = OpId::NumOps;
    bool known = false;
  };
  using Layout = std::vector<int64_t>;
  Layout layoutOf(uint32_t value) const;
  bool stridesWithin(uint32_t parent, uint32_t node) const;
  llvm::SmallVector<Attr> attrsOf(uint32_t node) const;
  mlir::Value applyView(const Slot &view, mlir::Value parent, mlir::Location loc);
  mlir::Value invertView(const Slot &view, mlir::Value parent, mlir::Value content, mlir::Location loc);
  void setRoot(uint32_t value, mlir::Value content);

  const Trace &trace;
  mlir::OpBuilder &builder;
  Diag &diag;
  std::vector<Slot> slots;           // by value
  std::vector<uint32_t> versions;    // by storage
  std::vector<uint32_t> roots;       // by storage
  std::vector<int32_t> inputs;       // by storage
  std::map<Layout, uint32_t> byLayout; // storage, offset, strides and sizes -> the first value that describes it
  std::vector<uint32_t> sameAs;        // by value: that first value, when in-place results or views repeat a layout
};

} // namespace torchc::compiler
