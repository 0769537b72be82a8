// Inside of the artefact runtime: the instance and the helpers shared by its files.
#pragma once
#include "torchc/runtime.h"
#ifdef __cplusplus
extern "C" {
#endif
#include "Libc.h"

enum { rtMaxRank = 64, rtMessageBytes = 512 };

struct torchc_instance {
  void **ptrs;       // outputs, inputs, weights, status, arena
  int64_t *symbols;  // values of this run
  int64_t *maxima;   // upper bounds given to create
  uint8_t **staging; // per input: where a strided one is copied to
  const uint8_t *weights;
  void *mapping; // of an external weights file
  uint64_t mappingBytes;
  void *scratch; // of torchc_gemm and torchc_conv
  int32_t status;
  char message[rtMessageBytes];
};

// A bounded text buffer; what doesn't fit is cut.
typedef struct {
  char *at;
  size_t size, used;
} RtText;

TORCHC_HIDDEN void rtAppend(RtText *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
// "f32[N,64]" of a description, "f32[3,65]" of a tensor.
TORCHC_HIDDEN void rtAppendDesc(RtText *t, const torchc_io_desc *d, const char *const *symbols);
TORCHC_HIDDEN void rtAppendTensor(RtText *t, const DLTensor *x);

TORCHC_HIDDEN uint32_t rtItemSize(uint32_t dtype);
TORCHC_HIDDEN const char *rtDtypeName(uint32_t dtype);
// torchc's number of a DLPack type, or -1.
TORCHC_HIDDEN int rtDtypeOf(DLDataType t);
TORCHC_HIDDEN DLDataType rtDLType(uint32_t dtype);

// Elements of a described tensor under symbol values; -1 on overflow.
TORCHC_HIDDEN int64_t rtElements(const torchc_io_desc *d, const int64_t *symbols);
TORCHC_HIDDEN int64_t rtDim(int64_t dim, const int64_t *symbols);
TORCHC_HIDDEN int rtIsDense(const DLTensor *x);
// Copies any strided tensor into dense row-major order.
TORCHC_HIDDEN void rtGather(const DLTensor *x, uint32_t itemSize, uint8_t *to);
// The instruction set that the machine lacks for `isa`, or NULL.
TORCHC_HIDDEN const char *rtMissingIsa(uint32_t isa);
// The last loaded segment of this file, or NULL if it holds fewer than `bytes`.
TORCHC_HIDDEN const uint8_t *rtWeightsSegment(uint64_t bytes);

#ifdef __cplusplus
}
#endif
