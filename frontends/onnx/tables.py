"""Writes OnnxTables.inc from the installed onnx package: field numbers of the protobuf messages, enum values, and the
schema of every version of every operator.

    python3 tables.py OUTPUT
"""

import sys

import onnx
import onnx.defs

DOMAINS = ("", "ai.onnx.ml")
MESSAGES = [
    onnx.ModelProto, onnx.GraphProto, onnx.NodeProto, onnx.AttributeProto, onnx.TensorProto, onnx.ValueInfoProto,
    onnx.TypeProto, onnx.TypeProto.Tensor, onnx.TypeProto.Sequence, onnx.TypeProto.Optional, onnx.TensorShapeProto,
    onnx.TensorShapeProto.Dimension, onnx.OperatorSetIdProto, onnx.StringStringEntryProto, onnx.FunctionProto,
    onnx.SparseTensorProto,
]  # fmt: skip
ENUMS = [onnx.TensorProto.DataType, onnx.AttributeProto.AttributeType]
UNLIMITED = 2**31 - 1


class Pool:
    """Strings, each once; a string is its offset."""

    def __init__(self) -> None:
        self.offsets: dict[str, int] = {}
        self.size = 0

    def __call__(self, text: str) -> int:
        if text not in self.offsets:
            self.offsets[text] = self.size
            self.size += len(text.encode()) + 1
        return self.offsets[text]


def fields(out) -> None:
    for message in MESSAGES:
        name = message.DESCRIPTOR.full_name.removeprefix("onnx.").replace(".", "_")
        members = " ".join(f"{f.name}_ = {f.number}," for f in message.DESCRIPTOR.fields)
        out.write(f"namespace {name} {{ enum : uint32_t {{ {members} }}; }}\n")
    for enum in ENUMS:
        members = " ".join(f"{v.name}_ = {v.number}," for v in enum.DESCRIPTOR.values)
        out.write(f"namespace {enum.DESCRIPTOR.name} {{ enum : int32_t {{ {members} }}; }}\n")


def default_of(attr, pool: Pool) -> tuple[int, str]:
    """(has a default, its bits as C++)."""
    value = attr.default_value
    kinds = onnx.AttributeProto
    if value.type == kinds.INT:
        return 1, str(value.i)
    if value.type == kinds.FLOAT:
        return 1, f"std::bit_cast<int64_t>(double({float(value.f)!r}))"
    if value.type == kinds.STRING:
        return 1, str(pool(value.s.decode()))
    return 0, "0"  # lists: operators that have such defaults name them themselves


def schemas(out) -> None:
    pool = Pool()
    attrs, rows = [], []
    found = [s for s in onnx.defs.get_all_schemas_with_history() if s.domain in DOMAINS]
    for s in sorted(found, key=lambda s: (s.domain, s.name, s.since_version)):
        first = len(attrs)
        for name, a in sorted(s.attributes.items()):
            has, bits = default_of(a, pool)
            kind = getattr(onnx.AttributeProto, str(a.type).rsplit(".", 1)[-1])
            attrs.append(f"{{{pool(name)}, {kind}, {int(a.required)}, {has}, {bits}}},")
        limit = [
            65535 if n == UNLIMITED else n
            for n in (s.min_input, s.max_input, s.min_output, s.max_output)
        ]
        rows.append(
            f"{{{pool(s.domain)}, {pool(s.name)}, {s.since_version}, {', '.join(map(str, limit))}, "
            f"{first}, {len(attrs) - first}}},"
        )
    text = "".join(f'"{t}\\0"\n' for t in pool.offsets)
    out.write(f"static constexpr char schemaText[] =\n{text};\n")
    out.write("static constexpr SchemaAttr schemaAttrs[] = {\n" + "\n".join(attrs) + "\n};\n")
    out.write("static constexpr SchemaRow schemaRows[] = {\n" + "\n".join(rows) + "\n};\n")


def main() -> None:
    with open(sys.argv[1], "w", encoding="utf-8") as out:
        out.write(f"// From onnx {onnx.__version__}.\n#ifdef TORCHC_ONNX_FIELDS\n")
        fields(out)
        out.write("#else\n")
        schemas(out)
        out.write("#endif\n")


if __name__ == "__main__":
    main()
