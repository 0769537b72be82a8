#include "compiler/api/CompileTrace.h"

bool torchc::compileTrace(const CompileRequest &request, const CompileSink &sink, CompileError &error) {
  return error.fail(ErrorKind::NotImplemented, "compiling a trace is not part of this build");
}
