# Whole programs ahead of time, against the JIT.
torchc_unit_test(artefact-network-test
  SOURCES ArtefactNetworkTest.cpp
  LIBS TorchcCompiler torchc_artefact_program torchc_runtime torchc_runtime_pack torchc_mlir)
add_dependencies(artefact-network-test torchc torchc-opt)
target_compile_options(artefact-network-test PRIVATE -fno-rtti)
target_compile_definitions(artefact-network-test PRIVATE TORCHC_TOY_DIR="" TORCHC_BIN="$<TARGET_FILE:torchc>" TORCHC_OPT="$<TARGET_FILE:torchc-opt>"
  TORCHC_INCLUDE_DIR="${CMAKE_SOURCE_DIR}/runtime/include" TORCHC_TEST_CC="${CMAKE_C_COMPILER}")
torchc_static_llvm(artefact-network-test)
