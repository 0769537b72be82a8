#include "frontends/eager/cuda/Launch.h"
#include "runtime/core/Status.h"

namespace torchc::cuda {

CudaStream &streamFor(const TensorImpl *t) {
  CudaDevice *d = device(t->storage ? t->storage->deviceIndex : -1);
  if (!d)
    fail("a cuda tensor without its device");
  return currentStream(*d);
}

void checkErrors() {
  if (std::string text = takeError(); !text.empty())
    fail(text);
}

void start(const char *op, DType dtype, uint64_t key, const unsigned (&grid)[3], const unsigned (&block)[3],
           Arguments &a, CudaStream &stream) {
  bool missing;
  if (stream.cudaDevice().launch(key, grid, block, a.words, a.count, stream, missing))
    return;
  if (missing)
    fail(ErrorKind::NotImplemented,
         "\"" + std::string(op) + "\" not implemented for '" + std::string(torchName(dtype)) + "' on device cuda");
  checkErrors();
}

void startLinear(const char *op, DType dtype, uint64_t key, int64_t n, Arguments &a, CudaStream &stream) {
  int64_t blocks = (n + deviceThreads - 1) / deviceThreads;
  if (blocks > INT32_MAX)
    fail(std::string(op) + "(): " + std::to_string(n) + " elements are more than a launch on cuda can have");
  start(op, dtype, key, {unsigned(blocks), 1, 1}, {unsigned(deviceThreads), 1, 1}, a, stream);
}

namespace {

/// An iteration space whose neighbouring dimensions are joined where every operand walks them as one; innermost last.
struct Joined {
  Dims sizes;
  Dims strides[maxFixedOperands + 1];
};

Joined joined(const Dims &sizes, const Pointwise *operands, int count) {
  Joined j;
  for (int d = 0; d < sizes.size(); ++d) {
    if (sizes[d] == 1)
      continue;
    int last = j.sizes.size() - 1;
    bool joins = last >= 0;
    for (int k = 0; k < count && joins; ++k)
      joins = operands[k].isNumber || j.strides[k][last] == operands[k].strides[d] * sizes[d];
    for (int k = 0; k < count; ++k) {
      int64_t stride = operands[k].isNumber ? 0 : operands[k].strides[d];
      if (joins)
        j.strides[k][last] = stride;
      else
        j.strides[k].push(stride);
    }
    if (joins)
      j.sizes[last] *= sizes[d];
    else
      j.sizes.push(sizes[d]);
  }
  return j;
}

} // namespace

void runPointwise(const char *op, DType dtype, uint64_t key, const Dims &sizes, const Pointwise *operands, int count,
                  CudaStream &stream, bool mayTrap) {
  Joined j = joined(sizes, operands, count);
  int rank = j.sizes.size(), outer = std::max(rank - deviceRank, 0), inner = rank - outer;
  int64_t launches = 1, n = 1, index[maxRank] = {};
  for (int d = 0; d < rank; ++d)
    (d < outer ? launches : n) *= j.sizes[d];
  unsigned mask = 0;
  for (int k = 1; k < count; ++k)
    mask |= unsigned(operands[k].isNumber) << (k - 1);
  void *status = stream.cudaDevice().statusWord();
  for (int64_t l = 0; l < launches; ++l) {
    Arguments a;
    a.word(n);
    a.word(mask);
    a.word(std::max(inner, 1));
    a.innermostFirst(inner, j.sizes.data() + outer, 1);
    for (int k = 0; k < count; ++k) {
      int64_t at = 0;
      for (int d = 0; d < outer; ++d)
        at += index[d] * j.strides[k][d];
      a.pointer(operands[k].data + at * operands[k].itemBytes);
      a.innermostFirst(inner, j.strides[k].data() + outer, 0);
    }
    for (int k = 1; k < count; ++k)
      a.bits(operands[k].number);
    a.pointer(status);
    startLinear(op, dtype, key, n, a, stream);
    for (int d = outer; d-- > 0;) {
      if (++index[d] < j.sizes[d])
        break;
      index[d] = 0;
    }
  }
  if (!mayTrap)
    return;
  // Ops that may fail on their data wait, so that the error is theirs.
  int32_t code = 0;
  CudaDevice &device = stream.cudaDevice();
  if (!device.copyToHost(&code, status, sizeof code, stream))
    checkErrors();
  if (code && !device.fill(status, 0, sizeof code, stream))
    checkErrors();
  threadState.status = code;
  checkStatus(op);
}

} // namespace torchc::cuda
