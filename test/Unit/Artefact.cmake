# The toy kernel is compiled by clang: the test is about linking and the runtime, not about code generation.
set(toyObjects)
foreach(arch x86_64 aarch64)
  add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/test/toy-${arch}.o DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/Unit/Artefact/Toy.c
    COMMAND ${CMAKE_C_COMPILER} --target=${arch}-linux-gnu -O1 -ffreestanding -fPIC -fno-asynchronous-unwind-tables
      -ffp-contract=off -c ${CMAKE_CURRENT_SOURCE_DIR}/Unit/Artefact/Toy.c -o ${CMAKE_BINARY_DIR}/test/toy-${arch}.o)
  list(APPEND toyObjects ${CMAKE_BINARY_DIR}/test/toy-${arch}.o)
endforeach()
add_custom_target(torchc-toy-objects DEPENDS ${toyObjects})
torchc_unit_test(artefact-test
  SOURCES ArtefactTest.cpp ArtefactProgramTest.cpp ArtefactNpyTest.cpp ArtefactCliTest.cpp ArtefactFromProgramTest.cpp
  LIBS TorchcLink torchc_artefact_program)
add_dependencies(artefact-test torchc-toy-objects torchc)
target_compile_definitions(artefact-test PRIVATE TORCHC_TOY_DIR="${CMAKE_BINARY_DIR}/test"
  TORCHC_INCLUDE_DIR="${CMAKE_SOURCE_DIR}/runtime/include" TORCHC_TEST_CC="${CMAKE_C_COMPILER}" TORCHC_BIN="$<TARGET_FILE:torchc>")
torchc_static_llvm(artefact-test)

torchc_unit_test(serve-test SOURCES ServeTest.cpp)
add_dependencies(serve-test torchc)
target_compile_definitions(serve-test PRIVATE TORCHC_BIN="$<TARGET_FILE:torchc>")
