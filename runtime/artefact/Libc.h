// The libc functions the artefact runtime uses, declared here so that it cross-compiles without a
// system root. Each one must stand in Imports.txt: the linker refuses every other name.
#pragma once
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

void *aligned_alloc(size_t alignment, size_t bytes);
void *malloc(size_t bytes);
void free(void *p);
void *memcpy(void *to, const void *from, size_t n);
void *memset(void *to, int c, size_t n);
int memcmp(const void *a, const void *b, size_t n);
size_t strlen(const char *s);
int strcmp(const char *a, const char *b);
int strncmp(const char *a, const char *b, size_t n);
char *strchr(const char *s, int c);
int snprintf(char *to, size_t n, const char *format, ...) __attribute__((format(printf, 3, 4)));
int vsnprintf(char *to, size_t n, const char *format, va_list args);
int open(const char *path, int flags, ...);
int close(int fd);
ptrdiff_t read(int fd, void *to, size_t n);
ptrdiff_t write(int fd, const void *from, size_t n);
int64_t lseek(int fd, int64_t offset, int whence);
void *mmap(void *at, size_t bytes, int protection, int flags, int fd, int64_t offset);
int munmap(void *p, size_t bytes);
char *strerror(int error);
int *__errno_location(void);

// Linux values, the same on x86-64 and aarch64.
enum { rtReadOnly = 0, rtWriteOnly = 1, rtCreate = 0100, rtTruncate = 01000, rtCloseOnExec = 02000000 };
enum { rtSeekEnd = 2, rtSeekSet = 0, rtProtRead = 1, rtMapPrivate = 2 };
#define rtMapFailed ((void *)-1)
#define rtErrno (*__errno_location())
