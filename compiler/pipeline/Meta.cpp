#include "compiler/pipeline/Meta.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace llvm;

namespace torchc::compiler {

static json::Array list(const Dims &dims) {
  json::Array out;
  for (int64_t d : dims)
    out.push_back(d);
  return out;
}

/// Products by what their scratch memory depends on: [dtype, m, n, k, A row, A k, B k, B column, C row, start].
static json::Array productList(const schedule::Plan &plan) {
  json::Array out;
  plan.eachStep([&](const schedule::Step &s) {
    if (s.callee == "torchc_gemm")
      out.push_back(json::Array{StringRef(shortName(DType(s.scalars[0]))), s.sizes[1], s.sizes[2], s.sizes[3],
                                s.sizes[5], s.sizes[6], s.sizes[8], s.sizes[9], s.sizes[11], s.sizes[12]});
  });
  return out;
}

/// Convolutions: [dtype, what is computed, the fields of ConvGeometry].
static json::Array convolutionList(const schedule::Plan &plan) {
  json::Array out;
  plan.eachStep([&](const schedule::Step &s) {
    if (s.callee != "torchc_conv")
      return;
    json::Array one{StringRef(shortName(DType(s.scalars[0]))), int64_t(s.scalars[1])};
    for (int64_t v : s.sizes)
      one.push_back(v);
    out.push_back(std::move(one));
  });
  return out;
}

std::string metaJson(const Trace &trace, const Imported &imported, const Compiled &compiled) {
  json::Array results, writes, inputs, contents;
  size_t fresh = 0;
  auto addResult = [&](int64_t storage) {
    const Slot &t = compiled.results[fresh++];
    json::Object result{{"storage", storage}, {"dtype", StringRef(shortName(t.dtype))}, {"dims", list(t.dims)}};
    if (t.of >= 0)
      result["gradient"] = t.of;
    results.push_back(std::move(result));
  };
  for (const ImportedResult &r : imported.results) {
    contents.push_back(int64_t(r.storage));
    if (r.input < 0)
      addResult(r.storage);
    else
      writes.push_back(json::Object{{"storage", int64_t(r.storage)}, {"input", int64_t(r.input)}});
  }
  while (fresh < compiled.results.size())
    addResult(-1);
  for (auto [i, t] : enumerate(compiled.arguments)) {
    json::Object in{{"dtype", StringRef(shortName(t.dtype))}, {"dims", list(t.dims)}};
    if (t.of >= 0)
      in["cotangent"] = t.of;
    if (i < trace.inputs.size())
      if (auto s = trace.stridesOf(trace.values[trace.inputs[i].value]); !s.empty()) {
        json::Array strides;
        for (TraceDim d : s)
          strides.push_back(d.raw);
        in["strides"] = std::move(strides);
      }
    inputs.push_back(std::move(in));
  }
  bool loops = false;
  compiled.plan.eachStep([&](const schedule::Step &s) { loops |= s.control == schedule::Control::Loop; });
  json::Object meta{{"version", 1},
                    {"loops", loops},
                    {"entry", "torchc_entry"},
                    {"arena", compiled.plan.arenaBytes},
                    {"symbols", int64_t(compiled.plan.symbols.size())},
                    {"steps", int64_t(compiled.plan.steps.size())},
                    {"results", std::move(results)},
                    {"writes", std::move(writes)},
                    {"contents", std::move(contents)},
                    {"inputs", std::move(inputs)},
                    {"products", productList(compiled.plan)},
                    {"convolutions", convolutionList(compiled.plan)}};
  return formatv("{0}", json::Value(std::move(meta)));
}

void addMetaSection(Module &module, StringRef bytes) {
  LLVMContext &c = module.getContext();
  Constant *text = ConstantDataArray::getString(c, bytes, /*AddNull=*/false);
  auto *global = new GlobalVariable(module, text->getType(), true, GlobalValue::PrivateLinkage, text, "torchc.meta");
  global->setSection(".torchc.meta");
  global->setAlignment(Align(1));
  global->setMetadata(LLVMContext::MD_exclude, MDNode::get(c, {})); // not loaded
  appendToCompilerUsed(module, {global});
}

} // namespace torchc::compiler
