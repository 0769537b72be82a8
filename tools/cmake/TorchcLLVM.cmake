# What a target needs to use LLVM and MLIR: headers as system headers, one shared library of each in development
# builds (fast links), the static archives in release builds.
add_library(torchc_llvm_headers INTERFACE)
target_include_directories(torchc_llvm_headers SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
target_compile_definitions(torchc_llvm_headers INTERFACE ${LLVM_DEFINITIONS_LIST})
target_compile_options(torchc_llvm_headers INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions>)

add_library(torchc_mlir INTERFACE)
target_link_libraries(torchc_mlir INTERFACE torchc_llvm_headers)
if(NOT TORCHC_STATIC_LLVM)
  target_link_libraries(torchc_mlir INTERFACE MLIR LLVM)
endif()
