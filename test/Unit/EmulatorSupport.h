// Running PTX texts on host memory.
#pragma once
#include "runtime/emulator/Launch.h"
#include <gtest/gtest.h>
#include <string>

namespace torchc::ptx {

/// A kernel `k(pointer p, pointer q)` with the given body.
inline std::string kernelText(const std::string &body, const std::string &shared = "") {
  return ".version 8.0\n.target sm_80\n.address_size 64\n\n.visible .entry k(\n\t.param .u64 .ptr .align 1 k_param_0,\n"
         "\t.param .u64 .ptr .align 1 k_param_1\n)\n{\n" +
         shared +
         "\t.reg .pred %p<9>;\n\t.reg .b32 %r<30>;\n\t.reg .b64 %rd<30>;\n"
         "\tld.param.b64 %rd1, [k_param_0];\n\tld.param.b64 %rd2, [k_param_1];\n"
         "\tmov.u32 %r1, %tid.x;\n\tmov.u32 %r2, %ctaid.x;\n\tmov.u32 %r3, %ntid.x;\n"
         "\tmul.wide.u32 %rd3, %r1, 4;\n\tadd.s64 %rd4, %rd1, %rd3;\n\tadd.s64 %rd5, %rd2, %rd3;\n" +
         body + "\tret;\n}\n";
}

struct Memory {
  alignas(16) uint32_t words[256] = {};
  Blocks blocks;
  explicit Memory(uint64_t bytes = sizeof words) { blocks.add(uint64_t(words), bytes); }
};

/// Both pointers are the memory's.
inline Fault runText(const std::string &text, Memory &memory, unsigned threads, unsigned groups = 1) {
  Module module;
  std::string error;
  if (!parse(text, module, error))
    return {Fault::Unsupported, "parse: " + error};
  const void *p = memory.words;
  const void *parameters[] = {&p, &p};
  Shape shape;
  shape.grid[0] = groups;
  shape.block[0] = threads;
  return launch(module.kernels.find("k")->second, shape, parameters, memory.blocks);
}
inline Fault runBody(const std::string &body, Memory &memory, unsigned threads, unsigned groups = 1,
                     const std::string &shared = "") {
  return runText(kernelText(body, shared), memory, threads, groups);
}

} // namespace torchc::ptx
