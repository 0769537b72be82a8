# A helper that misbehaves on request.
add_executable(jit-fake-helper ${CMAKE_CURRENT_SOURCE_DIR}/Unit/JitFakeHelper.cpp)
set_target_properties(jit-fake-helper PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/test/unit)

torchc_unit_test(jit-test
  SOURCES JitRecordsTest.cpp JitCacheTest.cpp JitHelperTest.cpp JitHelperDeathTest.cpp
  LIBS torchc_jit_support)
target_compile_definitions(jit-test PRIVATE FAKE_HELPER="$<TARGET_FILE:jit-fake-helper>")
add_dependencies(jit-test jit-fake-helper)
