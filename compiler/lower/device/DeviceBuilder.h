// What kernels of a device have besides KernelBuilder: arguments as words, thread numbers, shared memory, barriers, and
// spaces of several dimensions walked by one thread per element.
#pragma once
#include "compiler/lower/KernelBuilder.h"
#include "dialects/rules/DeviceKernel.h"

namespace torchc::lower {

class DeviceBuilder : public KernelBuilder {
public:
  using KernelBuilder::KernelBuilder;

  /// Starts an entry point whose arguments are `types`; next() hands them out in order.
  void beginEntry(llvm::StringRef name, llvm::ArrayRef<Type> types);
  Value next() { return arg(used++); }
  /// A list of argument types, for beginEntry.
  void addPointers(llvm::SmallVectorImpl<Type> &types, unsigned n) { types.append(n, ptrType()); }
  void addWords(llvm::SmallVectorImpl<Type> &types, unsigned n) { types.append(n, getI64Type()); }

  Value threadIndex(char dim = 'x') { return special("tid", dim); }
  Value blockIndex(char dim = 'x') { return special("ctaid", dim); }
  /// The number of this thread in a launch of one dimension.
  Value globalIndex();
  void barrier();
  /// An array of `count` elements in shared memory, in the space of the module.
  Value sharedArray(llvm::StringRef name, Type element, int64_t count);
  /// An element of it; load and store by loadRaw and storeRaw.
  Value sharedAddress(Value array, Value index, Type element);

  struct Space {
    Value rank;
    Values sizes; // innermost first
  };
  Space nextSpace();
  Values nextStrides();
  /// Where element `i` of the space lies in each operand, in elements.
  Values offsets(const Space &space, Value i, llvm::ArrayRef<Values> strides);

private:
  Value special(llvm::StringRef what, char dim);
  Values offsetsFrom(const Space &space, unsigned dim, Value rest, Values sums, llvm::ArrayRef<Values> strides);

  unsigned used = 0;
};

} // namespace torchc::lower
