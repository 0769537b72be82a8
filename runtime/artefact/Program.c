#include "Program.h"
#include "Npy.h"
#include "Runtime.h"

enum { printedElements = 1000, textBytes = 768 };

typedef struct {
  const torchc_model_table *model;
  const char **inputPaths, **outputPaths, **writtenPaths; // written: of inputs, after the run
  torchc_value *values; // inputs, then outputs
  Npy *tensors;         // the same order
  int64_t *symbols;
  const char *weightsPath;
  const char *self; // the path of this program
  int selfTest;
  int broken; // the error of standard output, once it had one
  char out[4096]; // pending standard output
  size_t used;
  char error[textBytes];
} Program;

/// 0, or the error.
static int writeOut(int fd, const char *text, size_t n) {
  enum { interrupted = 4 };
  while (n) {
    ptrdiff_t done = write(fd, text, n);
    if (done < 0 && rtErrno == interrupted)
      continue;
    if (done <= 0)
      return rtErrno;
    text += done;
    n -= (size_t)done;
  }
  return 0;
}

static void writeText(Program *p, const char *text, size_t n) {
  if (!p->broken)
    p->broken = writeOut(1, text, n);
}

static void flush(Program *p) {
  writeText(p, p->out, p->used);
  p->used = 0;
}

static void print(Program *p, const char *format, ...) {
  va_list args;
  if (p->used > sizeof p->out / 2)
    flush(p);
  va_start(args, format);
  int n = vsnprintf(p->out + p->used, sizeof p->out - p->used, format, args);
  va_end(args);
  if (n > 0)
    p->used += (size_t)n < sizeof p->out - p->used ? (size_t)n : sizeof p->out - p->used - 1;
}

static int fail(Program *p) {
  RtText text = {p->error, sizeof p->error - 1, strlen(p->error)};
  p->error[text.used++] = '\n';
  flush(p);
  writeOut(2, "error: ", 7);
  writeOut(2, p->error, text.used);
  return 1;
}

static void printIo(Program *p, const char *role, const torchc_io_desc *d) {
  print(p, "  %s %s=FILE.npy  %s[", role, d->name, rtDtypeName(d->dtype));
  for (uint32_t i = 0; i < d->rank; ++i)
    if (d->dims[i] < 0)
      print(p, "%s%s", i ? "," : "", p->model->symbols[-1 - d->dims[i]]);
    else
      print(p, "%s%lld", i ? "," : "", (long long)d->dims[i]);
  print(p, "]\n");
}

static int help(Program *p) {
  const torchc_model_table *m = p->model;
  print(p, "Runs the model '%s'.\n\n", m->name);
  for (uint32_t i = 0; i < m->input_count; ++i)
    printIo(p, "--input", &m->inputs[i]);
  for (uint32_t i = 0; i < m->output_count; ++i)
    printIo(p, "--output", &m->outputs[i]);
  for (uint32_t i = 0; i < m->input_count; ++i)
    if (m->written[i])
      printIo(p, "--output", &m->inputs[i]);
  print(p,
        "  --weights FILE   weights kept outside of this file\n"
        "  --self-test      run the embedded vectors (%u)\n"
        "  --signature      print the signature as JSON\n"
        "An output without a file is printed. Exit code: 0, or 1 on an error.\n",
        m->test_count);
  flush(p);
  return 0;
}

/// Stores "name=path" in the slot of that name; without "name=" it is the next free slot.
static int assign(Program *p, const char *role, const torchc_io_desc *list, uint32_t count, const char **slots,
                  const char *text) {
  const char *equal = strchr(text, '=');
  size_t n = equal ? (size_t)(equal - text) : 0;
  for (uint32_t i = 0; i < count; ++i) {
    int hit = equal ? strlen(list[i].name) == n && !strncmp(list[i].name, text, n) : !slots[i];
    if (!hit)
      continue;
    slots[i] = equal ? equal + 1 : text;
    return 1;
  }
  // An input that the model overwrites is also an output, found by its name.
  for (uint32_t i = 0; equal && slots == p->outputPaths && i < p->model->input_count; ++i)
    if (p->model->written[i] && strlen(p->model->inputs[i].name) == n && !strncmp(p->model->inputs[i].name, text, n)) {
      p->writtenPaths[i] = equal + 1;
      return 1;
    }
  snprintf(p->error, sizeof p->error, "%s %s: the model has no such %s; see --help", role, text, role + 2);
  return 0;
}

/// The value of option `name` at argv[*i] ("--name value" or "--name=value"), or NULL.
static const char *option(const char *name, int argc, char **argv, int *i) {
  size_t n = strlen(name);
  if (strncmp(argv[*i], name, n))
    return NULL;
  if (argv[*i][n] == '=')
    return argv[*i] + n + 1;
  return !argv[*i][n] && *i + 1 < argc ? argv[++*i] : NULL;
}

/// -1: go on; otherwise the exit code.
static int parse(Program *p, int argc, char **argv) {
  const torchc_model_table *m = p->model;
  for (int i = 1; i < argc; ++i) {
    const char *v;
    if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h"))
      return help(p);
    if (!strcmp(argv[i], "--signature")) {
      writeText(p, m->signature_json, strlen(m->signature_json));
      writeText(p, "\n", 1);
      return 0;
    }
    if (!strcmp(argv[i], "--self-test")) {
      p->selfTest = 1;
    } else if ((v = option("--input", argc, argv, &i))) {
      if (!assign(p, "--input", m->inputs, m->input_count, p->inputPaths, v))
        return fail(p);
    } else if ((v = option("--output", argc, argv, &i))) {
      if (!assign(p, "--output", m->outputs, m->output_count, p->outputPaths, v))
        return fail(p);
    } else if ((v = option("--weights", argc, argv, &i))) {
      p->weightsPath = v;
    } else {
      snprintf(p->error, sizeof p->error, "unknown or incomplete option %s; see --help", argv[i]);
      return fail(p);
    }
  }
  return -1;
}

static int readInputs(Program *p) {
  const torchc_model_table *m = p->model;
  for (uint32_t i = 0; i < m->input_count; ++i) {
    const torchc_io_desc *d = &m->inputs[i];
    if (!p->inputPaths[i]) {
      snprintf(p->error, sizeof p->error, "input %s: expected --input %s=FILE.npy", d->name, d->name);
      return 0;
    }
    if (!torchc_npy_read(&p->tensors[i], p->inputPaths[i], p->error, sizeof p->error))
      return 0;
    p->values[i].kind = TORCHC_TENSOR;
    p->values[i].as.tensor = &p->tensors[i].tensor;
    // The first input that has a symbol gives its bound; run refuses the ones that disagree.
    for (uint32_t k = 0; k < d->rank && k < (uint32_t)p->tensors[i].tensor.ndim; ++k)
      if (d->dims[k] < 0 && p->symbols[-1 - d->dims[k]] < 0)
        p->symbols[-1 - d->dims[k]] = p->tensors[i].shape[k];
  }
  for (uint32_t i = 0; i < m->symbol_count; ++i)
    p->symbols[i] = p->symbols[i] < 0 ? 0 : p->symbols[i];
  return 1;
}

static int makeOutputs(Program *p) {
  const torchc_model_table *m = p->model;
  for (uint32_t i = 0; i < m->output_count; ++i) {
    const torchc_io_desc *d = &m->outputs[i];
    Npy *npy = &p->tensors[m->input_count + i];
    DLTensor *t = &npy->tensor;
    int64_t n = rtElements(d, p->symbols), bytes = 0;
    if (d->rank > npyMaxRank) {
      snprintf(p->error, sizeof p->error, "output %s: more than %d dimensions", d->name, npyMaxRank);
      return 0;
    }
    if (n >= 0 && !__builtin_mul_overflow(n, (int64_t)rtItemSize(d->dtype), &bytes) && bytes < INT64_MAX - 64)
      npy->file = aligned_alloc(64, ((size_t)bytes + 64) & ~(size_t)63);
    if (!npy->file) {
      snprintf(p->error, sizeof p->error, "output %s: not enough memory", d->name);
      return 0;
    }
    t->data = npy->file;
    t->device.device_type = kDLCPU;
    t->dtype = rtDLType(d->dtype);
    t->ndim = (int32_t)d->rank;
    t->shape = npy->shape;
    for (uint32_t k = 0; k < d->rank; ++k)
      t->shape[k] = rtDim(d->dims[k], p->symbols);
    p->values[m->input_count + i].kind = TORCHC_TENSOR;
    p->values[m->input_count + i].as.tensor = t;
  }
  return 1;
}

static float halfToFloat(uint16_t h) {
  uint32_t e = h >> 10 & 31, f = h & 1023;
  float magnitude = (float)f * 0x1p-24f;
  if (e) {
    uint32_t bits = e == 31 ? 0x7f800000 | f << 13 : (e + 112) << 23 | f << 13;
    memcpy(&magnitude, &bits, 4);
  }
  return h >> 15 ? -magnitude : magnitude;
}

static void printReal(Program *p, const uint8_t *at, uint32_t dtype) {
  double d = 0;
  float f = 0;
  uint16_t h = 0;
  int64_t n = 0;
  uint32_t size = rtItemSize(dtype), bits;
  if (dtype <= 5) {
    memcpy(&n, at, size);
    if (dtype >= 2) // sign extension
      n = (int64_t)((uint64_t)n << (64 - 8 * size)) >> (64 - 8 * size);
    print(p, "%lld", (long long)n);
    return;
  }
  memcpy(&h, at, 2);
  if (dtype == 6) {
    f = halfToFloat(h);
  } else if (dtype == 7) {
    bits = (uint32_t)h << 16;
    memcpy(&f, &bits, 4);
  } else if (dtype == 8) {
    memcpy(&f, at, 4);
  } else {
    memcpy(&d, at, 8);
    print(p, "%.17g", d);
    return;
  }
  print(p, "%.9g", (double)f);
}

static void printElement(Program *p, const uint8_t *at, uint32_t dtype) {
  if (dtype < 10) {
    printReal(p, at, dtype);
    return;
  }
  printReal(p, at, dtype - 2);
  print(p, "+i*");
  printReal(p, at + rtItemSize(dtype) / 2, dtype - 2);
}

static void printOutput(Program *p, const torchc_io_desc *d, const DLTensor *t) {
  int64_t n = 1, row = t->ndim ? t->shape[t->ndim - 1] : 1;
  char shape[textBytes];
  RtText text = {shape, sizeof shape, 0};
  rtAppendTensor(&text, t);
  print(p, "%s %s\n", d->name, shape);
  for (int i = 0; i < t->ndim; ++i)
    n *= t->shape[i];
  for (int64_t i = 0; i < n && i < printedElements; ++i) {
    printElement(p, (const uint8_t *)t->data + i * rtItemSize(d->dtype), d->dtype);
    print(p, (i + 1) % row ? " " : "\n");
  }
  if (n > printedElements)
    print(p, "... %lld more\n", (long long)(n - printedElements));
}

/// What is wrong with the file of weights, in the words of the command line.
static int failCreate(Program *p) {
  const char *option = "options.weights_path:";
  if (!strncmp(p->error, option, strlen(option))) {
    if (p->weightsPath)
      snprintf(p->error, sizeof p->error, "--weights %s: this model carries its weights and takes no file",
               p->weightsPath);
    else
      snprintf(p->error, sizeof p->error, "this model keeps its weights in a file: add --weights %s.weights", p->self);
  }
  return fail(p);
}

static int runModel(Program *p) {
  const torchc_model_table *m = p->model;
  torchc_options o = {sizeof o, 0, p->symbols, m->symbol_count, sizeof p->error, p->error, p->weightsPath};
  torchc_instance *x;
  if (!readInputs(p) || !makeOutputs(p))
    return fail(p);
  if (m->create(&o, &x))
    return failCreate(p);
  torchc_value *out = p->values + m->input_count;
  int status = m->run(x, p->values, m->input_count, out, m->output_count);
  if (status)
    snprintf(p->error, sizeof p->error, "%s", m->message(x));
  m->destroy(x);
  if (status)
    return fail(p);
  for (uint32_t i = 0; i < m->input_count; ++i)
    if (p->writtenPaths[i] && !torchc_npy_write(p->values[i].as.tensor, p->writtenPaths[i], p->error, sizeof p->error))
      return fail(p);
  for (uint32_t i = 0; i < m->output_count; ++i)
    if (!p->outputPaths[i])
      printOutput(p, &m->outputs[i], out[i].as.tensor);
    else if (!torchc_npy_write(out[i].as.tensor, p->outputPaths[i], p->error, sizeof p->error))
      return fail(p);
  flush(p);
  return 0;
}

static int selfTest(Program *p) {
  const torchc_model_table *m = p->model;
  torchc_options o = {sizeof o, 0, NULL, 0, sizeof p->error, p->error, p->weightsPath};
  if (!m->test_count) {
    snprintf(p->error, sizeof p->error, "this model carries no test vectors");
    return fail(p);
  }
  if (m->self_test(&o))
    return failCreate(p);
  print(p, "self-test: %u passed\n", m->test_count);
  flush(p);
  return 0;
}

int torchc_program(const torchc_model_table *m, int argc, char **argv) {
  size_t count = (size_t)m->input_count + m->output_count;
  size_t bytes = sizeof(Program) + count * (sizeof(Npy) + sizeof(torchc_value) + sizeof(char *)) +
                 (m->symbol_count + (size_t)m->input_count) * 8;
  Program *p = malloc(bytes);
  if (!p)
    return 1;
  memset(p, 0, bytes);
  p->model = m;
  p->self = argc ? argv[0] : "MODEL";
  p->tensors = (Npy *)(p + 1);
  p->values = (torchc_value *)(p->tensors + count);
  p->inputPaths = (const char **)(p->values + count);
  p->outputPaths = p->inputPaths + m->input_count;
  p->writtenPaths = p->inputPaths + count;
  p->symbols = (int64_t *)(p->writtenPaths + m->input_count);
  for (uint32_t i = 0; i < m->symbol_count; ++i)
    p->symbols[i] = -1;
  int code = parse(p, argc, argv);
  if (code < 0)
    code = p->selfTest ? selfTest(p) : runModel(p);
  if (p->broken && !code) {
    snprintf(p->error, sizeof p->error, "stdout: %s", strerror(p->broken));
    code = fail(p);
  }
  for (size_t i = 0; i < count; ++i)
    free(p->tensors[i].file);
  free(p);
  return code;
}
