torchc_unit_test(torchc-unit-codegen
  SOURCES CodegenElementwiseTest.cpp CodegenReduceTest.cpp CodegenGemmTest.cpp CodegenRandomTest.cpp StoredTypesTest.cpp
  LIBS torchc_runtime torchc_rules torchc_runtime_pack)
# Compiles kernels itself, so it links the compiler.
torchc_unit_test(torchc-unit-codegen-fused
  SOURCES CodegenFusedTest.cpp
  LIBS TorchcCodegen torchc_runtime torchc_rules torchc_mlir)
target_compile_options(torchc-unit-codegen-fused PRIVATE -fno-rtti)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  # The references' std::fma as an instruction; nothing is contracted.
  target_compile_options(torchc-unit-codegen PRIVATE -mfma)
endif()

add_executable(torchc-bench-kernels EXCLUDE_FROM_ALL ${CMAKE_CURRENT_SOURCE_DIR}/Bench/KernelBench.cpp)
target_link_libraries(torchc-bench-kernels PRIVATE torchc_runtime torchc_rules torchc_runtime_pack)
