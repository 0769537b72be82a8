// Lays a model's description out as the C structures of torchc/runtime.h. That header and LP64 are
// the same for every target, so the structures are filled in here and their pointers become
// relocations.
#include "compiler/link/Model.h"
#include "torchc/runtime.h"
#include "llvm/BinaryFormat/ELF.h"

using namespace llvm;
namespace torchc::link {
namespace {

class Builder {
public:
  Builder(const Model &model, Form form) : m(model), form(form), w(model.arch) {
    rodata = w.section(".rodata.torchc", ELF::SHF_ALLOC, 64);
    data = w.section(".data.rel.ro.torchc", ELF::SHF_ALLOC | ELF::SHF_WRITE, 64);
    signature = w.section(".torchc.signature", ELF::SHF_ALLOC, 1);
    text = w.section(".text.torchc", ELF::SHF_ALLOC | ELF::SHF_EXECINSTR, 16);
  }

  std::string build() {
    addDesc();
    addTable();
    addFunction();
    return w.finish();
  }

private:
  template <class T> uint64_t place(unsigned section, const T &value, uint64_t align = alignof(T)) {
    return w.append(section, StringRef(reinterpret_cast<const char *>(&value), sizeof value), align);
  }
  uint64_t string(StringRef s) {
    uint64_t at = w.append(rodata, s);
    w.bytes(rodata) += '\0';
    return at;
  }
  uint64_t numbers(ArrayRef<int64_t> list) {
    return w.append(rodata, StringRef(reinterpret_cast<const char *>(list.data()), 8 * list.size()), 8);
  }
  /// An array of pointers into .rodata; its offset in the data section.
  uint64_t pointers(ArrayRef<uint64_t> targets) {
    uint64_t at = w.append(data, std::string(8 * targets.size(), 0), 8);
    for (unsigned i = 0; i < targets.size(); ++i)
      w.pointer(data, at + 8 * i, rodata, targets[i]);
    return at;
  }
  uint64_t strings(ArrayRef<std::string> list) {
    std::vector<uint64_t> at;
    for (const std::string &s : list)
      at.push_back(string(s));
    return pointers(at);
  }

  uint64_t tensors(ArrayRef<TensorDesc> list) {
    uint64_t at = w.append(data, std::string(sizeof(torchc_io_desc) * list.size(), 0), 8);
    for (unsigned i = 0; i < list.size(); ++i) {
      uint64_t here = at + i * sizeof(torchc_io_desc);
      torchc_io_desc d{nullptr, nullptr, uint32_t(list[i].dtype), uint32_t(list[i].dims.size())};
      memcpy(&w.bytes(data)[here], &d, sizeof d);
      w.pointer(data, here + offsetof(torchc_io_desc, name), rodata, string(list[i].name));
      w.pointer(data, here + offsetof(torchc_io_desc, dims), rodata, numbers(list[i].dims));
    }
    return at;
  }

  uint64_t buffers(ArrayRef<std::string> list) {
    std::vector<uint64_t> at;
    for (const std::string &s : list)
      at.push_back(w.append(rodata, s, 64));
    return pointers(at);
  }

  uint64_t tests() {
    std::vector<std::array<uint64_t, 3>> parts;
    for (const SelfTest &t : m.tests)
      parts.push_back({buffers(t.inputs), buffers(t.outputs), numbers(t.symbols)});
    uint64_t at = w.append(data, std::string(sizeof(torchc_selftest_desc) * parts.size(), 0), 8);
    for (unsigned i = 0; i < parts.size(); ++i) {
      uint64_t here = at + i * sizeof(torchc_selftest_desc);
      w.pointer(data, here + offsetof(torchc_selftest_desc, inputs), data, parts[i][0]);
      w.pointer(data, here + offsetof(torchc_selftest_desc, outputs), data, parts[i][1]);
      w.pointer(data, here + offsetof(torchc_selftest_desc, symbols), rodata, parts[i][2]);
    }
    return at;
  }

  uint64_t products() {
    uint64_t at = w.append(data, std::string(sizeof(torchc_product_desc) * m.products.size(), 0), 8);
    for (unsigned i = 0; i < m.products.size(); ++i) {
      const Product &p = m.products[i];
      uint64_t here = at + i * sizeof(torchc_product_desc);
      torchc_product_desc d{};
      d.dtype = uint32_t(p.dtype);
      d.columns = p.columns;
      memcpy(&w.bytes(data)[here], &d, sizeof d);
      auto function = [&](size_t field, const std::string &name) {
        if (!name.empty())
          w.pointerToSymbol(data, here + field, w.undefined(name));
      };
      function(offsetof(torchc_product_desc, strided), p.strided);
      function(offsetof(torchc_product_desc, packed), p.packed);
      function(offsetof(torchc_product_desc, wide), p.wide);
      function(offsetof(torchc_product_desc, copy), p.copy);
      function(offsetof(torchc_product_desc, turn), p.turn);
      function(offsetof(torchc_product_desc, rows), "torchc_gemm_rows_" + std::to_string(itemSize(p.dtype)));
    }
    return at;
  }

  uint64_t convolutions() {
    uint64_t at = w.append(data, std::string(sizeof(torchc_conv_desc) * m.convolutions.size(), 0), 8);
    for (unsigned i = 0; i < m.convolutions.size(); ++i) {
      const Convolution &c = m.convolutions[i];
      uint64_t here = at + i * sizeof(torchc_conv_desc);
      torchc_conv_desc d{};
      d.dtype = uint32_t(c.dtype);
      d.rows = c.rows;
      d.columns = c.columns;
      memcpy(&w.bytes(data)[here], &d, sizeof d);
      auto function = [&](size_t field, const std::string &name) {
        w.pointerToSymbol(data, here + field, w.undefined(name));
      };
      function(offsetof(torchc_conv_desc, shared), c.shared);
      function(offsetof(torchc_conv_desc, lanes), c.lanes);
      function(offsetof(torchc_conv_desc, stepped), c.stepped);
      function(offsetof(torchc_conv_desc, turn), c.turn);
      function(offsetof(torchc_conv_desc, run), "torchc_conv_run_" + std::to_string(itemSize(c.dtype)));
    }
    return at;
  }

  uint64_t weightList(ArrayRef<uint64_t> offsets) {
    uint64_t first = w.append(rodata, "", 8);
    for (unsigned i = 0; i < m.weights.size(); ++i)
      place(rodata, torchc_weight_desc{offsets[i], m.weights[i].size()});
    return first;
  }

  /// 32-bit numbers: as given, or counting up from `first`.
  uint64_t slots(ArrayRef<uint32_t> given, uint32_t first, size_t count) {
    std::vector<uint32_t> list(given);
    while (list.size() < count)
      list.push_back(first + uint32_t(list.size()));
    return w.append(rodata, StringRef(reinterpret_cast<const char *>(list.data()), 4 * list.size()), 4);
  }

  /// The weights as a section of their own: read only, page aligned. Above 1 GiB it is marked
  /// large, so that the linker keeps it out of the reach of 32-bit relocations.
  unsigned weightsSection(ArrayRef<uint64_t> offsets) {
    uint64_t flags = ELF::SHF_ALLOC;
    if (m.arch == Arch::X86_64 && offsets.back() > (1u << 30))
      flags |= ELF::SHF_X86_64_LARGE;
    unsigned s = w.section(".torchc.weights", flags, 4096);
    std::string &bytes = w.bytes(s);
    bytes.reserve(offsets.back());
    for (unsigned i = 0; i < m.weights.size(); ++i) {
      bytes.resize(offsets[i]);
      bytes += m.weights[i];
    }
    bytes.resize(offsets.back());
    return s;
  }

  void addDesc() {
    std::vector<uint64_t> offsets = weightOffsets(m);
    torchc_model_desc d{};
    d.weights_bytes = offsets.back();
    d.arena_bytes = m.arenaBytes;
    d.weight_count = m.weights.size();
    d.trap_count = m.traps.size();
    d.product_count = m.products.size();
    d.conv_count = m.convolutions.size();
    d.scratch_bytes = m.scratchBytes;
    static_assert(TORCHC_ISA_V3 == unsigned(Isa::V3) && TORCHC_ISA_V4 == unsigned(Isa::V4));
    d.isa = uint32_t(m.isa);
    bool section = form == Form::Relocatable && m.place == WeightsPlace::Auto;
    d.weights_place = !d.weights_bytes                    ? TORCHC_WEIGHTS_NONE
                      : m.place == WeightsPlace::External ? TORCHC_WEIGHTS_FILE
                      : section                           ? TORCHC_WEIGHTS_SECTION
                                                          : TORCHC_WEIGHTS_SEGMENT;
    uint64_t trapsAt = strings(m.traps), testsAt = tests(), listAt = weightList(offsets);
    uint64_t productsAt = products(), convolutionsAt = convolutions();
    uint64_t inputSlots = slots(m.inputSlots, 0, m.inputs.size());
    uint64_t weightSlots = slots(m.weightSlots, m.inputs.size(), m.weights.size());
    uint64_t at = place(data, d);
    w.pointerToSymbol(data, at + offsetof(torchc_model_desc, entry), w.undefined(m.entry));
    if (!m.arenaFunction.empty())
      w.pointerToSymbol(data, at + offsetof(torchc_model_desc, arena_size), w.undefined(m.arenaFunction));
    w.pointer(data, at + offsetof(torchc_model_desc, input_slots), rodata, inputSlots);
    w.pointer(data, at + offsetof(torchc_model_desc, weight_slots), rodata, weightSlots);
    w.pointer(data, at + offsetof(torchc_model_desc, weight_list), rodata, listAt);
    w.pointer(data, at + offsetof(torchc_model_desc, traps), data, trapsAt);
    w.pointer(data, at + offsetof(torchc_model_desc, tests), data, testsAt);
    w.pointer(data, at + offsetof(torchc_model_desc, products), data, productsAt);
    w.pointer(data, at + offsetof(torchc_model_desc, convolutions), data, convolutionsAt);
    if (d.weights_place == TORCHC_WEIGHTS_SECTION)
      w.pointer(data, at + offsetof(torchc_model_desc, weights), weightsSection(offsets), 0);
    w.define("torchc_desc", data, at, sizeof d, false, Visibility::Hidden);
  }

  void addTable() {
    torchc_model_table t{};
    t.abi = TORCHC_MODEL_ABI;
    t.bytes = sizeof t;
    t.input_count = m.inputs.size();
    t.output_count = m.outputs.size();
    t.symbol_count = m.symbols.size();
    t.test_count = m.tests.size();
    uint64_t nameAt = string(m.name), ins = tensors(m.inputs), outs = tensors(m.outputs), syms = strings(m.symbols);
    std::string written;
    for (const TensorDesc &t : m.inputs)
      written += char(t.written);
    uint64_t writtenAt = w.append(rodata, written);
    w.append(signature, signatureJson(m) + '\0');
    uint64_t at = place(data, t);
    w.pointer(data, at + offsetof(torchc_model_table, name), rodata, nameAt);
    w.pointer(data, at + offsetof(torchc_model_table, signature_json), signature, 0);
    w.pointer(data, at + offsetof(torchc_model_table, inputs), data, ins);
    w.pointer(data, at + offsetof(torchc_model_table, outputs), data, outs);
    w.pointer(data, at + offsetof(torchc_model_table, symbols), data, syms);
    w.pointer(data, at + offsetof(torchc_model_table, written), rodata, writtenAt);
    auto function = [&](size_t field, const char *name) { w.pointerToSymbol(data, at + field, w.undefined(name)); };
    function(offsetof(torchc_model_table, create), "torchc_rt_create");
    function(offsetof(torchc_model_table, run), "torchc_rt_run");
    function(offsetof(torchc_model_table, message), "torchc_rt_message");
    function(offsetof(torchc_model_table, destroy), "torchc_rt_destroy");
    function(offsetof(torchc_model_table, self_test), "torchc_rt_self_test");
    w.define("torchc_table", data, at, sizeof t, false, Visibility::Hidden);
  }

  /// torchc_NAME_model: a landing pad and a jump to the runtime's function.
  void addFunction() {
    unsigned target = w.undefined("torchc_rt_model");
    if (m.arch == Arch::X86_64) {
      w.append(text, StringRef("\xf3\x0f\x1e\xfa\xe9\0\0\0\0", 9)); // endbr64; jmp
      w.relocate(text, 5, ELF::R_X86_64_PLT32, target, -4);
    } else {
      w.append(text, StringRef("\x5f\x24\x03\xd5\0\0\0\x14", 8)); // bti c; b
      w.relocate(text, 4, ELF::R_AARCH64_JUMP26, target, 0);
    }
    uint64_t size = w.bytes(text).size();
    w.define("torchc_" + m.name + "_model", text, 0, size, true, Visibility::Default);
    if (form == Form::Shared)
      w.define("torchc_model", text, 0, size, true, Visibility::Default);
  }

  const Model &m;
  Form form;
  ObjectWriter w;
  unsigned rodata, data, signature, text;
};
} // namespace

std::string modelObject(const Model &model, Form form) { return Builder(model, form).build(); }

} // namespace torchc::link
