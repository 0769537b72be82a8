// Runs recorded steps one by one with the eager ops: what a segment without compiled code, a prefix, or a trap needs.
#pragma once
#include "frontends/jit/Recording.h"

namespace torchc::jit {

class Interpreter {
public:
  explicit Interpreter(const Recording &r) : r(r), memory(r.storages.size()) {}
  ~Interpreter();
  Interpreter(const Interpreter &) = delete;

  /// Storage number n lies in `s`, its base at `base`; others get memory of their own when they are defined.
  void bind(uint32_t n, Storage *s, char *base);
  /// The words of a generator's state: input number -> seed, ordinal.
  void bindGenerator(uint32_t input, const uint64_t *words);
  /// The numbers that are inputs, by input; borrowed.
  void bindNumbers(const std::vector<Attr> &byInput) { numbers = &byInput; }
  /// Throws what the op throws. Versions don't move.
  void run(uint32_t step);
  /// A tensor over the memory of a value.
  Tensor tensorOf(uint32_t value) const;

private:
  struct Memory {
    Storage *storage = nullptr; // owned
    char *base = nullptr;
    bool given = false;
  };
  void runControl(const Step &s);
  Tensor stateOf(const Step &s) const;
  void keep(uint32_t storage, TensorImpl *result);
  const Recording &r;
  std::vector<Memory> memory;
  std::vector<std::pair<uint32_t, const uint64_t *>> generators;
  const std::vector<Attr> *numbers = nullptr;
};

} // namespace torchc::jit
