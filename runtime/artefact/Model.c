// create, run, message, destroy over the description that the compiler emitted.
#include "Runtime.h"

enum { arenaAlign = 64 };

const torchc_model_table *torchc_rt_model(uint32_t abi) { return abi == TORCHC_MODEL_ABI ? &torchc_table : NULL; }

static uint64_t alignUp(uint64_t n) { return (n + arenaAlign - 1) & ~(uint64_t)(arenaAlign - 1); }

/// Adds the dense size of `d` at the largest symbol values; false on overflow.
static int addBytes(uint64_t *total, const torchc_io_desc *d, const int64_t *symbols) {
  int64_t n = rtElements(d, symbols);
  return n >= 0 && !__builtin_add_overflow(*total, alignUp((uint64_t)n * rtItemSize(d->dtype)), total);
}

static int checkOptions(const torchc_options *o, RtText *error) {
  const torchc_model_desc *m = &torchc_desc;
  uint32_t given = o ? o->max_sizes_count : 0;
  if (o && o->bytes < sizeof(torchc_options)) {
    rtAppend(error, "options.bytes: expected at least %u, got %u", (unsigned)sizeof(torchc_options), o->bytes);
    return TORCHC_INVALID;
  }
  if (o && o->threads > 1) {
    rtAppend(error, "options.threads: this model is serial, got %u", o->threads);
    return TORCHC_UNSUPPORTED;
  }
  if (given != torchc_table.symbol_count || (given && !o->max_sizes)) {
    rtAppend(error, "options.max_sizes: expected %u upper bounds, got %u", torchc_table.symbol_count, given);
    return TORCHC_INVALID;
  }
  for (uint32_t i = 0; i < given; ++i)
    if (o->max_sizes[i] < 0) {
      rtAppend(error, "options.max_sizes: %s: expected a size, got %lld", torchc_table.symbols[i],
               (long long)o->max_sizes[i]);
      return TORCHC_INVALID;
    }
  if (o && o->weights_path && m->weights_place != TORCHC_WEIGHTS_FILE) {
    rtAppend(error, "options.weights_path: this model carries its weights, got %s", o->weights_path);
    return TORCHC_INVALID;
  }
  const char *isa = rtMissingIsa(m->isa);
  if (isa) {
    rtAppend(error, "this model needs a processor with %s", isa);
    return TORCHC_UNSUPPORTED;
  }
  return TORCHC_OK;
}

static int mapWeightsFile(torchc_instance *x, const char *path, RtText *error) {
  uint64_t need = torchc_desc.weights_bytes;
  if (!path) {
    rtAppend(error, "options.weights_path: this model keeps its weights in a file, none was given");
    return TORCHC_INVALID;
  }
  int fd = open(path, rtReadOnly | rtCloseOnExec);
  int64_t size = fd < 0 ? -1 : lseek(fd, 0, rtSeekEnd);
  if (size < 0) {
    rtAppend(error, "%s: %s", path, strerror(rtErrno));
  } else if ((uint64_t)size < need) {
    rtAppend(error, "%s: expected %llu bytes of weights, got %lld", path, (unsigned long long)need, (long long)size);
  } else {
    x->mapping = mmap(NULL, need, rtProtRead, rtMapPrivate, fd, 0);
    if (x->mapping == rtMapFailed) {
      x->mapping = NULL;
      rtAppend(error, "%s: %s", path, strerror(rtErrno));
    }
    x->mappingBytes = need;
    x->weights = x->mapping;
  }
  if (fd >= 0)
    close(fd);
  return x->weights ? TORCHC_OK : TORCHC_IO;
}

static int findWeights(torchc_instance *x, const torchc_options *o, RtText *error) {
  const torchc_model_desc *m = &torchc_desc;
  if (m->weights_place == TORCHC_WEIGHTS_NONE || !m->weights_bytes)
    return TORCHC_OK;
  if (m->weights_place == TORCHC_WEIGHTS_FILE)
    return mapWeightsFile(x, o ? o->weights_path : NULL, error);
  x->weights = m->weights_place == TORCHC_WEIGHTS_SECTION ? m->weights : rtWeightsSegment(m->weights_bytes);
  if (x->weights)
    return TORCHC_OK;
  rtAppend(error, "the weights are missing from this file");
  return TORCHC_IO;
}

/// One block: instance, pointer table, symbols, staging pointers, staging buffers, arena.
static torchc_instance *allocate(const int64_t *maxima) {
  const torchc_model_desc *m = &torchc_desc;
  uint64_t pointers = (uint64_t)torchc_table.output_count + torchc_table.input_count + m->weight_count + 2;
  uint64_t head = alignUp(sizeof(torchc_instance) +
                          8 * (pointers + 2 * (uint64_t)torchc_table.symbol_count + torchc_table.input_count));
  uint64_t total = head, arena = m->arena_size ? m->arena_size(maxima) : m->arena_bytes;
  for (uint32_t i = 0; i < torchc_table.input_count; ++i)
    if (!addBytes(&total, &torchc_table.inputs[i], maxima))
      return NULL;
  uint64_t arenaAt = total, scratchAt;
  if (__builtin_add_overflow(total, arena, &total) || total > INT64_MAX)
    return NULL;
  scratchAt = alignUp(total);
  if (__builtin_add_overflow(scratchAt, m->scratch_bytes, &total) || total > INT64_MAX)
    return NULL;
  uint8_t *block = aligned_alloc(arenaAlign, alignUp(total));
  if (!block)
    return NULL;
  memset(block, 0, head);
  torchc_instance *x = (torchc_instance *)block;
  x->ptrs = (void **)(x + 1);
  x->symbols = (int64_t *)(x->ptrs + pointers);
  x->maxima = x->symbols + torchc_table.symbol_count;
  x->staging = (uint8_t **)(x->maxima + torchc_table.symbol_count);
  uint8_t *at = block + head;
  for (uint32_t i = 0; i < torchc_table.input_count; ++i) {
    x->staging[i] = at;
    at += alignUp((uint64_t)rtElements(&torchc_table.inputs[i], maxima) * rtItemSize(torchc_table.inputs[i].dtype));
  }
  for (uint32_t i = 0; i < torchc_table.symbol_count; ++i)
    x->maxima[i] = maxima[i];
  x->scratch = block + scratchAt;
  x->ptrs[pointers - 2] = &x->status;
  x->ptrs[pointers - 1] = block + arenaAt;
  return x;
}

int torchc_rt_create(const torchc_options *options, torchc_instance **instance) {
  const torchc_model_desc *m = &torchc_desc;
  RtText error = {NULL, 0, 0};
  if (options && options->bytes >= sizeof(torchc_options) && options->error && options->error_bytes) {
    error.at = options->error;
    error.size = options->error_bytes;
    error.at[0] = 0;
  }
  if (!instance) {
    rtAppend(&error, "instance: expected a pointer, got NULL");
    return TORCHC_INVALID;
  }
  *instance = NULL;
  int status = checkOptions(options, &error);
  if (status)
    return status;
  torchc_instance *x = allocate(options ? options->max_sizes : NULL);
  if (!x) {
    rtAppend(&error, "not enough memory for the model's buffers at the given sizes");
    return TORCHC_NO_MEMORY;
  }
  status = findWeights(x, options, &error);
  if (status) {
    torchc_rt_destroy(x);
    return status;
  }
  for (uint32_t i = 0; i < m->weight_count; ++i)
    x->ptrs[torchc_table.output_count + m->weight_slots[i]] = (void *)(x->weights + m->weight_list[i].offset);
  *instance = x;
  return TORCHC_OK;
}

/// Fills `text` with "input x: expected f32[N,64], got ...", without the end.
static void startMismatch(RtText *text, const char *role, const torchc_io_desc *d) {
  rtAppend(text, "%s %s: expected ", role, d->name);
  rtAppendDesc(text, d, torchc_table.symbols);
  rtAppend(text, ", got ");
}

/// The tensor of a value if it is one on the CPU with the described type and rank, else NULL and a
/// text.
static DLTensor *tensorOf(const torchc_value *v, const torchc_io_desc *d, const char *role, RtText *text) {
  DLTensor *t = v->kind == TORCHC_TENSOR ? v->as.tensor : NULL;
  if (!t) {
    startMismatch(text, role, d);
    rtAppend(text, v->kind == TORCHC_TENSOR ? "NULL" : "a value of kind %u", v->kind);
    return NULL;
  }
  if (t->ndim != (int32_t)d->rank || rtDtypeOf(t->dtype) != (int)d->dtype || (t->ndim && !t->shape)) {
    startMismatch(text, role, d);
    rtAppendTensor(text, t);
    return NULL;
  }
  if (t->device.device_type != kDLCPU && t->device.device_type != kDLCUDAHost) {
    rtAppend(text, "%s %s: expected memory of the CPU, got device type %d", role, d->name, (int)t->device.device_type);
    return NULL;
  }
  return t;
}

/// Binds symbols to the sizes of an input; false and a text when a size doesn't fit.
static int matchShape(torchc_instance *x, const DLTensor *t, const torchc_io_desc *d, RtText *text) {
  for (uint32_t i = 0; i < d->rank; ++i) {
    int64_t want = d->dims[i], got = t->shape[i];
    int64_t *symbol = want < 0 ? &x->symbols[-1 - want] : NULL;
    if (symbol && *symbol < 0 && got >= 0) {
      if (got > x->maxima[-1 - want]) {
        rtAppend(text, "input %s: size %u (%s): expected at most %lld, got %lld", d->name, i,
                 torchc_table.symbols[-1 - want], (long long)x->maxima[-1 - want], (long long)got);
        return 0;
      }
      *symbol = got;
    }
    if (got < 0 || got != (symbol ? *symbol : want)) {
      startMismatch(text, "input", d);
      rtAppendTensor(text, t);
      if (symbol && *symbol >= 0)
        rtAppend(text, " with %s = %lld", torchc_table.symbols[-1 - want], (long long)*symbol);
      return 0;
    }
  }
  return 1;
}

static void **inputPointer(const torchc_instance *x, uint32_t i) {
  return &x->ptrs[torchc_table.output_count + torchc_desc.input_slots[i]];
}

static int bindInput(torchc_instance *x, uint32_t i, const torchc_value *v, RtText *text) {
  const torchc_io_desc *d = &torchc_table.inputs[i];
  DLTensor *t = tensorOf(v, d, "input", text);
  if (!t || !matchShape(x, t, d, text))
    return TORCHC_INVALID;
  uint32_t size = rtItemSize(d->dtype);
  if (!t->data && rtElements(d, x->symbols)) {
    rtAppend(text, "input %s: data is NULL", d->name);
    return TORCHC_INVALID;
  }
  uint8_t *at = (uint8_t *)t->data + t->byte_offset;
  // A complex element is aligned like its parts.
  int aligned = ((uintptr_t)at & ((size > 8 ? 8 : size) - 1)) == 0;
  if (torchc_table.written[i] && !(aligned && rtIsDense(t))) {
    rtAppend(text, "input %s: expected dense, aligned memory, because the model writes to it", d->name);
    return TORCHC_INVALID;
  }
  if (rtIsDense(t) && !aligned) {
    memcpy(x->staging[i], at, (size_t)rtElements(d, x->symbols) * size);
  } else if (!rtIsDense(t)) {
    rtGather(t, size, x->staging[i]);
  }
  *inputPointer(x, i) = aligned && rtIsDense(t) ? at : x->staging[i];
  return TORCHC_OK;
}

static int bindOutput(torchc_instance *x, uint32_t i, torchc_value *v, RtText *text) {
  const torchc_io_desc *d = &torchc_table.outputs[i];
  DLTensor *t = tensorOf(v, d, "output", text);
  if (!t)
    return TORCHC_INVALID;
  int64_t room = 1, need = rtElements(d, x->symbols);
  for (uint32_t k = 0; k < d->rank; ++k)
    if (t->shape[k] < 0 || __builtin_mul_overflow(room, t->shape[k], &room)) {
      startMismatch(text, "output", d);
      rtAppendTensor(text, t);
      return TORCHC_INVALID;
    }
  if (!rtIsDense(t)) {
    rtAppend(text, "output %s: expected dense row-major memory, got strides", d->name);
    return TORCHC_INVALID;
  }
  for (uint32_t k = 0; k < d->rank; ++k)
    t->shape[k] = rtDim(d->dims[k], x->symbols);
  // Strides describe the room that was offered, which need not be the shape that is written.
  if (t->strides)
    for (int64_t k = (int64_t)d->rank - 1, step = 1; k >= 0; step *= t->shape[k--])
      t->strides[k] = step;
  if (need < 0 || room < need) {
    startMismatch(text, "output", d);
    rtAppend(text, "room for %lld elements, %lld are needed", (long long)room, (long long)need);
    return TORCHC_TOO_SMALL;
  }
  uint32_t size = rtItemSize(d->dtype);
  uint8_t *at = (uint8_t *)t->data + t->byte_offset;
  if (need && (!t->data || ((uintptr_t)at & ((size > 8 ? 8 : size) - 1)))) {
    rtAppend(text, "output %s: data is %s", d->name, t->data ? "not aligned to its element" : "NULL");
    return TORCHC_INVALID;
  }
  x->ptrs[i] = at;
  return TORCHC_OK;
}

static int overlap(const void *a, uint64_t bytes, const void *b, uint64_t otherBytes) {
  return bytes && otherBytes && (uintptr_t)a < (uintptr_t)b + otherBytes && (uintptr_t)b < (uintptr_t)a + bytes;
}

/// Memory of output i, or of input i - output_count.
typedef struct {
  const torchc_io_desc *desc;
  void *at;
  uint64_t bytes;
} Memory;

static Memory memoryOf(const torchc_instance *x, uint32_t i) {
  uint32_t outs = torchc_table.output_count;
  Memory m = {i < outs ? &torchc_table.outputs[i] : &torchc_table.inputs[i - outs],
              i < outs ? x->ptrs[i] : *inputPointer(x, i - outs), 0};
  m.bytes = (uint64_t)rtElements(m.desc, x->symbols) * rtItemSize(m.desc->dtype);
  return m;
}

/// What is written may be written while inputs are still read, so it may not share memory with anything else.
static int checkOverlap(const torchc_instance *x, RtText *text) {
  uint32_t outs = torchc_table.output_count, all = outs + torchc_table.input_count;
  for (uint32_t i = 0; i < all; ++i) {
    if (i >= outs && !torchc_table.written[i - outs])
      continue;
    Memory a = memoryOf(x, i);
    for (uint32_t k = i < outs ? i + 1 : outs; k < all; ++k) {
      Memory b = memoryOf(x, k);
      if (k != i && overlap(a.at, a.bytes, b.at, b.bytes)) {
        rtAppend(text, "%s %s: overlaps %s %s", i < outs ? "output" : "input", a.desc->name,
                 k < outs ? "output" : "input", b.desc->name);
        return TORCHC_INVALID;
      }
    }
  }
  return TORCHC_OK;
}

static int bindAll(torchc_instance *x, const torchc_value *in, torchc_value *out, RtText *text) {
  for (uint32_t i = 0; i < torchc_table.symbol_count; ++i)
    x->symbols[i] = -1;
  for (uint32_t i = 0; i < torchc_table.input_count; ++i) {
    int status = bindInput(x, i, &in[i], text);
    if (status)
      return status;
  }
  int worst = TORCHC_OK; // every too small output gets its true shape before the call returns
  for (uint32_t i = 0; i < torchc_table.output_count; ++i) {
    int status = bindOutput(x, i, &out[i], text);
    if (status == TORCHC_INVALID)
      return status;
    worst = status ? status : worst;
  }
  return worst ? worst : checkOverlap(x, text);
}

/// The model's own text for a status value, else that of dialects/rules/Status.h.
static void appendTrap(RtText *text, int32_t status) {
  static const char *const common[] = {"index out of range in self", "integer division by zero", "assertion failed"};
  if (status > 0 && (uint32_t)status <= torchc_desc.trap_count)
    rtAppend(text, "%s", torchc_desc.traps[status - 1]);
  else if (status > 0 && status <= 3)
    rtAppend(text, "%s", common[status - 1]);
  else
    rtAppend(text, "trap %d", (int)status);
}

int torchc_rt_run(torchc_instance *x, const torchc_value *in, size_t inCount, torchc_value *out, size_t outCount) {
  const torchc_model_desc *m = &torchc_desc;
  if (!x)
    return TORCHC_INVALID;
  RtText text = {x->message, sizeof x->message, 0};
  x->message[0] = 0;
  if (inCount != torchc_table.input_count || outCount != torchc_table.output_count || (inCount && !in) ||
      (outCount && !out)) {
    rtAppend(&text, "expected %u inputs and %u outputs, got %llu and %llu", torchc_table.input_count,
             torchc_table.output_count, (unsigned long long)inCount, (unsigned long long)outCount);
    return TORCHC_INVALID;
  }
  int status = bindAll(x, in, out, &text);
  if (status)
    return status;
  x->status = 0;
  m->entry(x->ptrs, x->symbols, NULL, 0, 1);
  if (x->status == 0)
    return TORCHC_OK;
  appendTrap(&text, x->status);
  return TORCHC_TRAP;
}

void torchc_parallel_for(int64_t begin, int64_t end, int64_t grain,
                         void (*body)(void *context, int64_t begin, int64_t end), void *context) {
  if (begin < end)
    body(context, begin, end);
}

const char *torchc_rt_message(torchc_instance *x) { return x ? x->message : "instance: expected a pointer, got NULL"; }

void torchc_rt_destroy(torchc_instance *x) {
  if (!x)
    return;
  if (x->mapping)
    munmap(x->mapping, x->mappingBytes);
  free(x);
}
