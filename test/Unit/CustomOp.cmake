if(TARGET torchc_runtime_pack AND TARGET torchc_jit)
  torchc_unit_test(custom-op-test
    SOURCES CustomOpTest.cpp
    LIBS torchc_jit torchc_runtime_pack)
endif()
