// Runs the test vectors that the compiler embedded.
#include "Runtime.h"

static int isNan(uint64_t bits, uint64_t infinity, uint64_t sign) { return (bits & ~sign) > infinity; }

/// Whether part `i` of two buffers is equal: the same bits, or two NaNs (rule N1).
static int equalParts(const uint8_t *a, const uint8_t *b, uint32_t dtype) {
  static const uint64_t infinity[] = {0x7c00, 0x7f80, 0x7f800000, 0x7ff0000000000000};
  uint32_t kind = dtype == 10   ? 2
                  : dtype == 11 ? 3
                                : dtype - 6,
           size = dtype >= 10 ? rtItemSize(dtype) / 2 : rtItemSize(dtype);
  if (memcmp(a, b, size) == 0)
    return 1;
  if (dtype < 6)
    return 0;
  uint64_t x = 0, y = 0, sign = (uint64_t)1 << (8 * size - 1);
  memcpy(&x, a, size);
  memcpy(&y, b, size);
  return isNan(x, infinity[kind], sign) && isNan(y, infinity[kind], sign);
}

static void fillTensor(DLTensor *t, int64_t *shape, const torchc_io_desc *d, const int64_t *symbols, void *data) {
  memset(t, 0, sizeof *t);
  t->device.device_type = kDLCPU;
  t->ndim = (int32_t)d->rank;
  t->dtype = rtDLType(d->dtype);
  t->shape = shape;
  t->data = data;
  for (uint32_t i = 0; i < d->rank; ++i)
    shape[i] = rtDim(d->dims[i], symbols);
}

static uint64_t bytesOf(const torchc_io_desc *d, const int64_t *symbols) {
  return (uint64_t)rtElements(d, symbols) * rtItemSize(d->dtype);
}

/// Input i, or output i - input_count.
static const torchc_io_desc *descOf(uint32_t i) {
  return i < torchc_table.input_count ? &torchc_table.inputs[i] : &torchc_table.outputs[i - torchc_table.input_count];
}

/// The run writes to outputs and to some inputs: those get memory of their own.
static int isWritten(uint32_t i) { return i >= torchc_table.input_count || torchc_table.written[i]; }

/// Bytes of all that is written, each rounded up to 64.
static uint64_t writtenBytes(const int64_t *symbols) {
  uint64_t total = 64;
  for (uint32_t i = 0; i < torchc_table.input_count + torchc_table.output_count; ++i)
    if (isWritten(i))
      total += (bytesOf(descOf(i), symbols) + 63) & ~(uint64_t)63;
  return total;
}

static int compareOne(const torchc_io_desc *d, uint64_t bytes, const uint8_t *got, const uint8_t *want, uint32_t number,
                      RtText *error) {
  uint32_t part = rtItemSize(d->dtype) / (d->dtype >= 10 ? 2 : 1);
  for (uint64_t at = 0; at < bytes; at += part)
    if (!equalParts(got + at, want + at, d->dtype)) {
      rtAppend(error, "self-test %u: %s differs at element %llu", number, d->name,
               (unsigned long long)(at / rtItemSize(d->dtype)));
      return TORCHC_TRAP;
    }
  return TORCHC_OK;
}

/// The expected values are those of the outputs, then of the written inputs.
static int compare(const torchc_selftest_desc *test, const torchc_value *values, uint32_t number, RtText *error) {
  uint32_t ins = torchc_table.input_count, outs = torchc_table.output_count, next = outs;
  int status = TORCHC_OK;
  for (uint32_t i = 0; i < ins + outs && !status; ++i)
    if (isWritten(i))
      status = compareOne(descOf(i), bytesOf(descOf(i), test->symbols), values[i].as.tensor->data,
                          test->outputs[i < ins ? next++ : i - ins], number, error);
  return status;
}

/// One vector. `block` is the memory for values, tensors and shapes of all inputs and outputs.
static int runTest(const torchc_selftest_desc *test, uint32_t number, const torchc_options *options, void *block,
                   uint8_t *results, RtText *error) {
  uint32_t ins = torchc_table.input_count, outs = torchc_table.output_count;
  torchc_value *values = block;
  DLTensor *tensors = (DLTensor *)(values + ins + outs);
  int64_t *shapes = (int64_t *)(tensors + ins + outs);
  for (uint32_t i = 0; i < ins + outs; ++i) {
    const torchc_io_desc *d = descOf(i);
    uint64_t bytes = bytesOf(d, test->symbols);
    fillTensor(&tensors[i], shapes, d, test->symbols, isWritten(i) ? results : (void *)test->inputs[i]);
    shapes += d->rank;
    if (i < ins && isWritten(i))
      memcpy(results, test->inputs[i], bytes);
    if (isWritten(i))
      results += (bytes + 63) & ~(uint64_t)63;
    values[i].kind = TORCHC_TENSOR;
    values[i].as.tensor = &tensors[i];
  }
  torchc_options own = {sizeof own, 0, test->symbols, torchc_table.symbol_count, 0, NULL, NULL};
  own.weights_path = options ? options->weights_path : NULL;
  own.error = error->at;
  own.error_bytes = (uint32_t)error->size;
  torchc_instance *x;
  int status = torchc_rt_create(&own, &x);
  if (status)
    return status;
  status = torchc_rt_run(x, values, ins, values + ins, outs);
  if (status)
    rtAppend(error, "self-test %u: %s", number, torchc_rt_message(x));
  else
    status = compare(test, values, number, error);
  torchc_rt_destroy(x);
  return status;
}

int torchc_rt_self_test(const torchc_options *options) {
  RtText error = {NULL, 0, 0};
  if (options && options->bytes >= sizeof *options && options->error && options->error_bytes) {
    error.at = options->error;
    error.size = options->error_bytes;
    error.at[0] = 0;
  }
  uint64_t count = (uint64_t)torchc_table.input_count + torchc_table.output_count;
  uint64_t bytes = count * (sizeof(torchc_value) + sizeof(DLTensor) + rtMaxRank * sizeof(int64_t));
  bytes = (bytes + 63) & ~(uint64_t)63;
  for (uint32_t i = 0; i < torchc_table.test_count; ++i) {
    const torchc_selftest_desc *test = &torchc_desc.tests[i];
    uint8_t *block = aligned_alloc(64, bytes + writtenBytes(test->symbols));
    if (!block)
      return TORCHC_NO_MEMORY;
    memset(block, 0, bytes);
    int status = runTest(test, i, options, block, block + bytes, &error);
    free(block);
    if (status)
      return status;
  }
  return TORCHC_OK;
}
