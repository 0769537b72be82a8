// What depends on the machine and on the file format: instruction sets and the weights segment.
#include "Runtime.h"

#if defined(__x86_64__)
static void cpuid(uint32_t leaf, uint32_t *b, uint32_t *c) {
  uint32_t a = leaf, d;
  *c = 0;
  __asm__ volatile("cpuid" : "+a"(a), "=b"(*b), "+c"(*c), "=d"(d));
}

const char *rtMissingIsa(uint32_t isa) {
  if (isa == TORCHC_ISA_BASE)
    return NULL;
  // fma, movbe, osxsave, avx, f16c; then avx2, bmi1, bmi2; then avx512 f, dq, cd, bw, vl
  const uint32_t need1 = 1u << 12 | 1u << 22 | 1u << 27 | 1u << 28 | 1u << 29;
  const uint32_t need3 = 1u << 5 | 1u << 3 | 1u << 8;
  const uint32_t need4 = 1u << 16 | 1u << 17 | 1u << 28 | 1u << 30 | 1u << 31;
  uint32_t b, c, state = 0, high;
  cpuid(1, &b, &c);
  if ((c & need1) != need1)
    return "AVX2, FMA and BMI2 (x86-64-v3)";
  __asm__ volatile("xgetbv" : "=a"(state), "=d"(high) : "c"(0));
  cpuid(7, &b, &c);
  if ((state & 6) != 6 || (b & need3) != need3)
    return "AVX2, FMA and BMI2 (x86-64-v3)";
  if (isa >= TORCHC_ISA_V4 && ((state & 0xe6) != 0xe6 || (b & need4) != need4))
    return "AVX-512 (x86-64-v4)";
  return NULL;
}
#else
const char *rtMissingIsa(uint32_t isa) { return NULL; }
#endif

// ELF header and program headers of the file this code was loaded from.
typedef struct {
  uint8_t ident[16];
  uint16_t type, machine;
  uint32_t version;
  uint64_t entry, phoff, shoff;
  uint32_t flags;
  uint16_t ehsize, phentsize, phnum;
} FileHeader;
typedef struct {
  uint32_t type, flags;
  uint64_t offset, vaddr, paddr, filesz, memsz, align;
} ProgramHeader;

extern const FileHeader __ehdr_start TORCHC_HIDDEN __attribute__((weak));

const uint8_t *rtWeightsSegment(uint64_t bytes) {
  const FileHeader *file = &__ehdr_start;
  if (!file)
    return NULL;
  const uint8_t *base = (const uint8_t *)file;
  const ProgramHeader *p = (const ProgramHeader *)(base + file->phoff), *last = NULL;
  for (int i = 0; i < file->phnum; ++i)
    if (p[i].type == 1)
      last = p + i;
  return last && last->flags == 4 && last->filesz >= bytes ? base + last->vaddr : NULL;
}

// The linker turns the program header of this note into the one of the weights segment.
__attribute__((section(".note.torchc"), used, aligned(4))) static const struct {
  uint32_t nameBytes, descBytes, type;
  char name[8];
  uint32_t abi;
} note = {7, 4, 1, "torchc", TORCHC_MODEL_ABI};
