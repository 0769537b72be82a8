// Products of one element size, compiled once for each: a file of its own, so that an artefact carries what it needs.
#include "runtime/kernels/Gemm.cpp"

#define TORCHC_JOIN(a, b) a##b
#define TORCHC_NAME(a, b) TORCHC_JOIN(a, b)

extern "C" void TORCHC_NAME(torchc_gemm_rows_, TORCHC_GEMM_BYTES)(const void *kernels, const void *call,
                                                                  void *scratch) {
  const torchc::GemmCall &g = *static_cast<const torchc::GemmCall *>(call);
  torchc::rowsOf<TORCHC_GEMM_TYPE>(*static_cast<const torchc::GemmKernels *>(kernels), g, 0, g.m, scratch);
}
