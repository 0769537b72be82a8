// x[...] and x[...] = v: what the binding turns a subscript into.
#pragma once
#include "frontends/eager/Tensor.h"

namespace torchc {

/// One part of a subscript.
struct IndexItem {
  enum Kind : uint8_t { Integer, Slice, Ellipsis, NewAxis, Mask } kind = Slice;
  int64_t start = 0, stop = 0, step = 1; // Integer: start
  bool hasStart = false, hasStop = false;
  Tensor tensor; // Mask: bool of one or more dimensions, or an integer tensor

  static IndexItem integer(int64_t i) {
    IndexItem x;
    x.kind = Integer;
    x.start = i;
    return x;
  }
  static IndexItem slice(std::optional<int64_t> start, std::optional<int64_t> stop, std::optional<int64_t> step = {}) {
    IndexItem x;
    x.start = start.value_or(0);
    x.stop = stop.value_or(0);
    x.hasStart = start.has_value();
    x.hasStop = stop.has_value();
    x.step = step.value_or(1);
    return x;
  }
  static IndexItem ellipsis() {
    IndexItem x;
    x.kind = Ellipsis;
    return x;
  }
  static IndexItem newAxis() {
    IndexItem x;
    x.kind = NewAxis;
    return x;
  }
  static IndexItem of(Tensor t) {
    IndexItem x;
    x.kind = Mask;
    x.tensor = std::move(t);
    return x;
  }
};

/// A view where all items are basic; a copy with an index tensor. Negative indices count from the end. Index error for
/// out-of-range or too many indices, and for index tensors that don't broadcast together.
Tensor applyIndex(const Tensor &x, List<IndexItem> items);
/// x[items] = value, broadcast; a tensor must have x's type where an index is a tensor.
void assignIndex(const Tensor &x, List<IndexItem> items, const Operand &value);

/// x.index_put_(indices, values, accumulate): of several values for one place the last counts, or all are added in
/// order.
Tensor putAt(const Tensor &x, TensorList indices, const Tensor &values, bool accumulate);

/// The only element as a number; Runtime error for other sizes. Computes a pending tensor; an observation (J).
Scalar item(const Tensor &t);

} // namespace torchc
