// The int32 status word that kernels write (E5). A kernel never unwinds: it stores a code, finishes or returns early,
// and the caller turns the code into an exception. Zero is never stored over a code, so the word may be shared by
// several launches and by the threads of one.
#pragma once
#include "dialects/rules/Status.h"

namespace torchc {

/// Stores `s` unless a code is there already; threads of one launch may race, any of their codes is right.
inline void raiseStatus(int32_t *word, KernelStatus s) {
  int32_t expected = 0;
  if (word)
    __atomic_compare_exchange_n(word, &expected, int32_t(s), false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

} // namespace torchc
