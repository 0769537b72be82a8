// libFuzzer entry: the first byte picks the reader. What a reader accepts must survive writing and
// reading again.
#include "dialects/trace/SavedProgram.h"
#include <cstdlib>

using namespace torchc;

static void fuzzTrace(std::vector<uint8_t> bytes) {
  sealTrace(bytes); // else the digest would stop everything
  Trace trace, again;
  Diag diag;
  if (!readTrace(bytes, trace, diag))
    return;
  std::string text = printTrace(trace);
  if (!readTrace(writeTrace(trace), again, diag) || printTrace(again) != text)
    std::abort();
}

static void fuzzSafetensors(std::span<const uint8_t> bytes) {
  std::vector<SafeTensor> tensors;
  SafeMetadata metadata;
  std::vector<uint8_t> out;
  Diag diag;
  if (readSafetensors(bytes, tensors, metadata, diag) && !writeSafetensors(tensors, metadata, out, diag))
    std::abort();
}

static void fuzzZip(std::span<const uint8_t> bytes) {
  std::vector<ZipEntry> entries;
  SavedProgram program;
  Diag diag;
  readZip(bytes, entries, diag);
  readProgram(bytes, program, diag);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (!size)
    return 0;
  std::span<const uint8_t> rest(data + 1, size - 1);
  switch (data[0] % 3) {
  case 0: fuzzTrace({rest.begin(), rest.end()}); break;
  case 1: fuzzSafetensors(rest); break;
  default: fuzzZip(rest);
  }
  return 0;
}
