// Debian's archives were configured on glibc 2.36; these two keep a static compiler's floor
// at 2.34.
#include <sys/random.h>

unsigned arc4random(void) {
  unsigned value = 0;
  return getrandom(&value, sizeof value, 0) == sizeof value ? value : 0x9e3779b9u;
}

// Only the unwinder of a thrown exception asks, and nothing throws here.
int _dl_find_object(void *pc, void *result) {
  (void)pc;
  (void)result;
  return -1;
}
