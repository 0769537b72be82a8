// A shape of at most 64 dimensions without allocation.
#pragma once
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string>

namespace torchc {

inline constexpr int maxRank = 64;

/// What a shape calls that outgrows maxRank, if set. It must not return: frontends throw, elsewhere the process ends.
inline void (*tooManyDims)(int rank) = nullptr;

class Dims {
public:
  Dims() = default;
  Dims(const int64_t *p, int n) { assign(p, n); }
  Dims(std::initializer_list<int64_t> l) { assign(l.begin(), int(l.size())); }
  Dims(const Dims &o) { assign(o.d, o.n); }
  Dims &operator=(const Dims &o) {
    if (this != &o)
      assign(o.d, o.n);
    return *this;
  }
  int size() const { return n; }
  bool empty() const { return n == 0; }
  int64_t operator[](int i) const { return d[i]; }
  int64_t &operator[](int i) { return d[i]; }
  const int64_t *data() const { return d; }
  const int64_t *begin() const { return d; }
  const int64_t *end() const { return d + n; }
  int64_t back() const { return d[n - 1]; }
  void push(int64_t v) {
    check(n + 1);
    d[n++] = v;
  }
  void erase(int i) {
    std::memmove(d + i, d + i + 1, size_t(n - i - 1) * sizeof(int64_t));
    n--;
  }
  void insert(int i, int64_t v) {
    check(n + 1);
    std::memmove(d + i + 1, d + i, size_t(n - i) * sizeof(int64_t));
    d[i] = v;
    n++;
  }
  void resize(int size, int64_t fill = 0) {
    check(size);
    for (int i = n; i < size; i++)
      d[i] = fill;
    n = size;
  }
  bool operator==(const Dims &o) const { return n == o.n && std::memcmp(d, o.d, size_t(n) * sizeof(int64_t)) == 0; }
  /// Product of the sizes; 1 for rank 0. Overflow is the caller's to have excluded (checkedNumel).
  int64_t numel() const {
    int64_t v = 1;
    for (int i = 0; i < n; i++)
      v *= d[i];
    return v;
  }
  /// "[2, 3]", as messages show shapes.
  std::string str() const {
    std::string s = "[";
    for (int i = 0; i < n; i++)
      s += (i ? ", " : "") + std::to_string(d[i]);
    return s + "]";
  }

private:
  static void check(int size) {
    if (unsigned(size) <= unsigned(maxRank))
      return;
    if (tooManyDims)
      tooManyDims(size);
    __builtin_trap();
  }
  void assign(const int64_t *p, int size) {
    check(size);
    n = size;
    if (size)
      std::memcpy(d, p, size_t(size) * sizeof(int64_t));
  }
  int n = 0;
  int64_t d[maxRank];
};

} // namespace torchc
