// Start file. glibc >= 2.34 runs an executable's init array itself, so init and fini are null and no crti.o is needed.
  .text
  .globl _start
  .hidden main
  .type _start, %function
_start:
  hint #34                  // bti c
  mov x29, #0
  mov x30, #0
  mov x5, x0                // rtld_fini
  ldr x1, [sp]              // argc
  add x2, sp, #8            // argv
  mov x6, sp                // stack_end
  adrp x0, main
  add x0, x0, :lo12:main
  mov x3, #0                // init
  mov x4, #0                // fini
  bl __libc_start_main
  brk #0
  .size _start, .-_start
  .section .note.GNU-stack, "", %progbits
