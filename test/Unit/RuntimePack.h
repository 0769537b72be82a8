// A pack in plain C++ for tests: casts between bool, i32, i64, f32 and f64, and a + b, a < b of each.
#pragma once
#include "runtime/kernels/Pack.h"
#include <algorithm>
#include <vector>

namespace torchc::testing {

enum TestOp : uint32_t { OpAdd = 0, OpLess = 1 };

template <DType D> struct CType;
template <> struct CType<DType::Bool> {
  using T = uint8_t;
};
template <> struct CType<DType::I32> {
  using T = int32_t;
};
template <> struct CType<DType::I64> {
  using T = int64_t;
};
template <> struct CType<DType::F32> {
  using T = float;
};
template <> struct CType<DType::F64> {
  using T = double;
};
inline constexpr DType testDTypes[] = {DType::Bool, DType::I32, DType::I64, DType::F32, DType::F64};

template <DType A, DType B> void castKernel(void **p, const int64_t *, const void *, int64_t b, int64_t e) {
  auto *out = static_cast<typename CType<B>::T *>(p[0]);
  auto *in = static_cast<typename CType<A>::T *>(p[1]);
  for (int64_t i = b; i < e; ++i)
    if constexpr (B == DType::Bool)
      out[i] = in[i] != 0;
    else
      out[i] = typename CType<B>::T(in[i]);
}
template <DType D, bool Less> void binaryKernel(void **p, const int64_t *, const void *, int64_t b, int64_t e) {
  using T = typename CType<D>::T;
  auto *x = static_cast<T *>(p[1]), *y = static_cast<T *>(p[2]);
  for (int64_t i = b; i < e; ++i)
    if constexpr (Less)
      static_cast<uint8_t *>(p[0])[i] = x[i] < y[i];
    else
      static_cast<T *>(p[0])[i] = T(x[i] + y[i]);
}
template <DType D> void addScalarKernel(void **p, const int64_t *, const void *scalars, int64_t b, int64_t e) {
  using T = typename CType<D>::T;
  T y = *reinterpret_cast<const T *>(static_cast<const char *>(scalars) + 8);
  for (int64_t i = b; i < e; ++i)
    static_cast<T *>(p[0])[i] = T(static_cast<T *>(p[1])[i] + y);
}

/// Puts the test pack into use.
inline void useTestPack() {
  static std::vector<PackEntry> entries = [] {
    std::vector<PackEntry> v;
    auto forType = [&]<DType A>() {
      v.push_back({packKey(PackForm::Elementwise, OpAdd, A, 0), binaryKernel<A, false>, "add"});
      v.push_back({packKey(PackForm::Elementwise, OpAdd, A, 2), addScalarKernel<A>, "addScalar"});
      v.push_back({packKey(PackForm::Elementwise, OpLess, A, 0), binaryKernel<A, true>, "less"});
      auto cast = [&]<DType B>() {
        if constexpr (A != B)
          v.push_back({packKey(PackForm::Cast, 0u, A, uint32_t(B)), castKernel<A, B>, "cast"});
      };
      cast.template operator()<DType::Bool>();
      cast.template operator()<DType::I32>();
      cast.template operator()<DType::I64>();
      cast.template operator()<DType::F32>();
      cast.template operator()<DType::F64>();
    };
    forType.template operator()<DType::Bool>();
    forType.template operator()<DType::I32>();
    forType.template operator()<DType::I64>();
    forType.template operator()<DType::F32>();
    forType.template operator()<DType::F64>();
    v.push_back({packKey(PackForm::Gemm, 0u, DType::F32, 0), binaryKernel<DType::F32, false>, "torchc_k_gemm_f32_v3"});
    std::sort(v.begin(), v.end(), [](const PackEntry &a, const PackEntry &b) { return a.key < b.key; });
    return v;
  }();
  static const PackTable v3{packAbi, Isa::V3, entries.size(), entries.data()};
  static const PackTable v4{packAbi, Isa::V4, entries.size(), entries.data()};
  static const PackTable a64{packAbi, Isa::A64, entries.size(), entries.data()};
  static const PackTable *const tables[] = {&v3, &v4, &a64, nullptr};
  packUse(tables);
}

} // namespace torchc::testing
