# Recording and re-trace over the eager API; compiled code too once the target torchc is built (tests skip before).
if(TARGET torchc_runtime_pack AND TARGET torchc_jit)
  torchc_unit_test(jit-core-test
    SOURCES JitCoreTest.cpp JitControlTest.cpp JitRecordingTest.cpp JitSizesTest.cpp
    LIBS torchc_jit torchc_runtime_pack)
  if(TARGET torchc)
    target_compile_definitions(jit-core-test PRIVATE COMPILER="$<TARGET_FILE:torchc>")
  endif()
endif()
