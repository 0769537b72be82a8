#include "OpModel.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/TableGen/Error.h"
#include <bit>
#include <cstdlib>

using namespace llvm;

namespace torchc::tblgen {

bool ApiModel::has(StringRef kind) const { return is_contained(kinds, kind.str()); }
bool OpModel::hasFlag(StringRef f) const { return is_contained(flags, f.str()); }
const OpModel *Table::find(StringRef name) const {
  for (const OpModel &op : ops)
    if (op.name == name)
      return &op;
  return nullptr;
}

namespace {

std::vector<std::string> strings(const Record *r, StringRef field) {
  std::vector<std::string> out;
  for (StringRef s : r->getValueAsListOfStrings(field))
    out.push_back(s.str());
  return out;
}

/// Turns one list of statements into nodes. Equal leaves are shared so that the oracle and the kernels see few nodes.
class BodyBuilder {
public:
  BodyBuilder(const OpModel &op, std::vector<BodyNode> &nodes) : op(op), nodes(nodes) {}

  void statement(const DagInit *dag) {
    int v = expr(dag);
    if (StringRef name = dag->getNameStr(); !name.empty())
      names[name] = v;
    result = v;
  }
  /// The result must be the last node.
  void finish() {
    if (result != int(nodes.size()) - 1)
      nodes.push_back(nodes[result]);
  }

private:
  int leaf(StringRef kind, uint64_t bits) {
    for (auto [i, n] : enumerate(nodes))
      if (n.op == kind && n.bits == bits && n.args[0] < 0)
        return int(i);
    BodyNode n;
    n.op = kind.str();
    n.bits = bits;
    nodes.push_back(n);
    return int(nodes.size()) - 1;
  }
  int reference(StringRef name) {
    if (auto it = names.find(name); it != names.end())
      return it->second;
    for (auto [i, o] : enumerate(op.operands))
      if (o == name)
        return leaf("Arg", i);
    PrintFatalError(op.record, "body of '" + op.name + "' names '$" + name +
                                   "', which is neither an operand nor an earlier statement");
  }
  int expr(const DagInit *dag) {
    const auto *def = dyn_cast<DefInit>(dag->getOperator());
    if (!def || !def->getDef()->isSubClassOf("BodyOp"))
      PrintFatalError(op.record,
                      "body of '" + op.name + "': '" + dag->getOperator()->getAsString() + "' is not a body operator");
    StringRef kind = def->getDef()->getValueAsString("cppName");
    if (kind == "Index")
      return leaf(kind, 0);
    if (kind == "Const" || kind == "Bits" || kind == "ConstI" || kind == "Arg")
      return leaf(kind, literal(kind, dag));
    BodyNode n;
    n.op = kind.str();
    if (dag->getNumArgs() < 1 || dag->getNumArgs() > 3)
      PrintFatalError(op.record, "body of '" + op.name + "': " + kind + " has 1 to 3 operands");
    for (unsigned i = 0; i < dag->getNumArgs(); i++) {
      const Init *arg = dag->getArg(i);
      if (const auto *inner = dyn_cast<DagInit>(arg)) {
        n.args[i] = expr(inner);
        if (StringRef name = inner->getNameStr(); !name.empty())
          names[name] = n.args[i];
      } else {
        n.args[i] = reference(dag->getArgNameStr(i));
      }
    }
    nodes.push_back(n);
    return int(nodes.size()) - 1;
  }
  uint64_t literal(StringRef kind, const DagInit *dag) {
    const Init *arg = dag->getNumArgs() == 1 ? dag->getArg(0) : nullptr;
    if (kind == "Const") {
      if (const auto *s = dyn_cast_or_null<StringInit>(arg)) {
        std::string text = s->getValue().str();
        char *end = nullptr;
        double v = std::strtod(text.c_str(), &end);
        if (end != text.c_str() && !*end)
          return std::bit_cast<uint64_t>(v);
      }
    } else if (const auto *n = dyn_cast_or_null<IntInit>(arg)) {
      return uint64_t(n->getValue());
    }
    PrintFatalError(op.record, "body of '" + op.name + "': " + kind + " takes one literal");
  }

  const OpModel &op;
  std::vector<BodyNode> &nodes;
  StringMap<int> names;
  int result = -1;
};

void readBodies(OpModel &op) {
  const char *fields[NumBodies] = {"scalarF32", "scalarF64", "scalarInt", "scalarBool"};
  for (int k = 0; k < NumBodies; k++) {
    const ListInit *body = op.record->getValueAsListInit(fields[k]);
    if (body->empty())
      body = op.record->getValueAsListInit("scalar");
    // A body of float ops only has no integer meaning: those ops promote to float before they run.
    if (body->empty() || (k >= Int && op.promote == "Float"))
      continue;
    BodyBuilder builder(op, op.bodies[k]);
    for (const Init *statement : *body)
      builder.statement(cast<DagInit>(statement));
    builder.finish();
  }
}

void collectSaves(const OpModel &op, const DagInit *dag, uint32_t &mask) {
  for (unsigned i = 0; i < dag->getNumArgs(); i++) {
    if (const auto *inner = dyn_cast<DagInit>(dag->getArg(i))) {
      collectSaves(op, inner, mask);
      continue;
    }
    StringRef name = dag->getArgNameStr(i);
    if (name == "result")
      mask |= 1u << 15;
    for (auto [k, o] : enumerate(op.operands))
      if (o == name)
        mask |= 1u << k;
  }
}

bool isNone(const DagInit *dag) { return dag->getOperator()->getAsString() == "none"; }

void readVjp(OpModel &op) {
  op.saves.assign(op.operands.size(), 0);
  op.vjpFn = op.record->getValueAsString("vjpFn").str();
  if (!op.vjpFn.empty()) {
    uint32_t mask = 0;
    for (const std::string &s : strings(op.record, "vjpSaves")) {
      if (s == "result")
        mask |= 1u << 15;
      for (auto [k, o] : enumerate(op.operands))
        if (o == s)
          mask |= 1u << k;
    }
    for (uint32_t &s : op.saves)
      s = mask;
    op.differentiable = (1u << op.operands.size()) - 1;
    for (auto [k, o] : enumerate(op.operands))
      if (o == "index")
        op.differentiable &= ~(1u << k);
    return;
  }
  const ListInit *list = op.record->getValueAsListInit("vjp");
  if (list->empty())
    return;
  if (list->size() != op.operands.size())
    PrintFatalError(op.record, "'" + op.name + "' has " + Twine(op.operands.size()) + " operands but " +
                                   Twine(list->size()) + " vjp dags");
  for (auto [k, init] : enumerate(*list)) {
    const auto *dag = cast<DagInit>(init);
    op.vjp.push_back(dag);
    if (isNone(dag))
      continue;
    op.differentiable |= 1u << k;
    collectSaves(op, dag, op.saves[k]);
  }
}

std::string attrTag(const OpModel &op, StringRef constraint) {
  return StringSwitch<std::string>(constraint)
      .Case("I64Attr", "Int")
      .Case("F64Attr", "Float")
      .Case("BoolAttr", "Bool")
      .Case("StrAttr", "Str")
      .Case("TypeAttr", "DType")
      .Case("DenseI64ArrayAttr", "IntList")
      .Case("AnyAttr", "None")
      .Default("");
}

void readArguments(OpModel &op) {
  const DagInit *args = op.record->getValueAsDag("arguments");
  for (unsigned i = 0; i < args->getNumArgs(); i++) {
    const Record *def = cast<DefInit>(args->getArg(i))->getDef();
    std::string name = args->getArgNameStr(i).str();
    if (!def->isSubClassOf("Attr")) {
      op.operands.push_back(name);
      continue;
    }
    std::string tag = attrTag(op, def->getName());
    if (tag.empty())
      PrintFatalError(op.record, "'" + op.name + "': attribute kind " + def->getName() + " is not known");
    op.attrs.push_back({name, tag});
  }
  if (op.operands.size() > 5)
    PrintFatalError(op.record, "'" + op.name + "' has more than 5 operands");
}

std::vector<ApiModel> readApi(const Record *r) {
  std::vector<ApiModel> out;
  for (const Record *a : r->getValueAsListOfDefs("api")) {
    ApiModel m = parseSchema(r, a->getValueAsString("schema"));
    m.kinds = strings(a, "kinds");
    for (std::string &kind : m.kinds)
      if (StringRef k = kind; k.consume_back("Copy") || k.consume_back("Same")) {
        m.copiesOut = true;
        m.sameOut = StringRef(kind).ends_with("Same");
        kind = k.str();
      }
    m.impl = a->getValueAsString("impl").str();
    out.push_back(std::move(m));
  }
  return out;
}

/// What a docstring says of dtypes, shapes and gradients: "\nshapes: ...".
std::string notesOf(const OpModel &op) {
  std::string out, grads;
  for (const char *field : {"promote", "shape"})
    if (StringRef text = op.record->getValueAsDef(field)->getValueAsString("doc"); !text.empty())
      out += "\n" + text.str();
  for (auto [i, name] : enumerate(op.operands))
    if (op.differentiable >> i & 1)
      grads += (grads.empty() ? "" : ", ") + name;
  return out + "\ngradients: " + (grads.empty() ? "none" : op.operands.size() == 1 ? "yes" : "of " + grads) + ".";
}

OpModel readOp(const Record *r) {
  OpModel op;
  op.record = r;
  StringRef ident = r->getName();
  ident.consume_front("Torchc_");
  ident.consume_back("Op");
  op.ident = ident.str();
  op.name = r->getValueAsString("opName").str();
  op.summary = r->getValueAsString("summary").str();
  op.family = r->getValueAsDef("family")->getValueAsString("cppName").str();
  op.promote = r->getValueAsDef("promote")->getValueAsString("cppName").str();
  op.shape = r->getValueAsDef("shape")->getValueAsString("cppName").str();
  op.complex = r->getValueAsString("complex").str();
  op.decompose = r->getValueAsString("decompose").str();
  op.gradName = r->getValueAsString("gradName").str();
  op.flags = strings(r, "flags");
  op.onnx = strings(r, "onnx");
  readArguments(op);
  readBodies(op);
  readVjp(op);
  op.api = readApi(r);
  op.notes = notesOf(op);
  for (ApiModel &a : op.api)
    a.doc = op.summary + op.notes;
  return op;
}

/// TableGen hands definitions out by name; the table's order is the order in the files.
std::vector<const Record *> inFileOrder(ArrayRef<const Record *> defs) {
  std::vector<const Record *> out(defs.begin(), defs.end());
  sort(out, [](const Record *a, const Record *b) { return a->getID() < b->getID(); });
  return out;
}

} // namespace

static void markShadowed(Table &t) {
  std::vector<ApiModel *> all;
  for (OpModel &op : t.ops)
    for (ApiModel &a : op.api)
      all.push_back(&a);
  for (ApiModel &a : t.composites)
    all.push_back(&a);
  for (ApiModel *a : all)
    a->shadowed = !a->impl.empty() && !a->has("function") && any_of(all, [&](const ApiModel *b) {
      return b->has("function") && b->name == a->name && b->params.size() == a->params.size() && !a->params.empty() &&
             b->params[0].type == a->params[0].type;
    });
}

Table readTable(const RecordKeeper &records) {
  Table t;
  for (const Record *r : inFileOrder(records.getAllDerivedDefinitions("Torchc_Op")))
    t.ops.push_back(readOp(r));
  for (const Record *r : inFileOrder(records.getAllDerivedDefinitions("Composite")))
    for (ApiModel &m : readApi(r)) {
      m.doc = r->getValueAsString("summary").str();
      t.composites.push_back(std::move(m));
    }
  markShadowed(t);
  return t;
}

} // namespace torchc::tblgen
