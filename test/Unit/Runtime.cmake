# The runtime without the kernel pack: tests bring a small pack of their own (RuntimePack.h).

# Objects for the loader's test, made as the compiler makes them: position independent, no unwind tables.
set(runtimeObjects)
foreach(machine x86_64 aarch64)
  set(object ${CMAKE_CURRENT_BINARY_DIR}/loader-${machine}.o)
  add_custom_command(OUTPUT ${object}
    COMMAND ${CMAKE_C_COMPILER} --target=${machine}-linux-gnu -c -O2 -fPIC -ffreestanding -fno-asynchronous-unwind-tables
            -mcmodel=small ${CMAKE_CURRENT_SOURCE_DIR}/Unit/RuntimeLoaderObject.c -o ${object}
    DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/Unit/RuntimeLoaderObject.c VERBATIM)
  list(APPEND runtimeObjects ${object})
endforeach()
add_custom_target(runtime-test-objects DEPENDS ${runtimeObjects})

torchc_unit_test(torchc-unit-runtime
  SOURCES RuntimeMemoryTest.cpp RuntimeThreadPoolTest.cpp RuntimePackTest.cpp RuntimeStridedTest.cpp
          RuntimeIndexTest.cpp RuntimeLoaderTest.cpp
  LIBS torchc_runtime)
target_compile_definitions(torchc-unit-runtime PRIVATE TORCHC_TEST_OBJECTS="${CMAKE_CURRENT_BINARY_DIR}")
add_dependencies(torchc-unit-runtime runtime-test-objects)

# Not a test: prints what allocation and the strided driver cost.
add_executable(torchc-bench-runtime EXCLUDE_FROM_ALL ${CMAKE_CURRENT_SOURCE_DIR}/Bench/RuntimeBench.cpp)
target_link_libraries(torchc-bench-runtime PRIVATE torchc_runtime)
