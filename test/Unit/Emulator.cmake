# The PTX interpreter, on texts of its own and on the pack's.
torchc_unit_test(emulator-test SOURCES EmulatorTest.cpp EmulatorFaultTest.cpp LIBS torchc_ptx torchc_runtime torchc_runtime_pack torchc_rules)
torchc_unit_test(cuda-allocator-test SOURCES CudaAllocatorTest.cpp LIBS torchc_runtime torchc_runtime_pack torchc_rules)
target_compile_definitions(cuda-allocator-test PRIVATE TORCHC_EMULATOR="$<TARGET_FILE:torchc_ptx_emulator>")
add_dependencies(cuda-allocator-test torchc_ptx_emulator)

# The table of entry points against the real header, where the toolkit is.
find_path(TORCHC_CUDA_INCLUDE cuda.h PATHS /usr/local/cuda/include /usr/local/cuda-13.0/include NO_DEFAULT_PATH)
if(TORCHC_CUDA_INCLUDE)
  torchc_unit_test(cuda-entries-test SOURCES CudaEntriesTest.cpp LIBS)
  target_include_directories(cuda-entries-test SYSTEM PRIVATE ${TORCHC_CUDA_INCLUDE})
endif()
