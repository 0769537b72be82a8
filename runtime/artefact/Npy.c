#include "Npy.h"
#include "Runtime.h"

int rename(const char *from, const char *to);
int unlink(const char *path);
char *realpath(const char *path, char *to);

// The kernel's struct statx, the same on every architecture; glibc has it since 2.28.
typedef struct {
  _Alignas(8) uint8_t before[28];
  uint16_t mode;
  uint8_t rest[226];
} RtStatus;
int statx(int folder, const char *path, int flags, unsigned mask, RtStatus *to);
enum { rtHere = -100, rtNoFollow = 0x100, rtStatType = 1, rtExclusive = 0200, rtExists = 17, rtPathMax = 4096 };

// NumPy has no bf16; ml_dtypes writes it as two raw bytes.
static const struct {
  char name[5];
  uint8_t code, bits;
} npyTypes[] = {{"|b1", kDLBool, 8},   {"|u1", kDLUInt, 8},   {"|i1", kDLInt, 8},      {"<i2", kDLInt, 16},
                {"<i4", kDLInt, 32},   {"<i8", kDLInt, 64},   {"<f2", kDLFloat, 16},   {"<V2", kDLBfloat, 16},
                {"<f4", kDLFloat, 32}, {"<f8", kDLFloat, 64}, {"<c8", kDLComplex, 64}, {"<c16", kDLComplex, 128},
                {"|V2", kDLBfloat, 16}};
enum { npyTypeCount = sizeof npyTypes / sizeof npyTypes[0] };

typedef struct {
  const char *at, *end;
} Cursor;

static void skipSpace(Cursor *c) {
  while (c->at < c->end && (*c->at == ' ' || *c->at == '\n' || *c->at == '\t'))
    ++c->at;
}

static int accept(Cursor *c, const char *word) {
  skipSpace(c);
  size_t n = strlen(word);
  if ((size_t)(c->end - c->at) < n || memcmp(c->at, word, n))
    return 0;
  c->at += n;
  return 1;
}

static const char *parseType(Cursor *c, DLDataType *type) {
  for (int i = 0; i < npyTypeCount; ++i) {
    size_t n = npyTypes[i].name[3] ? 4 : 3;
    if ((size_t)(c->end - c->at) > n + 1 && (c->at[0] == '\'' || c->at[0] == '"') &&
        !memcmp(c->at + 1, npyTypes[i].name, n) && c->at[n + 1] == c->at[0]) {
      c->at += n + 2;
      type->code = npyTypes[i].code;
      type->bits = npyTypes[i].bits;
      type->lanes = 1;
      return NULL;
    }
  }
  return "the element type is not one of b1 u1 i1 i2 i4 i8 f2 f4 f8 c8 c16, little-endian";
}

static const char *parseShape(Cursor *c, Npy *npy) {
  DLTensor *t = &npy->tensor;
  if (!accept(c, "("))
    return "the shape is malformed";
  while (!accept(c, ")")) {
    int64_t n = 0;
    if (t->ndim == npyMaxRank)
      return "the rank is above 32";
    if (c->at == c->end || *c->at < '0' || *c->at > '9')
      return "the shape is malformed";
    for (; c->at < c->end && *c->at >= '0' && *c->at <= '9'; ++c->at)
      if (__builtin_mul_overflow(n, 10, &n) || __builtin_add_overflow(n, *c->at - '0', &n))
        return "the shape is too large";
    npy->shape[t->ndim++] = n;
    if (!accept(c, ",")) {
      if (!accept(c, ")"))
        return "the shape is malformed";
      return NULL;
    }
  }
  return NULL;
}

static const char *parseHeader(Cursor *c, Npy *npy, int *fortran) {
  int seen = 0;
  if (!accept(c, "{"))
    return "the header is not a dictionary";
  while (!accept(c, "}")) {
    const char *bad = NULL;
    if (accept(c, "'descr'") && accept(c, ":")) {
      skipSpace(c);
      bad = parseType(c, &npy->tensor.dtype);
      seen |= 1;
    } else if (accept(c, "'fortran_order'") && accept(c, ":")) {
      *fortran = accept(c, "True");
      bad = *fortran || accept(c, "False") ? NULL : "fortran_order is neither True nor False";
      seen |= 2;
    } else if (accept(c, "'shape'") && accept(c, ":") && !(seen & 4)) {
      bad = parseShape(c, npy);
      seen |= 4;
    } else {
      bad = "the header has an unknown or repeated key";
    }
    if (bad)
      return bad;
    accept(c, ",");
  }
  return seen == 7 ? NULL : "the header lacks descr, fortran_order or shape";
}

const char *torchc_npy_parse(Npy *npy, void *file, size_t bytes) {
  const uint8_t *p = file;
  memset(npy, 0, sizeof *npy);
  if (bytes < 10 || memcmp(p, "\x93NUMPY", 6))
    return "this is not a .npy file";
  if (p[6] < 1 || p[6] > 3)
    return "the .npy version is not 1, 2 or 3";
  size_t start = p[6] == 1 ? 10 : 12, header = p[8] | (size_t)p[9] << 8;
  if (p[6] > 1) {
    if (bytes < 12)
      return "the file is truncated";
    header |= (size_t)p[10] << 16 | (size_t)p[11] << 24;
  }
  if (header > bytes - start)
    return "the file is truncated";
  Cursor c = {(const char *)p + start, (const char *)p + start + header};
  int fortran = 0;
  const char *bad = parseHeader(&c, npy, &fortran);
  if (bad)
    return bad;
  DLTensor *t = &npy->tensor;
  int64_t size = t->dtype.bits / 8;
  for (int i = 0; i < t->ndim; ++i) { // strides in elements, from the fastest axis
    int axis = fortran ? i : t->ndim - 1 - i;
    npy->strides[axis] = size / (t->dtype.bits / 8);
    if (npy->shape[axis] && __builtin_mul_overflow(size, npy->shape[axis], &size))
      return "the shape is too large";
  }
  for (int i = 0; i < t->ndim; ++i)
    size = npy->shape[i] ? size : 0;
  if ((uint64_t)size > bytes - start - header)
    return "the file is truncated";
  t->device.device_type = kDLCPU;
  t->data = (uint8_t *)file + start + header;
  t->shape = npy->shape;
  t->strides = npy->strides;
  return NULL;
}

static int fail(char *error, size_t bytes, const char *path, const char *text) {
  snprintf(error, bytes, "%s: %s", path, text);
  return 0;
}

int torchc_npy_read(Npy *npy, const char *path, char *error, size_t errorBytes) {
  int fd = open(path, rtReadOnly | rtCloseOnExec);
  if (fd < 0)
    return fail(error, errorBytes, path, strerror(rtErrno));
  int64_t bytes = lseek(fd, 0, rtSeekEnd), have = 0;
  uint8_t *file = bytes < 0 || bytes == INT64_MAX ? NULL : malloc((size_t)bytes + 1);
  const char *bad = bytes < 0 || bytes == INT64_MAX ? "expected a regular file"
                    : file                          ? NULL
                                                    : "not enough memory to read it";
  if (!bad)
    lseek(fd, 0, rtSeekSet);
  while (!bad && have < bytes) {
    ptrdiff_t n = read(fd, file + have, (size_t)(bytes - have));
    if (n < 0)
      bad = strerror(rtErrno);
    else if (n == 0)
      bytes = have; // it shrank meanwhile
    else
      have += n;
  }
  close(fd);
  if (!bad)
    bad = torchc_npy_parse(npy, file, (size_t)bytes);
  if (bad) {
    free(file);
    return fail(error, errorBytes, path, bad);
  }
  npy->file = file;
  return 1;
}

static int writeAll(int fd, const void *data, size_t bytes) {
  for (const uint8_t *p = data; bytes;) {
    ptrdiff_t n = write(fd, p, bytes);
    if (n < 0)
      return 0;
    p += n;
    bytes -= (size_t)n;
  }
  return 1;
}

static size_t formatHeader(const DLTensor *t, char *to, size_t room) {
  RtText text = {to, room, 0};
  int type = 0;
  while (type < npyTypeCount - 1 && (npyTypes[type].code != t->dtype.code || npyTypes[type].bits != t->dtype.bits))
    ++type;
  rtAppend(&text, "\x93NUMPY%c", 1);
  text.used += 3; // minor version and length are filled in below
  rtAppend(&text, "{'descr': '%.4s', 'fortran_order': False, 'shape': (", npyTypes[type].name);
  for (int i = 0; i < t->ndim; ++i)
    rtAppend(&text, "%s%lld%s", i ? " " : "", (long long)t->shape[i], i + 1 < t->ndim || t->ndim == 1 ? "," : "");
  rtAppend(&text, "), }");
  while ((text.used + 1) % 64)
    to[text.used++] = ' ';
  to[text.used++] = '\n';
  to[7] = 0;
  to[8] = (char)(text.used - 10);
  to[9] = (char)((text.used - 10) >> 8);
  return text.used;
}

static int writeTensor(int fd, const DLTensor *t) {
  char header[1024 + 64];
  size_t bytes = t->dtype.bits / 8, headerBytes = formatHeader(t, header, 1024);
  for (int i = 0; i < t->ndim; ++i)
    bytes *= (size_t)t->shape[i];
  int ok = writeAll(fd, header, headerBytes) && writeAll(fd, (uint8_t *)t->data + t->byte_offset, bytes);
  int error = ok ? 0 : rtErrno;
  if (close(fd) && ok)
    return 0;
  rtErrno = error;
  return ok;
}

/// A device or a pipe: there is nothing to rename, and nothing half-written to hide.
static int isSpecial(const char *path) {
  RtStatus s;
  enum { kind = 0170000, regular = 0100000, folder = 0040000 };
  if (statx(rtHere, path, 0, rtStatType, &s))
    return 0;
  return (s.mode & kind) != regular && (s.mode & kind) != folder;
}

/// The file that `path` leads to through symbolic links; `made`: it is new and empty.
static int resolve(const char *path, char *real, int *made) {
  RtStatus s;
  *made = 0;
  if (realpath(path, real))
    return 1;
  if (statx(rtHere, path, rtNoFollow, rtStatType, &s) == 0) { // a link to nothing
    int fd = open(path, rtWriteOnly | rtCreate | rtCloseOnExec, 0666);
    *made = fd >= 0 && close(fd) == 0;
    return *made && realpath(path, real);
  }
  snprintf(real, rtPathMax, "%s", path);
  return 1;
}

/// Opens a new file next to `real`.
static int openTemp(const char *real, char *temp, size_t room) {
  int fd = -1;
  for (int i = 0; i < 1000 && fd < 0; ++i) {
    snprintf(temp, room, "%s.temp%d", real, i);
    fd = open(temp, rtWriteOnly | rtCreate | rtExclusive | rtCloseOnExec, 0666);
    if (fd < 0 && rtErrno != rtExists)
      break;
  }
  return fd;
}

int torchc_npy_write(const DLTensor *t, const char *path, char *error, size_t errorBytes) {
  char real[rtPathMax], temp[rtPathMax + 16];
  int made = 0;
  if (strlen(path) >= rtPathMax)
    return fail(error, errorBytes, path, "the path is too long");
  if (isSpecial(path)) {
    int fd = open(path, rtWriteOnly | rtCloseOnExec);
    return (fd >= 0 && writeTensor(fd, t)) || fail(error, errorBytes, path, strerror(rtErrno));
  }
  if (!resolve(path, real, &made))
    return fail(error, errorBytes, path, strerror(rtErrno));
  int fd = openTemp(real, temp, sizeof temp);
  if (fd < 0) {
    fail(error, errorBytes, path, strerror(rtErrno));
  } else if (writeTensor(fd, t) && rename(temp, real) == 0) {
    return 1;
  } else {
    fail(error, errorBytes, path, strerror(rtErrno));
    unlink(temp);
  }
  if (made)
    unlink(real);
  return 0;
}
