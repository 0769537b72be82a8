/* torchc/compiler.h: the compiler as one function over bytes. C99.
 *
 * Request: "TCRQ", u32 version (1), u32 n, n bytes of options as JSON, then a trace file (to the
 * end). Little-endian. Options: an object with any of  target ("native", "x86-64-v3", "x86-64-v4",
 * "aarch64"), emit ("object", "trace", "torchc", "loops", "llvm", "asm"), mode ("exact"), grad (bool,
 * or how many times to differentiate), strides (bool: results are laid out as the trace shows them,
 * rather than row-major), dump (a folder that receives every stage). An unknown key is an error.
 * Answer: calls of `sink` with a kind and bytes that live until it returns. Kinds: "object", a
 * relocatable ELF file with a section .torchc.meta (JSON); "text", a dump of a stage; and "error",
 * JSON {"kind", "message", "node", "source"}, at most once and last. Threads: calls may overlap; they
 * take turns. Nothing is kept between calls but caches.
 */
#ifndef TORCHC_COMPILER_H
#define TORCHC_COMPILER_H
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TORCHC_COMPILER_ABI 1

typedef void (*torchc_sink)(void *context, const char *kind, const uint8_t *bytes, size_t count);

/* TORCHC_COMPILER_ABI of the library. */
int torchc_compiler_abi(void);

/* 0: done. 1: the request is at fault. 2: an internal error. After 1 and 2 an "error" was sent.
 * `*cancel` may become nonzero at any time: the call then ends soon with an error. `cancel` may be
 * NULL. */
int torchc_compile(const uint8_t *request, size_t bytes, torchc_sink sink, void *context, const int *cancel);

#ifdef __cplusplus
}
#endif
#endif
