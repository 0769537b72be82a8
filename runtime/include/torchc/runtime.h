/* torchc/runtime.h: what the compiler emits into an artefact, as the runtime in runtime/artefact
 * reads it.
 *
 * A model's object defines two hidden symbols, `torchc_desc` and `torchc_table`, and links with its
 * own copy of the runtime, so the two always have the same version; nothing here is an ABI between
 * files of different builds. All of it is constant data in .data.rel.ro and .rodata. Every pointer
 * is to data that lives as long as the artefact.
 */
#ifndef TORCHC_RUNTIME_H
#define TORCHC_RUNTIME_H
#include "torchc/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The entry function of a compiled graph (rule E5), the same code that the JIT loads.
 * ptrs   = outputs, the graph's inputs, status (int32_t, 0 before the call), arena (64-byte aligned)
 * sizesStrides = the value of each symbol;  scalars = NULL;  begin = 0;  end = 1 */
typedef void (*torchc_entry_function)(void **ptrs, const int64_t *sizesStrides, const void *scalars, int64_t begin,
                                      int64_t end);

/* Where a weight lies in the weights block; offsets are multiples of 64. */
typedef struct torchc_weight_desc {
  uint64_t offset, bytes;
} torchc_weight_desc;

/* Dense inputs and the expected outputs; symbols holds one value per symbol. */
typedef struct torchc_selftest_desc {
  const void *const *inputs;
  const void *const *outputs;
  const int64_t *symbols;
} torchc_selftest_desc;

/* The pack's kernels for products of one element type, and their register tile. */
typedef struct torchc_product_desc {
  torchc_entry_function strided, packed, wide, copy, turn; /* null: not used */
  /* torchc_gemm_rows_BYTES: torchc::gemmRows for one element size */
  void (*rows)(const void *kernels, const void *call, void *scratch);
  uint32_t dtype, columns;
} torchc_product_desc;

/* The same for convolutions; run is torchc_conv_run_BYTES. */
typedef struct torchc_conv_desc {
  torchc_entry_function shared, lanes, stepped, turn;
  void (*run)(const void *kernels, const void *call, void *scratch);
  uint32_t dtype, rows, columns;
} torchc_conv_desc;

enum torchc_weights_place {
  TORCHC_WEIGHTS_NONE = 0,
  TORCHC_WEIGHTS_SECTION = 1, /* `weights` points to them */
  TORCHC_WEIGHTS_SEGMENT = 2, /* the last loaded segment of this file */
  TORCHC_WEIGHTS_FILE = 3     /* options.weights_path names a file that holds them from offset 0 */
};

/* Instruction sets that code may need beyond the architecture's baseline. */
enum torchc_isa { TORCHC_ISA_BASE = 0, TORCHC_ISA_V3 = 1, TORCHC_ISA_V4 = 2 };

typedef struct torchc_model_desc {
  torchc_entry_function entry;
  /* The graph's inputs are the model's inputs and its weights in any order: the place of each among them. */
  const uint32_t *input_slots, *weight_slots;
  const torchc_weight_desc *weight_list;
  const void *weights; /* for TORCHC_WEIGHTS_SECTION */
  uint64_t weights_bytes;
  /* Arena bytes for given symbol values; NULL: arena_bytes always. */
  uint64_t (*arena_size)(const int64_t *symbols);
  uint64_t arena_bytes;
  const char *const *traps; /* text of status value i + 1 */
  const torchc_selftest_desc *tests;
  const torchc_product_desc *products;
  const torchc_conv_desc *convolutions;
  uint64_t scratch_bytes; /* what torchc_gemm and torchc_conv need at most */
  uint32_t weight_count, trap_count, product_count, conv_count;
  uint32_t weights_place; /* enum torchc_weights_place */
  uint32_t isa;           /* enum torchc_isa */
} torchc_model_desc;

#if defined(__GNUC__)
#define TORCHC_HIDDEN __attribute__((visibility("hidden")))
#else
#define TORCHC_HIDDEN
#endif

/* Defined by the compiler, one of each per copy of the runtime. */
extern TORCHC_HIDDEN const torchc_model_desc torchc_desc;
extern TORCHC_HIDDEN const torchc_model_table torchc_table;

/* Defined by the runtime; torchc_table points to the others, and torchc_NAME_model jumps to the
 * first. */
TORCHC_HIDDEN const torchc_model_table *torchc_rt_model(uint32_t abi);
TORCHC_HIDDEN int torchc_rt_create(const torchc_options *options, torchc_instance **instance);
TORCHC_HIDDEN int torchc_rt_run(torchc_instance *instance, const torchc_value *in, size_t in_count, torchc_value *out,
                                size_t out_count);
TORCHC_HIDDEN const char *torchc_rt_message(torchc_instance *instance);
TORCHC_HIDDEN void torchc_rt_destroy(torchc_instance *instance);
TORCHC_HIDDEN int torchc_rt_self_test(const torchc_options *options);
/* What compiled code calls for a loop over [begin, end): here always one call in the caller's thread. */
TORCHC_HIDDEN void torchc_parallel_for(int64_t begin, int64_t end, int64_t grain,
                                       void (*body)(void *context, int64_t begin, int64_t end), void *context);
/* The same for a batch of matrix products (runtime/kernels/Gemm.h); its status pointer must be that of an instance. */
TORCHC_HIDDEN void torchc_gemm(void **ptrs, const int64_t *sizes_strides, const void *scalars, int64_t begin,
                               int64_t end);
/* And for a convolution (runtime/kernels/Conv.h). */
TORCHC_HIDDEN void torchc_conv(void **ptrs, const int64_t *sizes_strides, const void *scalars, int64_t begin,
                               int64_t end);

#ifdef __cplusplus
}
#endif
#endif
