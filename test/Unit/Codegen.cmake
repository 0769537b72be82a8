torchc_unit_test(torchc-unit-codegen
  SOURCES CodegenElementwiseTest.cpp CodegenReduceTest.cpp
  LIBS torchc_rules torchc_runtime_pack)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  # The references' std::fma as an instruction; nothing is contracted.
  target_compile_options(torchc-unit-codegen PRIVATE -mfma)
endif()
