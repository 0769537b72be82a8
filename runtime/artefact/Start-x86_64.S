// Start file. glibc >= 2.34 runs an executable's init array itself, so init and fini are null and no crti.o is needed.
  .text
  .globl _start
  .hidden main
  .type _start, @function
_start:
  endbr64
  xorl %ebp, %ebp
  movq %rdx, %r9            // rtld_fini
  movq (%rsp), %rsi         // argc
  leaq 8(%rsp), %rdx        // argv
  andq $-16, %rsp
  pushq %rax
  pushq %rsp                // stack_end
  xorl %r8d, %r8d           // fini
  xorl %ecx, %ecx           // init
  leaq main(%rip), %rdi
  callq *__libc_start_main@GOTPCREL(%rip)
  hlt
  .size _start, .-_start
  .section .note.GNU-stack, "", @progbits
