// The kernel of the test models: y[n,3] = x[n,3] * w[3] + b, where b is a second weight; traps when
// x[0] is 1000.
#include <stdint.h>

void torchc_entry(void **ptrs, const int64_t *sizes, const void *scalars, int64_t begin, int64_t end) {
  float *y = ptrs[0];
  const float *x = ptrs[1], *w = ptrs[2], *b = ptrs[3];
  float *arena = ptrs[5];
  if (sizes[0] && x[0] == 1000.0f) {
    *(int32_t *)ptrs[4] = 1;
    return;
  }
  for (int64_t i = 0; i < sizes[0]; ++i) {
    for (int k = 0; k < 3; ++k)
      arena[k] = x[3 * i + k] * w[k];
    for (int k = 0; k < 3; ++k)
      y[3 * i + k] = arena[k] + b[0];
  }
}
