// Kernels that read or write through an index tensor. Every index is checked before anything is written, so that a trap
// leaves the state as it was. Accumulation is by ascending source index from the target's value (N4), whatever the
// number of threads.
#pragma once
#include "dialects/rules/DType.h"
#include "runtime/core/Status.h"
#include <cstdint>

namespace torchc {

/// The first index that was out of range, for the error text.
struct IndexFault {
  int64_t value = 0;
  int64_t position = -1; // row-major linear position in the index tensor
};

/// A 1-D index tensor.
struct IndexVector {
  const void *data;
  DType dtype; // I32 or I64
  int64_t size;
  int64_t stride = 1; // in elements
  bool wrapNegative = false; // accept -bound .. -1, counted from the end
};

/// IndexOutOfRange (and `fault`, which may be null) unless every index lies in [0, bound); Unsupported for other dtypes.
KernelStatus checkIndices(const IndexVector &index, int64_t bound, IndexFault *fault);

/// How many of n bools are true: any byte but 0.
int64_t countTrue(const void *mask, int64_t n);
/// The places of the first `count` true ones, ascending; there must be as many.
void truePlaces(const void *mask, int64_t count, int64_t *out);

/// out[o, i, :] = src[o, index[i], :]. Contiguous: src is [outer, bound, innerBytes], out [outer, index.size, innerBytes].
KernelStatus indexSelect(void *out, const void *src, const IndexVector &index, int64_t outer, int64_t bound,
                         int64_t innerBytes, IndexFault *fault);

/// target[o, index[i], :] += source[o, i, :], i ascending. Contiguous: target is [outer, bound, inner], source
/// [outer, index.size, inner] of `dtype`. f16, bf16 and complex are Unsupported: they accumulate in a wider type, so the
/// caller converts.
KernelStatus indexAdd(DType dtype, void *target, const void *source, const IndexVector &index, int64_t outer,
                      int64_t bound, int64_t inner, IndexFault *fault);

/// torch.gather, scatter and scatter_add: `dim` of one tensor is looked up in an index tensor of the loop's shape.
/// All strides are in elements and have `rank` entries (1 <= rank <= maxRank).
struct DimIndexLoop {
  int rank, dim;
  const int64_t *sizes; // of the index tensor
  const void *index;
  const int64_t *indexStrides;
  DType indexType; // I32 or I64
  int64_t bound; // size of the indexed tensor along `dim`
  bool wrapNegative = false;
};
/// out[i..] = src[i.. with i[dim] replaced by index[i..]].
KernelStatus gatherDim(const DimIndexLoop &loop, void *out, const int64_t *outStrides, const void *src,
                       const int64_t *srcStrides, int itemSize, IndexFault *fault);
/// target[i.. with i[dim] replaced by index[i..]] = src[i..]; the last one along `dim` wins. Strides of 0 make src a
/// single value.
KernelStatus scatterDim(const DimIndexLoop &loop, void *target, const int64_t *targetStrides, const void *src,
                        const int64_t *srcStrides, int itemSize, IndexFault *fault);
/// The same with +=, ascending along `dim`; dtypes as indexAdd.
KernelStatus scatterAddDim(const DimIndexLoop &loop, DType dtype, void *target, const int64_t *targetStrides,
                           const void *src, const int64_t *srcStrides, IndexFault *fault);
/// How scatterReduceDim combines; max and min by N7.
enum class Combine : uint8_t { Product, Max, Min };
/// The same with another operation.
KernelStatus scatterReduceDim(const DimIndexLoop &loop, Combine combine, DType dtype, void *target,
                              const int64_t *targetStrides, const void *src, const int64_t *srcStrides,
                              IndexFault *fault);

} // namespace torchc
