# Eager tensors and the tape need the kernel pack.
if(TARGET torchc_runtime_pack AND TARGET torchc_frontend)
  torchc_unit_test(torchc-unit-eager
    SOURCES EagerTest.cpp EagerTapeTest.cpp
    LIBS torchc_frontend torchc_runtime_pack)
  add_executable(torchc-bench-eager-cpp EXCLUDE_FROM_ALL ${CMAKE_CURRENT_SOURCE_DIR}/Bench/EagerBench.cpp)
  target_link_libraries(torchc-bench-eager-cpp PRIVATE torchc_frontend torchc_runtime_pack)
endif()
