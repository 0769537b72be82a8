#include "compiler/schedule/Unite.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/OperationSupport.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace torchc::schedule {
namespace {

using Equivalence = OperationEquivalence;
constexpr auto flags = Equivalence::IgnoreLocations;

llvm::hash_code hashOf(LLVM::LLVMFuncOp f) {
  llvm::hash_code hash = hash_value(f.getFunctionType());
  f.getBody().walk([&](Operation *op) {
    hash = llvm::hash_combine(
        hash, Equivalence::computeHash(op, Equivalence::ignoreHashValue, Equivalence::ignoreHashValue, flags));
  });
  return hash;
}

bool same(LLVM::LLVMFuncOp a, LLVM::LLVMFuncOp b) {
  NamedAttrList x(a->getAttrs()), y(b->getAttrs());
  x.erase(a.getSymNameAttrName());
  y.erase(b.getSymNameAttrName());
  return x == y && Equivalence::isRegionEquivalentTo(&a.getBody(), &b.getBody(), flags);
}

void rename(Plan &plan, const llvm::StringMap<StringRef> &names) {
  for (Step &s : plan.steps)
    if (auto it = names.find(s.callee); it != names.end())
      s.callee = it->second.str();
  for (Plan &nested : plan.nested)
    rename(nested, names);
}

} // namespace

void uniteKernels(ModuleOp module, Plan &plan) {
  llvm::StringMap<char> called; // by steps alone: other functions keep their names
  plan.eachStep([&](const Step &s) {
    if (!s.external && s.control == Control::None)
      called.try_emplace(s.callee);
  });
  llvm::DenseMap<llvm::hash_code, SmallVector<LLVM::LLVMFuncOp, 1>> seen;
  llvm::StringMap<StringRef> names;
  for (auto f : llvm::make_early_inc_range(module.getOps<LLVM::LLVMFuncOp>())) {
    if (f.isExternal() || !called.contains(f.getName()))
      continue;
    SmallVector<LLVM::LLVMFuncOp, 1> &list = seen[hashOf(f)];
    auto first = llvm::find_if(list, [&](LLVM::LLVMFuncOp other) { return same(other, f); });
    if (first == list.end()) {
      list.push_back(f);
      continue;
    }
    names[f.getName()] = first->getName();
    f.erase();
  }
  rename(plan, names);
}

} // namespace torchc::schedule
