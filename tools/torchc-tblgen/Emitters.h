// One emitter per file; each writes one generated file from the table.
#pragma once
#include "OpModel.h"
#include "llvm/Support/raw_ostream.h"

namespace torchc::tblgen {

void emitOpIds(const Table &table, llvm::raw_ostream &os);
void emitOpInfo(const Table &table, llvm::raw_ostream &os);
void emitBodiesJson(const Table &table, llvm::raw_ostream &os);
void emitVjp(const Table &table, llvm::raw_ostream &os);
void emitDecompose(const Table &table, llvm::raw_ostream &os);
void emitComplex(const Table &table, llvm::raw_ostream &os);
void emitApiDecls(const Table &table, llvm::raw_ostream &os);
void emitApiDefs(const Table &table, llvm::raw_ostream &os);
void emitBindings(const Table &table, llvm::raw_ostream &os);
void emitStubs(const Table &table, llvm::raw_ostream &os);
void emitSupport(const Table &table, llvm::raw_ostream &os);
void emitOnnxNames(const Table &table, llvm::raw_ostream &os);

} // namespace torchc::tblgen
