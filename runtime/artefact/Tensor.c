// Element types, shapes and strided copies.
#include "Runtime.h"

static const struct {
  char name[5];
  uint8_t size, code, bits;
} dtypes[] = {{"bool", 1, kDLBool, 8},  {"u8", 1, kDLUInt, 8},      {"i8", 1, kDLInt, 8},
              {"i16", 2, kDLInt, 16},   {"i32", 4, kDLInt, 32},     {"i64", 8, kDLInt, 64},
              {"f16", 2, kDLFloat, 16}, {"bf16", 2, kDLBfloat, 16}, {"f32", 4, kDLFloat, 32},
              {"f64", 8, kDLFloat, 64}, {"c64", 8, kDLComplex, 64}, {"c128", 16, kDLComplex, 128}};
enum { dtypeCount = sizeof dtypes / sizeof dtypes[0] };

uint32_t rtItemSize(uint32_t dtype) { return dtypes[dtype].size; }
const char *rtDtypeName(uint32_t dtype) { return dtypes[dtype].name; }

int rtDtypeOf(DLDataType t) {
  for (int i = 0; i < dtypeCount; ++i)
    if (t.code == dtypes[i].code && t.bits == dtypes[i].bits && t.lanes == 1)
      return i;
  return -1;
}

DLDataType rtDLType(uint32_t dtype) {
  DLDataType t = {dtypes[dtype].code, dtypes[dtype].bits, 1};
  return t;
}

int64_t rtDim(int64_t dim, const int64_t *symbols) { return dim >= 0 ? dim : symbols[-1 - dim]; }

int64_t rtElements(const torchc_io_desc *d, const int64_t *symbols) {
  int64_t n = 1;
  for (uint32_t i = 0; i < d->rank; ++i)
    if (__builtin_mul_overflow(n, rtDim(d->dims[i], symbols), &n) || n > INT64_MAX / 64)
      return -1;
  return n;
}

int rtIsDense(const DLTensor *x) {
  if (!x->strides)
    return 1;
  uint64_t expected = 1;
  for (int i = x->ndim - 1; i >= 0; --i) {
    if (x->shape[i] == 0)
      return 1;
    if (x->shape[i] != 1 && (uint64_t)x->strides[i] != expected)
      return 0;
    expected *= (uint64_t)x->shape[i];
  }
  return 1;
}

void rtGather(const DLTensor *x, uint32_t itemSize, uint8_t *to) {
  int64_t index[rtMaxRank] = {0};
  const uint8_t *from = (const uint8_t *)x->data + x->byte_offset;
  int last = x->ndim - 1;
  for (int i = 0; i <= last; ++i)
    if (x->shape[i] == 0)
      return;
  for (;;) {
    memcpy(to, from, itemSize);
    to += itemSize;
    int i = last;
    for (; i >= 0; --i) {
      int64_t step = x->strides ? x->strides[i] * itemSize : 0;
      from += step;
      if (++index[i] < x->shape[i])
        break;
      from -= step * x->shape[i];
      index[i] = 0;
    }
    if (i < 0)
      return;
  }
}

void rtAppend(RtText *t, const char *format, ...) {
  if (t->used + 1 >= t->size)
    return;
  va_list args;
  va_start(args, format);
  int n = vsnprintf(t->at + t->used, t->size - t->used, format, args);
  va_end(args);
  if (n > 0)
    t->used += (size_t)n < t->size - t->used ? (size_t)n : t->size - t->used - 1;
}

void rtAppendDesc(RtText *t, const torchc_io_desc *d, const char *const *symbols) {
  rtAppend(t, "%s[", rtDtypeName(d->dtype));
  for (uint32_t i = 0; i < d->rank; ++i)
    if (d->dims[i] < 0)
      rtAppend(t, "%s%s", i ? "," : "", symbols[-1 - d->dims[i]]);
    else
      rtAppend(t, "%s%lld", i ? "," : "", (long long)d->dims[i]);
  rtAppend(t, "]");
}

void rtAppendTensor(RtText *t, const DLTensor *x) {
  int dtype = rtDtypeOf(x->dtype);
  if (dtype < 0)
    rtAppend(t, "type(code %u, %u bits, %u lanes)[", x->dtype.code, x->dtype.bits, x->dtype.lanes);
  else
    rtAppend(t, "%s[", rtDtypeName((uint32_t)dtype));
  if (x->ndim > rtMaxRank) // more likely garbage than a tensor: its shape isn't touched
    rtAppend(t, "rank %d", (int)x->ndim);
  for (int i = 0; i < x->ndim && x->ndim <= rtMaxRank && x->shape; ++i)
    rtAppend(t, "%s%lld", i ? "," : "", (long long)x->shape[i]);
  rtAppend(t, "]");
}
