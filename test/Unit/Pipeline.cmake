# Traces compiled in process, loaded and run.
torchc_unit_test(torchc-unit-pipeline
  SOURCES PipelineTest.cpp
  LIBS TorchcPipeline torchc_runtime torchc_rules torchc_runtime_pack torchc_mlir)
target_compile_options(torchc-unit-pipeline PRIVATE -fno-rtti)
