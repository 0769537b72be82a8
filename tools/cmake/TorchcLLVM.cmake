# What a target needs to use LLVM and MLIR: headers as system headers, one shared library of each in development builds
# (fast links), the static archives in release builds and in programs that are shipped or started often (the property
# TORCHC_STATIC): mapping the shared libraries costs 60 ms a start.
add_library(torchc_llvm_headers INTERFACE)
target_include_directories(torchc_llvm_headers SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
target_compile_definitions(torchc_llvm_headers INTERFACE ${LLVM_DEFINITIONS_LIST})
target_compile_options(torchc_llvm_headers INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions>)

find_library(TORCHC_ZLIB_STATIC libz.a REQUIRED)
find_library(TORCHC_ZSTD_STATIC libzstd.a REQUIRED)
file(GLOB mlirArchives ${LLVM_LIBRARY_DIR}/libMLIR*.a)
list(FILTER mlirArchives EXCLUDE REGEX "Test|CAPI|MLIRMlir")
file(GLOB llvmArchives ${LLVM_LIBRARY_DIR}/libLLVM*.a)
set(staticLLVM ${mlirArchives} ${llvmArchives} ${TORCHC_ZLIB_STATIC} ${TORCHC_ZSTD_STATIC} m)
set(isStatic $<OR:$<BOOL:${TORCHC_STATIC_LLVM}>,$<BOOL:$<TARGET_PROPERTY:TORCHC_STATIC>>>)

add_library(torchc_mlir INTERFACE)
target_link_libraries(torchc_mlir INTERFACE torchc_llvm_headers "$<${isStatic}:${staticLLVM}>"
  "$<$<NOT:${isStatic}>:MLIR;LLVM>")
add_library(torchc_lld INTERFACE) # lld's ELF linker as a library
target_link_libraries(torchc_lld INTERFACE torchc_mlir ${LLVM_LIBRARY_DIR}/liblldELF.a ${LLVM_LIBRARY_DIR}/liblldCommon.a
  ${TORCHC_ZLIB_STATIC} ${TORCHC_ZSTD_STATIC})

if(TORCHC_STATIC_LLVM)
  # One executable that needs libc and libm alone. Order doesn't matter to lld; gc-sections drops what isn't reached.
  add_compile_options(-ffunction-sections -fdata-sections)
endif()

# lld's driver initialises every target that LLVM was built with; empty functions keep the unwanted ones (and LTO's
# passes, NoLto.cpp) out of the link: 74 MB less.
set(code "// Generated: targets that torchc doesn't generate code for.\n")
foreach(target ${LLVM_TARGETS_TO_BUILD})
  foreach(part TargetInfo Target TargetMC AsmPrinter AsmParser Disassembler)
    if(NOT target MATCHES "^(X86|AArch64|NVPTX)$" OR part MATCHES "AsmParser|Disassembler")
      string(APPEND code "void LLVMInitialize${target}${part}(void);\nvoid LLVMInitialize${target}${part}(void) {}\n")
    endif()
  endforeach()
endforeach()
# Named by LLVM's pass libraries, called only where plugins are registered.
string(APPEND code "void _Z18getPollyPluginInfov(void);\nvoid _Z18getPollyPluginInfov(void) {}\n")
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/gen/NoTargets.c CONTENT "${code}" @ONLY)
add_library(torchc_no_targets OBJECT ${CMAKE_BINARY_DIR}/gen/NoTargets.c ${CMAKE_SOURCE_DIR}/compiler/link/NoLto.cpp)
target_link_libraries(torchc_no_targets PRIVATE torchc_llvm_headers)

# For every executable that links torchc_lld.
function(torchc_static_llvm name)
  if(TORCHC_STATIC_LLVM)
    target_sources(${name} PRIVATE $<TARGET_OBJECTS:torchc_no_targets>)
  endif()
endfunction()

# For one that is shipped: not position independent (starts 3 ms sooner), stripped.
# Sanitized builds keep the shared libraries.
function(torchc_static_tool name)
  if(TORCHC_SANITIZE)
    return()
  endif()
  set_target_properties(${name} PROPERTIES TORCHC_STATIC ON)
  target_sources(${name} PRIVATE $<TARGET_OBJECTS:torchc_no_targets> ${CMAKE_SOURCE_DIR}/compiler/link/Compat.c)
  target_link_options(${name} PRIVATE -no-pie -s -static-libstdc++ -static-libgcc -Wl,--gc-sections,-O2)
endfunction()
