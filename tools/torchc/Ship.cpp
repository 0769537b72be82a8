#include "tools/torchc/Ship.h"
#include "compiler/link/Files.h"
#include "compiler/link/FromProgram.h"
#include "compiler/link/Link.h"
#include "compiler/lower/Gemm.h"
#include "compiler/lower/Window.h"
#include "dialects/trace/TraceFile.h"
#include "runtime/kernels/Conv.h"
#include "runtime/kernels/Gemm.h"
#include "tools/torchc/SelfTest.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/Path.h"

using namespace llvm;
namespace torchc {
namespace {

bool readMeta(StringRef object, link::ObjectMeta &meta, Diag &diag) {
  auto file = object::ObjectFile::createObjectFile(MemoryBufferRef(object, "compiled object"));
  if (!file)
    return diag.fail(ErrorKind::Internal, toString(file.takeError()));
  for (const object::SectionRef &s : (*file)->sections()) {
    Expected<StringRef> name = s.getName(), bytes = s.getContents();
    if (name && bytes && *name == ".torchc.meta")
      return link::parseObjectMeta(bytes->rtrim('\0'), meta, diag);
    consumeError(name.takeError());
    consumeError(bytes.takeError());
  }
  return diag.fail(ErrorKind::Internal, "the compiled object has no .torchc.meta");
}

void setTarget(codegen::Isa isa, link::Model &model) {
  model.arch = isa == codegen::Isa::A64 ? link::Arch::AArch64 : link::Arch::X86_64;
  model.isa = isa;
}

std::string traceDigest(const Trace &trace) {
  std::vector<uint8_t> bytes = writeTrace(trace); // its header holds the SHA-256 of the rest
  constexpr size_t digestAt = 16, digestBytes = 32;
  return toHex(ArrayRef<uint8_t>(bytes).slice(digestAt, digestBytes), /*LowerCase=*/true);
}

/// The kernels that products call, type by type, and scratch memory for the largest product.
void setProducts(const link::ObjectMeta &meta, codegen::Isa isa, link::Model &model) {
  const codegen::TargetInfo &target = codegen::targetInfo(isa);
  for (const link::ObjectMeta::Product &p : meta.products) {
    lower::GemmTile tile = lower::gemmTile(target, p.dtype);
    GemmKernels shape{nullptr, nullptr, nullptr, nullptr, nullptr, tile.rows, tile.columns()};
    GemmCall call{p.dtype, p.m,  p.n,       p.k,     nullptr, p.aRow,      p.aK,
                  nullptr, p.bK, p.bColumn, nullptr, p.cRow,  p.start != 0};
    model.scratchBytes = std::max<uint64_t>(model.scratchBytes, gemmScratchBytes(shape, call));
    auto known = find_if(model.products, [&](const link::Product &q) { return q.dtype == p.dtype; });
    if (known == model.products.end())
      known = model.products.insert(known, {p.dtype, tile.columns()});
    std::string stem = "torchc_k_gemm_" + std::string(shortName(p.dtype)), suffix = "_" + target.name.str();
    unsigned used = gemmKernelsOf(shape, call);
    std::string *names[] = {&known->strided, &known->packed, &known->wide, &known->copy, &known->turn};
    const char *variants[] = {"_strided", "_packed", "_wide", "_copy", "_turn"};
    for (unsigned v = 0; v < std::size(names); ++v)
      if (used >> v & 1)
        *names[v] = stem + variants[v] + suffix;
  }
}

/// The same for convolutions.
void setConvolutions(const link::ObjectMeta &meta, codegen::Isa isa, link::Model &model) {
  const codegen::TargetInfo &target = codegen::targetInfo(isa);
  for (const link::ObjectMeta::Convolution &c : meta.convolutions) {
    lower::ConvTile tile = lower::convTile(target, c.dtype);
    ConvKernels shape{nullptr, nullptr, nullptr, nullptr, tile.rows, tile.columns()};
    ConvCall call{c.dtype, c.what, c.geometry, nullptr, nullptr, nullptr};
    model.scratchBytes = std::max<uint64_t>(model.scratchBytes, convScratchBytes(shape, call));
    if (any_of(model.convolutions, [&](const link::Convolution &q) { return q.dtype == c.dtype; }))
      continue;
    std::string type(shortName(c.dtype)), stem = "torchc_k_conv_" + type, suffix = "_" + target.name.str();
    model.convolutions.push_back({c.dtype, tile.rows, tile.columns(), stem + "_shared" + suffix,
                                  stem + "_lanes" + suffix, stem + "_stepped" + suffix,
                                  "torchc_k_gemm_" + type + "_turn" + suffix});
  }
}

/// Writes the C header of an object or archive, which has its name but for the ending.
bool openHeader(const link::Model &model, StringRef output, link::OutputFile &file, Diag &diag) {
  SmallString<128> path(output);
  sys::path::replace_extension(path, "h");
  if (path == output)
    return diag.fail(ErrorKind::Value, "the output's path is that of its header: " + output.str());
  std::string text = link::headerText(model);
  return file.open(path, diag) && file.write(StringRef(text), diag);
}

bool linkAs(StringRef emit, const link::Model &model, const link::Object &object, StringRef path, Diag &diag) {
  auto how = emit == "so"    ? link::linkShared
             : emit == "exe" ? link::linkExecutable
             : emit == "a"   ? link::linkArchive
                             : link::linkRelocatable;
  return how(model, object, path, diag);
}

} // namespace

bool shipProgram(const SavedProgram &program, StringRef object, StringRef hostObject, const ShipOptions &o,
                 Diag &diag) {
  link::ObjectMeta meta;
  link::Model model;
  model.name = o.modelName;
  setTarget(o.isa, model);
  if (!readMeta(object, meta, diag) || !link::modelFromProgram(program, meta, model, diag))
    return false;
  setProducts(meta, o.isa, model);
  setConvolutions(meta, o.isa, model);
  link::ObjectMeta host;
  if (!hostObject.empty() && !readMeta(hostObject, host, diag))
    return false;
  // On the test's inputs, which mean nothing, a loop may never end.
  if (!hostObject.empty() && !host.loops && !addSelfTest(hostObject, host.arenaBytes, model, diag))
    return false;
  model.place = o.externalWeights ? link::WeightsPlace::External : link::WeightsPlace::Auto;
  model.provenance = json::Object{{"compiler", "torchc " TORCHC_VERSION}, {"trace", traceDigest(program.trace)}};
  // What belongs to the artefact is written next to its place before the link and gets its name after it: all or nothing.
  link::OutputFile weights, header;
  bool final = o.emit == "so" || o.emit == "exe";
  if (!link::checkModel(model, diag) ||
      (o.externalWeights && !(weights.open(o.output + ".weights", diag) && link::writeWeights(model, weights, diag))))
    return false;
  if (!final && !openHeader(model, o.output, header, diag))
    return false;
  return linkAs(o.emit, model, {"compiled graph", object}, o.output, diag) &&
         (!o.externalWeights || weights.commit(false, diag)) && (final || header.commit(false, diag));
}

} // namespace torchc
