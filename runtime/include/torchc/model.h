/* torchc/model.h: the C interface of a compiled model. C99, no dependency but <stddef.h> and
 * <stdint.h>.
 *
 * Ownership: everything that goes in or out is borrowed. A model never keeps a pointer of the
 * caller's after the call returns and never frees one. An instance belongs to the caller until
 * `destroy`. Text returned by `message` belongs to the instance and lives until its next call.
 * Memory: `create` allocates once (instance, arena, staging buffers); `run` allocates nothing.
 * Threads: different instances may run at the same time; one instance serves one call at a time.
 * Versions: TORCHC_MODEL_ABI changes only when old code would break. Structures that grow carry
 * `bytes`, their size as the writer knew it, and are only appended to: test `bytes` before you read
 * a newer field.
 *
 * A model called NAME exports  const torchc_model_table *torchc_NAME_model(uint32_t abi);
 * it answers NULL for an abi that it doesn't speak. A shared library also exports it as
 * `torchc_model`.
 */
#ifndef TORCHC_MODEL_H
#define TORCHC_MODEL_H
#include <stddef.h>
#include <stdint.h>

/* DLPack's tensor: the real header where there is one, the same layout otherwise. A dlpack.h from
 * elsewhere must be included before this file. */
#ifndef DLPACK_DLPACK_H_
#if defined(__has_include)
#if __has_include(<dlpack/dlpack.h>)
#include <dlpack/dlpack.h>
#endif
#endif
#endif
#if !defined(DLPACK_DLPACK_H_) && !defined(TORCHC_OWN_DLTENSOR)
#define TORCHC_OWN_DLTENSOR
typedef enum { kDLCPU = 1, kDLCUDA = 2, kDLCUDAHost = 3 } DLDeviceType;
typedef struct {
  DLDeviceType device_type;
  int32_t device_id;
} DLDevice;
typedef enum {
  kDLInt = 0,
  kDLUInt = 1,
  kDLFloat = 2,
  kDLOpaqueHandle = 3,
  kDLBfloat = 4,
  kDLComplex = 5,
  kDLBool = 6
} DLDataTypeCode;
typedef struct {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
} DLDataType;
typedef struct {
  void *data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t *shape;
  int64_t *strides; /* in elements; NULL means row-major and dense */
  uint64_t byte_offset;
} DLTensor;
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define TORCHC_MODEL_ABI 1u

/* What create and run return. */
enum torchc_status {
  TORCHC_OK = 0,
  TORCHC_INVALID = 1,   /* an argument is wrong; the text names what was expected and what came */
  TORCHC_TOO_SMALL = 2, /* an output has too little room; its true shape was written, no data */
  TORCHC_NO_MEMORY = 3,
  TORCHC_TRAP = 4, /* the model met data that its operators refuse, such as an index out of range */
  TORCHC_IO = 5,   /* a weights file is missing, truncated or unreadable */
  TORCHC_UNSUPPORTED = 6 /* the machine or an option is not supported by this model */
};

enum torchc_kind {
  TORCHC_NONE = 0, /* an absent optional */
  TORCHC_TENSOR = 1,
  TORCHC_STRINGS = 2,
  TORCHC_SEQUENCE = 3,
  TORCHC_OPTIONAL = 4,
  TORCHC_MAP = 5
};

struct torchc_value;

/* A tensor of UTF-8 strings: element i is bytes[offsets[i] .. offsets[i + 1]). As an output
 * `capacity` is the room in `bytes`, and offsets has room for the number of elements plus one. */
typedef struct torchc_strings {
  char *bytes;
  uint64_t capacity;
  uint64_t *offsets;
  int32_t ndim;
  int64_t *shape;
} torchc_strings;

/* `count` values; as an output `capacity` is the room in `items` and the model writes `count`. */
typedef struct torchc_sequence {
  struct torchc_value *items;
  uint64_t count, capacity;
} torchc_sequence;

/* Pairs keys[i] -> items[i]. */
typedef struct torchc_map {
  struct torchc_value *keys, *items;
  uint64_t count, capacity;
} torchc_map;

/* One argument or result.
 * A tensor input may have any strides; it is read where it lies when it is dense and aligned to its
 * element, and is copied into a staging buffer of the instance otherwise. Elements of a bool tensor
 * are bytes 0 or 1. A tensor output must be dense. On entry its shape says how much room there is
 * (the number of elements counts), on return it holds the true shape; `data` may be NULL only if
 * there is no element. */
typedef struct torchc_value {
  uint32_t kind; /* enum torchc_kind */
  uint32_t reserved;
  union {
    DLTensor *tensor;
    torchc_strings *strings;
    torchc_sequence *sequence;
    struct torchc_value *optional; /* NULL: absent */
    torchc_map *map;
  } as;
} torchc_value;

typedef struct torchc_instance torchc_instance;

/* What `create` may be told. Set everything to zero, then `bytes = sizeof(torchc_options)`. */
typedef struct torchc_options {
  uint32_t bytes;
  uint32_t threads;         /* 0 or 1: serial, in the caller's thread */
  const int64_t *max_sizes; /* upper bound of each symbolic dimension, in the signature's order */
  uint32_t max_sizes_count; /* must equal the number of symbolic dimensions */
  uint32_t error_bytes;     /* room in `error` */
  char *error;              /* receives the text of a failed create, or NULL */
  const char *weights_path; /* for a model with external weights */
} torchc_options;

/* Element types by number, with their DLPack counterpart: bool 0, u8 1, i8 2, i16 3, i32 4, i64 5,
 * f16 6, bf16 7, f32 8, f64 9, c64 10, c128 11. A dimension d >= 0 is a constant, d < 0 is symbol
 * number -1 - d. */
typedef struct torchc_io_desc {
  const char *name;
  const int64_t *dims;
  uint32_t dtype;
  uint32_t rank;
} torchc_io_desc;

typedef struct torchc_model_table {
  uint32_t abi;   /* TORCHC_MODEL_ABI */
  uint32_t bytes; /* of this structure */
  const char *name;
  const char *signature_json; /* inputs, outputs, symbols, target, provenance */
  /* Makes an instance; `options` may be NULL when no field is needed. On failure *instance is NULL.
   */
  int (*create)(const torchc_options *options, torchc_instance **instance);
  /* Runs on inputs in signature order. Counts must match the signature. An output must not overlap
   * an input. */
  int (*run)(torchc_instance *instance, const torchc_value *in, size_t in_count, torchc_value *out, size_t out_count);
  /* What went wrong in the instance's last run, "" if nothing. */
  const char *(*message)(torchc_instance *instance);
  void (*destroy)(torchc_instance *instance); /* NULL is allowed */
  /* The signature for C programs. */
  uint32_t input_count, output_count, symbol_count, test_count;
  const torchc_io_desc *inputs, *outputs;
  const char *const *symbols;
  /* Runs the embedded test vectors; results must be equal bit for bit, any NaN equal to any NaN.
   * `options` may give weights_path and the error buffer; max_sizes is ignored. */
  int (*self_test)(const torchc_options *options);
  /* Per input: nonzero when run overwrites its memory, which must then be dense, aligned to its element and apart from
   * every other argument's. */
  const uint8_t *written;
} torchc_model_table;

typedef const torchc_model_table *(*torchc_model_function)(uint32_t abi);

#ifdef __cplusplus
}
#endif
#endif
