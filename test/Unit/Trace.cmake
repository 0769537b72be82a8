torchc_unit_test(trace-test
  SOURCES TraceTest.cpp TraceFileTest.cpp TraceArchiveTest.cpp
  LIBS torchc_rules)

option(TORCHC_FUZZERS "Build the libFuzzer targets" OFF)
# Fuzzing of the readers: cmake -DTORCHC_FUZZERS=ON, then fuzz-trace CORPUS.
if(TORCHC_FUZZERS)
  add_executable(fuzz-trace ${CMAKE_CURRENT_SOURCE_DIR}/Unit/TraceFuzz.cpp)
  target_link_libraries(fuzz-trace PRIVATE torchc_rules)
  target_compile_options(fuzz-trace PRIVATE -fsanitize=fuzzer)
  target_link_options(fuzz-trace PRIVATE -fsanitize=fuzzer)
endif()
