// Compiled by the build for x86-64 and aarch64, loaded by RuntimeLoaderTest: constants, tables of addresses, writable
// data, zeroed data, calls inside and outside.
typedef long long i64;
typedef void (*Kernel)(void **, const i64 *, const void *, i64, i64);

extern void torchc_k_test_v3(void **ptrs, const i64 *, const void *, i64, i64);
extern void *memset(void *, int, __SIZE_TYPE__);

static const float table[16] = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768};
static const char *const names[3] = {"one", "two", "three"};
static i64 calls = 40;
static i64 zeroed[64];

__attribute__((noinline)) static void scale(float *out, const float *in, i64 n) {
  for (i64 i = 0; i < n; ++i)
    out[i] = in[i] * table[i & 15];
}

void torchc_entry(void **ptrs, const i64 *ss, const void *scalars, i64 begin, i64 end) {
  scale((float *)ptrs[0] + begin, (const float *)ptrs[1] + begin, end - begin);
  torchc_k_test_v3(ptrs, ss, scalars, begin, end);
  ++calls;
}

i64 torchc_calls(void) { return calls + zeroed[5]; }
const char *torchc_name(i64 i) { return names[i % 3]; }
void torchc_clear(void) { memset(zeroed, 0, sizeof zeroed); }

__attribute__((section(".torchc.meta"), used)) static const char meta[] = "{\"entry\": \"torchc_entry\"}";
