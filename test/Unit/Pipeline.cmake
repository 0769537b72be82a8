# Traces compiled in process, loaded and run.
torchc_unit_test(torchc-unit-pipeline
  SOURCES PipelineTest.cpp PipelineTrustTest.cpp
  LIBS TorchcPipeline torchc_runtime torchc_rules torchc_runtime_pack torchc_mlir)
# What a trace from a file goes through; the library it belongs to brings the linker.
target_sources(torchc-unit-pipeline PRIVATE ${CMAKE_SOURCE_DIR}/compiler/api/CompileTrace.cpp)
target_compile_options(torchc-unit-pipeline PRIVATE -fno-rtti)
