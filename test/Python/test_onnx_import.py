"""ONNX files read and run: against onnx's reference evaluator, older opsets, malformed files."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torchc", reason="torchc is not on the path", exc_type=ImportError)
onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402
from onnx.reference import ReferenceEvaluator  # noqa: E402

REFUSALS = (ValueError, NotImplementedError, OSError, TypeError, IndexError, RuntimeError)
rng = np.random.default_rng(5)
F = rng.standard_normal((3, 4), dtype=np.float32)
G = rng.standard_normal((3, 4), dtype=np.float32)
I = np.array([2, 0, -1], np.int64)  # noqa: E741
B = F > 0
X = rng.standard_normal((1, 2, 5, 6), dtype=np.float32)
W = rng.standard_normal((3, 2, 3, 2), dtype=np.float32)
Q = rng.integers(0, 255, (3, 4)).astype(np.uint8)


def ints(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


def _model(nodes: list, inputs: dict, outputs: int = 1, opset: int = 21, **initial) -> bytes:
    """A model over named arrays; outputs are y0, y1, ..."""
    infos = [
        helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape)
        for n, a in inputs.items()
    ]
    graph = helper.make_graph(
        nodes,
        "g",
        infos,
        [onnx.ValueInfoProto(name=f"y{i}") for i in range(outputs)],
        [numpy_helper.from_array(a, n) for n, a in initial.items()],
    )
    return helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10
    ).SerializeToString()


def _run(data: bytes, inputs: dict) -> dict:
    return torch.onnx.load(data)(inputs)


OPERATORS = [
    ("Add", (F, G), {}), ("Sub", (F, G), {}), ("Mul", (F, F[:1]), {}), ("Div", (F, G), {}),
    ("Neg", (F,), {}), ("Abs", (F,), {}), ("Sign", (F,), {}), ("Exp", (F,), {}), ("Sqrt", (F * F,), {}),
    ("Tanh", (F,), {}), ("Relu", (F,), {}), ("Max", (F, G), {}), ("Min", (F, G, -F), {}), ("Sum", (F, G), {}),
    ("Mean", (F, G), {}), ("Clip", (F, np.float32(-0.5), np.float32(0.5)), {}), ("Softmax", (F,), {"axis": 0}),
    ("LogSoftmax", (F,), {}), ("LeakyRelu", (F,), {"alpha": 0.1}), ("PRelu", (F, G[0]), {}),
    ("ThresholdedRelu", (F,), {"alpha": 0.3}), ("HardSigmoid", (F,), {}), ("HardSwish", (F,), {}),
    ("Softsign", (F,), {}), ("Equal", (F, F), {}), ("Less", (F, G), {}), ("Greater", (F, G), {}),
    ("LessOrEqual", (F, G), {}), ("GreaterOrEqual", (F, G), {}), ("And", (B, ~B), {}), ("Or", (B, ~B), {}),
    ("Xor", (B, B), {}), ("Not", (B,), {}), ("Where", (B, F, G), {}), ("IsNaN", (F,), {}), ("IsInf", (F,), {}),
    ("Reshape", (F, ints(0, -1)), {}), ("Transpose", (F,), {"perm": [1, 0]}),
    ("Flatten", (F,), {"axis": 0}), ("Unsqueeze", (F, ints(0, -1)), {}),
    ("Squeeze", (F[None], ints(0)), {}), ("Concat", (F, G), {"axis": -1}),
    ("Slice", (F, ints(-1), ints(-9), ints(0), ints(-2)), {}),
    ("Slice", (F, ints(1), ints(99), ints(1), ints(2)), {}),
    ("Slice", (F, ints(0), ints(99), ints(1), ints(2**63 - 1)), {}),
    ("Slice", (F, ints(-1), ints(-99), ints(1), ints(-(2**63))), {}),
    ("Expand", (F, ints(2, 1, 4)), {}), ("Tile", (F, ints(2, 3)), {}),
    ("Shape", (F,), {}), ("Size", (F,), {}), ("Gather", (F, I[:2]), {"axis": 0}),
    ("Gather", (F, I.reshape(1, 3)), {"axis": 1}), ("GatherElements", (F, np.stack([I, I[::-1], I])), {"axis": 1}),
    ("GatherND", (F, np.array([[0, 1], [2, -1]], np.int64)), {}),
    ("ScatterElements", (F, I.reshape(1, 3), G[:1, :3]), {"axis": 1}),
    ("ScatterND", (F, np.array([[1], [-1]], np.int64), G[:2]), {}),
    ("OneHot", (I, np.int64(4), np.array([0.5, 2], np.float32)), {"axis": 0}),
    ("ConstantOfShape", (ints(2, 3),), {}), ("Range", (np.int64(7), np.int64(0), np.int64(-2)), {}),
    ("Range", (np.float32(0), np.float32(1), np.float32(0.25)), {}), ("EyeLike", (F,), {"k": 1}),
    ("Trilu", (F, np.int64(1)), {"upper": 0}), ("ReduceSum", (F, ints(1)), {}),
    ("ReduceMean", (F,), {"keepdims": 0}), ("ReduceMax", (F, ints(0)), {}),
    ("ReduceMin", (F,), {}), ("ReduceL1", (F,), {}), ("ReduceL2", (F, ints(1)), {}),
    ("ReduceSumSquare", (F,), {}), ("ReduceLogSumExp", (F, ints(1)), {}), ("ArgMax", (F,), {"axis": 1}),
    ("ArgMin", (F,), {"axis": 0, "select_last_index": 1}), ("MatMul", (F, G.T.copy()), {}),
    ("Gemm", (F, G, G[:, :3].copy()), {"transB": 1, "alpha": 0.5, "beta": 2.0}),
    ("LayerNormalization", (F, G[0], G[1]), {}),
    ("InstanceNormalization", (F[None], G[:, 0].copy(), G[:, 1].copy()), {}),
    ("BatchNormalization", (F, G[0], G[1], G[2], np.abs(F[0])), {}), ("LpNormalization", (F,), {"axis": 1}),
    ("DepthToSpace", (np.arange(16, dtype=np.float32).reshape(1, 4, 2, 2),), {"blocksize": 2}),
    ("SpaceToDepth", (np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4),), {"blocksize": 2}),
    ("CumSum", (F, np.int64(1)), {"exclusive": 1, "reverse": 1}),
    ("Pad", (F, ints(1, 0, 1, 2), np.float32(3)), {}), ("Pad", (F, ints(1, 2, 0, 1)), {"mode": "reflect"}),
    ("Sigmoid", (F,), {}), ("Erf", (F,), {}), ("Pow", (F * F, G), {}), ("Einsum", (F, G), {"equation": "ij,kj->ik"}),
    ("Conv", (X, W, W[:, 0, 0, 0].copy()), {"pads": [1, 0, 0, 1], "strides": [2, 1]}),
    ("MaxPool", (X,), {"kernel_shape": [3, 2], "ceil_mode": 1, "strides": [2, 2]}),
    ("AveragePool", (X,), {"kernel_shape": [2, 2], "pads": [1, 0, 0, 1]}), ("GlobalAveragePool", (X,), {}),
    ("ConvTranspose", (X, W.transpose(1, 0, 2, 3).copy()[:2]), {"strides": [2, 2], "output_padding": [1, 1]}),
    ("Resize", (X, np.zeros(0, np.float32), np.array([1, 1, 2, 1.5], np.float32)), {"mode": "linear"}),
    ("QuantizeLinear", (F, np.float32(0.1), np.uint8(3)), {}), ("MatMulInteger", (Q, Q.T.copy()), {}),
    ("DequantizeLinear", (Q, np.float32(0.1), np.uint8(3)), {}), ("Hardmax", (F,), {}),
    ("Cast", (F,), {"to": TensorProto.INT32}), ("CastLike", (I, F), {}), ("Dropout", (F,), {}), ("Identity", (F,), {}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("op", "arrays", "attrs"), OPERATORS, ids=[f"{i}-{o[0]}" for i, o in enumerate(OPERATORS)]
)
def test_operator_against_the_reference(op: str, arrays: tuple, attrs: dict) -> None:
    names = [f"x{i}" for i in range(len(arrays))]
    feeds = {n: np.asarray(a) for n, a in zip(names, arrays, strict=True)}
    data = _model([helper.make_node(op, names, ["y0"], **attrs)], feeds)
    want = ReferenceEvaluator(onnx.load_from_string(data)).run(None, feeds)[0]
    got = _run(data, feeds)["y0"]
    assert got.shape == np.shape(want) and got.dtype == want.dtype
    np.testing.assert_allclose(got, want, rtol=2e-6, atol=1e-6)


def test_top_k_and_negative_pads() -> None:
    data = _model(
        [helper.make_node("TopK", ["x", "k"], ["y0", "y1"], largest=0)], {"x": F}, 2, k=ints(2)
    )
    got = _run(data, {"x": F})
    assert np.array_equal(got["y1"], np.argsort(F, 1, kind="stable")[:, :2])
    assert np.array_equal(got["y0"], np.sort(F, 1)[:, :2])
    data = _model([helper.make_node("Pad", ["x", "p"], ["y0"])], {"x": F}, p=ints(-1, 0, 1, -2))
    assert np.array_equal(_run(data, {"x": F})["y0"], np.pad(F[1:, :2], ((0, 1), (0, 0))))


def test_split_gives_uneven_last_pieces() -> None:
    data = _model(
        [helper.make_node("Split", ["x"], ["y0", "y1"], axis=1, num_outputs=2)], {"x": F[:, :3]}, 2
    )
    got = _run(data, {"x": F[:, :3]})
    assert np.array_equal(got["y0"], F[:, :2]) and np.array_equal(got["y1"], F[:, 2:3])


def test_broadcasting_of_opset_6_goes_by_axis() -> None:
    node = helper.make_node("Add", ["x", "w"], ["y0"], broadcast=1, axis=0)
    data = _model([node], {"x": F}, opset=6, w=G[:, 0].copy())
    assert np.array_equal(_run(data, {"x": F})["y0"], F + G[:, :1])


def test_softmax_of_opset_12_joins_the_axes() -> None:
    x = rng.standard_normal((2, 3, 4), dtype=np.float32)
    data = _model([helper.make_node("Softmax", ["x"], ["y0"])], {"x": x}, opset=12)
    e = np.exp(x.reshape(2, 12) - x.reshape(2, 12).max(1, keepdims=True))
    np.testing.assert_allclose(
        _run(data, {"x": x})["y0"].reshape(2, 12), e / e.sum(1, keepdims=True), rtol=1e-6
    )


def _branches() -> bytes:
    then = helper.make_graph(
        [helper.make_node("Add", ["x", "x"], ["t"])], "then", [], [onnx.ValueInfoProto(name="t")]
    )
    other = helper.make_graph(
        [helper.make_node("Neg", ["x"], ["e"])], "else", [], [onnx.ValueInfoProto(name="e")]
    )
    node = helper.make_node("If", ["c"], ["y0"], then_branch=then, else_branch=other)
    return _model([node], {"c": np.array(True), "x": F})


def test_if_takes_the_branch_that_the_condition_names() -> None:
    model = torch.onnx.load(_branches())
    x = torch.tensor(F)
    assert torch.equal(model(torch.tensor(True), x), x + x)
    assert torch.equal(model(torch.tensor(False), x), -x)


def test_loop_carries_values_and_stacks_rows() -> None:
    body = helper.make_graph(
        [
            helper.make_node("Add", ["v", "x"], ["w"]),
            helper.make_node("Identity", ["c"], ["d"]),
            helper.make_node("Identity", ["w"], ["row"]),
        ],
        "body",
        [onnx.ValueInfoProto(name=n) for n in ("i", "c", "v")],
        [onnx.ValueInfoProto(name=n) for n in ("d", "w", "row")],
    )
    node = helper.make_node("Loop", ["n", "", "x"], ["y0", "y1"], body=body)
    data = _model([node], {"n": np.array(3), "x": F}, 2)
    got = _run(data, {"n": np.array(3), "x": F})
    assert np.array_equal(got["y0"], ((F + F) + F) + F) and got["y1"].shape == (3, 3, 4)


def test_functions_of_the_model_take_attributes() -> None:
    node = helper.make_node("LeakyRelu", ["a"], ["b"])
    ref = node.attribute.add()
    ref.name, ref.ref_attr_name, ref.type = "alpha", "slope", onnx.AttributeProto.FLOAT
    function = helper.make_function(
        "own", "Leak", ["a"], ["b"], [node], [helper.make_opsetid("", 21)], ["slope"]
    )
    graph = helper.make_graph(
        [helper.make_node("Leak", ["x"], ["y0"], domain="own", slope=0.25)],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [3, 4])],
        [onnx.ValueInfoProto(name="y0")],
    )
    model = helper.make_model(
        graph,
        functions=[function],
        opset_imports=[helper.make_opsetid("", 21), helper.make_opsetid("own", 1)],
    )
    got = _run(model.SerializeToString(), {"x": F})["y0"]
    assert np.array_equal(got, np.where(F < 0, F * np.float32(0.25), F))


def test_models_have_gradients_and_compile() -> None:
    nodes = [helper.make_node("MatMul", ["x", "w"], ["h"]), helper.make_node("Relu", ["h"], ["y0"])]
    model = torch.onnx.load(_model(nodes, {"x": F}, w=G.T.copy()))
    w = model.state_dict()["w"].requires_grad_()
    x = torch.tensor(F, requires_grad=True)
    model(x).sum().backward()
    want = torch.relu(x.detach() @ w.detach())
    mask = (want > 0).to(torch.float32)
    assert torch.equal(w.grad, x.detach().t() @ mask) and torch.equal(x.grad, mask @ w.detach().t())
    compiled = torch.compile(model, background=False)
    for _ in range(3):
        assert torch.equal(compiled(x.detach()), want)


def test_bad_inputs_name_what_is_expected() -> None:
    model = torch.onnx.load(_model([helper.make_node("Relu", ["x"], ["y0"])], {"x": F}))
    with pytest.raises(ValueError, match=r"input 'x': expected shape \[3, 4\], got \[2\]"):
        model(torch.zeros(2))
    with pytest.raises(TypeError, match="expected float32, got int64"):
        model(torch.zeros(3, 4, dtype=torch.int64))
    with pytest.raises(ValueError, match="missing"):
        model()
    with pytest.raises(ValueError, match="no input named 'z'"):
        model(z=torch.zeros(3, 4))
    with pytest.raises(TypeError):
        model("text")


@pytest.mark.parametrize(
    ("node", "text"),
    [
        (("Nonsense", ["x"], ["y0"], {}), "no such operator"),
        (("Relu", ["x", "x"], ["y0"], {}), "2 inputs, expected 1"),
        (("Relu", ["q"], ["y0"], {}), "input 'q' isn't computed"),
        (("Softmax", ["x"], ["y0"], {"alpha": 1.0}), "attribute 'alpha' doesn't exist"),
        (("Softmax", ["x"], ["y0"], {"axis": 1.5}), "attribute 'axis' has type"),
        (("Concat", ["x"], ["y0"], {}), "attribute 'axis' is missing"),
        (("Relu", ["x"], ["x"], {}), "two values named 'x'"),
    ],
)
def test_invalid_nodes_are_refused_before_anything_runs(node: tuple, text: str) -> None:
    op, inputs, outputs, attrs = node
    data = _model([helper.make_node(op, inputs, outputs, **attrs)], {"x": F})
    with pytest.raises(ValueError, match=text):
        torch.onnx.load(data)


def test_truncated_and_damaged_files_are_refused_or_run() -> None:
    data = _model(
        [helper.make_node("Gemm", ["x", "w"], ["h"]), helper.make_node("Softmax", ["h"], ["y0"])],
        {"x": F},
        w=G.T.copy(),
    )
    x = torch.tensor(F)

    def attempt(changed: bytes) -> None:
        try:
            torch.onnx.load(changed)(x)
        except REFUSALS:
            pass

    for length in range(len(data)):
        attempt(data[:length])
    for at in range(len(data)):
        for bit in (0, 3, 7):
            attempt(data[:at] + bytes([data[at] ^ 1 << bit]) + data[at + 1 :])


def test_huge_claims_are_refused_without_memory(tmp_path) -> None:
    big = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[1 << 40, 1 << 30])
    graph = helper.make_graph([], "g", [], [onnx.ValueInfoProto(name="w")], [big])
    data = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)]).SerializeToString()
    with pytest.raises(ValueError, match="a dimension of"):
        torch.onnx.load(data)
    big.dims[:] = [1 << 30]
    graph.initializer[0].CopyFrom(big)
    data = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)]).SerializeToString()
    with pytest.raises(ValueError, match="0 elements of data"):
        torch.onnx.load(data)


def test_external_data_stays_below_the_model(tmp_path) -> None:
    (tmp_path / "w.bin").write_bytes(G.tobytes())

    def model(location: str) -> Any:
        w = TensorProto(
            name="w", data_type=TensorProto.FLOAT, dims=G.shape, data_location=TensorProto.EXTERNAL
        )
        w.external_data.add(key="location", value=location)
        graph = helper.make_graph(
            [helper.make_node("Add", ["x", "w"], ["y0"])],
            "g",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, F.shape)],
            [onnx.ValueInfoProto(name="y0")],
            [w],
        )
        path = tmp_path / "m.onnx"
        path.write_bytes(
            helper.make_model(
                graph, opset_imports=[helper.make_opsetid("", 21)]
            ).SerializeToString()
        )
        return torch.onnx.load(path)

    assert np.array_equal(model("w.bin")({"x": F})["y0"], F + G)
    for location in ("../w.bin", "/etc/passwd", ""):
        with pytest.raises(ValueError, match="below the model's folder"):
            model(location)
    with pytest.raises(OSError, match="none.bin"):
        model("none.bin")
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "w.bin").write_bytes(F.tobytes())
    assert np.array_equal(model("inner/w.bin")({"x": F})["y0"], F + F)
    (tmp_path / "folder").symlink_to(inner)
    (tmp_path / "file").symlink_to("w.bin")
    for link in ("folder/w.bin", "file"):
        with pytest.raises(OSError, match=link):
            model(link)


def test_a_model_outlives_its_file(tmp_path) -> None:
    """The file is mapped: another one under its name, or none, changes nothing."""
    graph = helper.make_graph(
        [helper.make_node("Add", ["x", "w"], ["y0"])],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, F.shape)],
        [onnx.ValueInfoProto(name="y0")],
        [numpy_helper.from_array(G, "w")],
    )
    data = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)]).SerializeToString()
    path = tmp_path / "m.onnx"
    path.write_bytes(data)
    loaded = torch.onnx.load(path)
    path.unlink()
    path.write_bytes(b"")
    assert np.array_equal(loaded({"x": F})["y0"], F + G)


def test_results_that_are_computed_once_belong_to_the_caller() -> None:
    info = helper.make_tensor_value_info
    graph = helper.make_graph(
        [
            helper.make_node("Add", ["x", "w"], ["y"]),
            helper.make_node("Mul", ["w", "w"], ["square"]),
            helper.make_node("Identity", ["square"], ["same"]),
            helper.make_node("SequenceConstruct", ["square"], ["list"]),
        ],
        "g",
        [info("x", TensorProto.FLOAT, G.shape)],
        [onnx.ValueInfoProto(name=name) for name in ("y", "square", "same", "list")],
        [numpy_helper.from_array(G, "w")],
    )
    model = torch.onnx.load(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)]).SerializeToString()
    )
    x = torch.zeros(G.shape)
    for _ in range(3):
        y, square, same, items = model(x)
        assert np.array_equal(y.numpy(), G)
        for t in (square, same, *items):
            assert np.array_equal(t.numpy(), G * G)
            t.add_(100)


def test_weights_of_inner_graphs_are_noticed() -> None:
    info = helper.make_tensor_value_info

    def branch(name: str, factor: float) -> Any:
        return helper.make_graph(
            [helper.make_node("Mul", [f"w_{name}", f"w_{name}"], [f"y_{name}"])],
            name,
            [],
            [info(f"y_{name}", TensorProto.FLOAT, G.shape)],
            [numpy_helper.from_array(G * np.float32(factor), f"w_{name}")],
        )

    graph = helper.make_graph(
        [
            helper.make_node(
                "If", ["p"], ["y"], then_branch=branch("t", 1), else_branch=branch("e", 2)
            )
        ],
        "g",
        [info("p", TensorProto.BOOL, [])],
        [info("y", TensorProto.FLOAT, G.shape)],
    )
    model = torch.onnx.load(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)]).SerializeToString()
    )
    assert np.array_equal(model(torch.tensor(True)).numpy(), G * G)
    weights = model.state_dict()
    if "w_t" in weights:
        with torch.no_grad():
            weights["w_t"].mul_(3)
        assert np.array_equal(model(torch.tensor(True)).numpy(), (G * 3) * (G * 3))


def test_missing_and_foreign_files(tmp_path) -> None:
    with pytest.raises(OSError, match="can't read"):
        torch.onnx.load(tmp_path / "none.onnx")
    with pytest.raises((OSError, ValueError)):
        torch.onnx.load(tmp_path)
    for text in (b"", b"not a model", b"PK\x03\x04" + bytes(100)):
        (tmp_path / "m.onnx").write_bytes(text)
        with pytest.raises(ValueError, match="not an ONNX model"):
            torch.onnx.load(tmp_path / "m.onnx")


def _handed(shared, kind: str) -> list[dict]:
    folder = shared / "models" / kind
    return [dict(c, folder=folder) for c in json.loads((folder / "manifest.json").read_text())]


@pytest.mark.parametrize("kind", ["opsets", "real"])
def test_handed_models_run_or_name_the_operator(shared, kind: str) -> None:
    """A model either runs and gives its stored outputs, or is refused for an operator or type that is missing."""
    ran = 0
    for case in _handed(shared, kind):
        path = case["folder"] / case["file"]
        if not path.exists():
            continue
        with np.load(case["folder"] / case["data"], allow_pickle=False) as z:
            names = [str(n) for n in z["input_names"]], [str(n) for n in z["output_names"]]
            if any(k.endswith(".len") for k in z.files):
                continue
            feeds = {n: z[f"0.in.{j}"] for j, n in enumerate(names[0])}
            want = [z[f"0.out.{j}"] for j in range(len(names[1]))]
        try:
            got = torch.onnx.load(path)(feeds)
        except NotImplementedError:
            continue
        ran += 1
        atol = case["atol"] if isinstance(case["atol"], list) else [case["atol"]] * len(want)
        if case.get("rel_l2"):
            continue
        for name, value, tolerance in zip(names[1], want, atol, strict=True):
            assert got[name].dtype == value.dtype, case["name"]
            np.testing.assert_allclose(
                got[name].astype(np.float64) if value.dtype.kind == "f" else got[name],
                value,
                atol=tolerance,
                rtol=case["rtol"],
                err_msg=case["name"],
            )
    assert ran


def test_what_depends_on_weights_alone_follows_them() -> None:
    """It is computed once, until a weight is written to, or asked for gradients."""
    w = np.arange(6, dtype=np.float32).reshape(2, 3)
    graph = helper.make_graph(
        [
            helper.make_node("Transpose", ["w"], ["t"]),
            helper.make_node("MatMul", ["x", "t"], ["y"]),
        ],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 2])],
        [numpy_helper.from_array(w, "w")],
    )
    model = torch.onnx.load(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)]).SerializeToString()
    )
    x = torch.ones(1, 3)
    weight = model.state_dict()["w"]
    for _ in range(2):
        assert model(x).tolist() == [[3.0, 12.0]]
    weight.mul_(5)
    assert model(x).tolist() == [[15.0, 60.0]]
    weight.requires_grad_()
    with torch.no_grad():
        assert model(x).tolist() == [[15.0, 60.0]]
    model(x).sum().backward()
    assert weight.grad.tolist() == [[1.0] * 3] * 2
