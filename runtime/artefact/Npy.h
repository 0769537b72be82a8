// A small reader and writer of NumPy's .npy files (versions 1 to 3, little-endian, no Python
// objects).
#pragma once
#include "torchc/model.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { npyMaxRank = 32 };

typedef struct Npy {
  DLTensor tensor; // points into this structure and `file`
  int64_t shape[npyMaxRank], strides[npyMaxRank];
  void *file;
} Npy;

// Parses `bytes` bytes of a file; the tensor borrows them. Returns NULL, or what is wrong with the
// file.
const char *torchc_npy_parse(Npy *npy, void *file, size_t bytes);
// Reads a file; free(npy->file) ends it. False and a text in `error` when that fails.
int torchc_npy_read(Npy *npy, const char *path, char *error, size_t errorBytes);
// Writes a dense tensor to a new file next to `path` and renames it, so that no half-written file is seen. A symbolic
// link is followed; a device or a pipe is written to.
int torchc_npy_write(const DLTensor *tensor, const char *path, char *error, size_t errorBytes);

#ifdef __cplusplus
}
#endif
