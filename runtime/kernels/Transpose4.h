// Transposes of 4x4 elements in vectors of the compiler's: what packing is made of. Freestanding C++.
#pragma once

namespace torchc {
namespace { // internal linkage: vectors in arguments have no ABI without AVX

template <class T> struct Four {
  typedef T type __attribute__((vector_size(4 * sizeof(T)), aligned(sizeof(T))));
};
template <class T> using V4 = typename Four<T>::type;
template <class T> inline V4<T> load4(const T *p) { return *reinterpret_cast<const V4<T> *>(p); }
template <class T> inline void store4(T *p, V4<T> v) { *reinterpret_cast<V4<T> *>(p) = v; }

template <class T> inline void transpose4(V4<T> r[4]) {
  V4<T> a = __builtin_shufflevector(r[0], r[1], 0, 4, 1, 5), b = __builtin_shufflevector(r[0], r[1], 2, 6, 3, 7);
  V4<T> c = __builtin_shufflevector(r[2], r[3], 0, 4, 1, 5), d = __builtin_shufflevector(r[2], r[3], 2, 6, 3, 7);
  r[0] = __builtin_shufflevector(a, c, 0, 1, 4, 5), r[1] = __builtin_shufflevector(a, c, 2, 3, 6, 7);
  r[2] = __builtin_shufflevector(b, d, 0, 1, 4, 5), r[3] = __builtin_shufflevector(b, d, 2, 3, 6, 7);
}

} // namespace
} // namespace torchc
