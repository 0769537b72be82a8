"""Operators of ONNX where their definition is easy to miss: inputs, attributes and ranges at their edges."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torchc", reason="torchc is not on the path", exc_type=ImportError)
onnx = pytest.importorskip("onnx")

from onnx import TensorProto, helper, numpy_helper  # noqa: E402

F32, I64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
INFO = helper.make_tensor_value_info


def _run(nodes: Any, arrays: dict[str, Any], opset: int = 21, functions: Any = (), **initial: Any):
    """y of a model whose inputs are `arrays`."""
    nodes = nodes if isinstance(nodes, list) else [nodes]
    inputs = [INFO(k, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape) for k, a in arrays.items()]
    constants = [numpy_helper.from_array(a, k) for k, a in initial.items()]
    graph = helper.make_graph(nodes, "g", inputs, [onnx.ValueInfoProto(name="y")], constants)
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid("d", 1)]
    opsets.append(helper.make_opsetid("com.microsoft", 1))
    model = helper.make_model(graph, opset_imports=opsets, ir_version=10, functions=functions)
    return torch.onnx.load(model.SerializeToString())(arrays)["y"]


def _node(kind: str, inputs: str, **attributes: Any) -> Any:
    return helper.make_node(kind, inputs.split(), ["y"], **attributes)


def test_quantised_products_with_a_scale_for_each_row() -> None:
    a = np.array([[10, 20], [30, 40]], np.uint8)
    b = np.array([[1, 2], [3, 5]], np.uint8)
    rows, one = np.array([0.5, 0.25], np.float32), np.float32(1)
    zeros, zero = np.array([1, 4], np.uint8), np.uint8(2)
    y = _run(
        _node("QLinearMatMul", "a s z b t u t u"),
        {"a": a, "b": b},
        s=rows,
        z=zeros,
        t=one,
        u=zero,
    )
    exact = (a.astype(int) - zeros[:, None]) @ (b.astype(int) - 2)
    assert y.tolist() == np.clip(np.rint(exact * rows[:, None]) + 2, 0, 255).tolist()


@pytest.mark.parametrize("mode", ["linear", "cubic"])
def test_integers_are_resized_by_fractions(mode: str) -> None:
    x = np.array([[[0, 100]]], np.uint8)
    scales = np.array([1, 1, 2], np.float32)
    resize = helper.make_node("Resize", ["x", "", "s"], ["y"], mode=mode)
    floats = _run(resize, {"x": x.astype(np.float32)}, s=scales)
    y = _run(resize, {"x": x}, s=scales)
    assert y.dtype == np.uint8
    assert y.tolist() == torch.from_numpy(floats).to(torch.uint8).tolist()
    assert 0 < y[0, 0, 1] < 100


@pytest.mark.parametrize("kind", ["GatherND", "ScatterND"])
@pytest.mark.parametrize("at", [[0, 3], [2, 0], [0, -4], [-3, 0]])
def test_index_tuples_stay_in_their_dimension(kind: str, at: list[int]) -> None:
    """[0, 3] of a 2 x 3 matrix isn't [1, 0]."""
    x, index = np.arange(6, dtype=np.float32).reshape(2, 3), np.array([at], np.int64)
    node = _node(kind, "x i s" if kind == "ScatterND" else "x i")
    with pytest.raises((IndexError, RuntimeError), match="ONNX node"):
        _run(node, {"x": x}, i=index, s=np.array([9], np.float32))


def test_batches_of_indices_belong_to_those_of_the_data() -> None:
    x, index = np.zeros((2, 3, 4), np.float32), np.zeros((3, 2, 1), np.int64)
    with pytest.raises(ValueError, match="different sizes in the first 2 dimensions"):
        _run(_node("GatherND", "x i", batch_dims=2), {"x": x}, i=index)


@pytest.mark.parametrize("k", [2**63 - 1, -(2**63)])
@pytest.mark.parametrize("upper", [0, 1])
def test_triangles_beyond_the_last_diagonal(k: int, upper: int) -> None:
    x = np.ones((3, 4), np.float32)
    y = _run(_node("Trilu", "x k", upper=upper), {"x": x}, k=np.int64(k))
    assert y.tolist() == ((x * 0) if (k > 0) == bool(upper) else x).tolist()


@pytest.mark.parametrize("kind", ["ReduceLogSum", "ReduceLogSumExp"])
def test_logarithms_of_integers_stay_integers(kind: str) -> None:
    y = _run(_node(kind, "x", keepdims=0), {"x": np.array([20, 30], np.int64)})
    assert y.dtype == np.int64 and int(y) == {"ReduceLogSum": 3, "ReduceLogSumExp": 30}[kind]


def test_output_shapes_that_exceed_what_windows_reach() -> None:
    x, w = np.ones((1, 1, 2), np.float32), np.ones((1, 1, 2), np.float32)
    y = _run(_node("ConvTranspose", "x w", output_shape=[5]), {"x": x}, w=w)
    assert y.tolist() == [[[1.0, 2.0, 1.0, 0.0, 0.0]]]


def test_attributes_reach_the_graphs_of_a_function() -> None:
    leaky = helper.make_node("LeakyRelu", ["a"], ["r"])
    slope = leaky.attribute.add()
    slope.name, slope.ref_attr_name, slope.type = "alpha", "slope", onnx.AttributeProto.FLOAT
    branch = helper.make_graph([leaky], "branch", [], [INFO("r", F32, None)])
    node = helper.make_node("If", ["c"], ["b"], then_branch=branch, else_branch=branch)
    opsets = [helper.make_opsetid("", 21)]
    function = helper.make_function("d", "F", ["a", "c"], ["b"], [node], opsets, ["slope"])
    call = helper.make_node("F", ["x", "c"], ["y"], domain="d", slope=0.5)
    y = _run(call, {"x": np.array([-2, 2], np.float32)}, functions=[function], c=np.array(True))
    assert y.tolist() == [-1.0, 2.0]


def test_attributes_of_no_function_are_refused() -> None:
    node = _node("LeakyRelu", "x")
    slope = node.attribute.add()
    slope.name, slope.ref_attr_name, slope.type = "alpha", "slope", onnx.AttributeProto.FLOAT
    with pytest.raises(ValueError, match="refers to 'slope' of a function"):
        _run(node, {"x": np.ones(1, np.float32)})


def test_operators_newer_than_the_model_are_refused() -> None:
    with pytest.raises(ValueError, match="no such operator in opset 19"):
        _run(_node("Gelu", "x"), {"x": np.ones(1, np.float32)}, opset=19)


def _loop(condition: str, trips: Any) -> bytes:
    """y = x doubled at least once, until its sum is 10 or more; or `trips` times at most."""
    body = helper.make_graph(
        [
            helper.make_node("Add", ["v", "v"], ["w"]),
            helper.make_node("ReduceSum", ["w"], ["s"], keepdims=0),
            helper.make_node("Less", ["s", "ten"], ["small"]),
            helper.make_node("Identity", [condition], ["on"]),
        ],
        "body",
        [INFO("i", I64, []), INFO("going", BOOL, []), INFO("v", F32, [2])],
        [INFO("on", BOOL, []), INFO("w", F32, [2]), INFO("s", F32, [2])],
    )
    loop = helper.make_node("Loop", ["n", "", "x"], ["y", "rows"], body=body)
    graph = helper.make_graph(
        [loop],
        "g",
        [INFO("x", F32, [2])],
        [INFO("y", F32, [2]), INFO("rows", F32, None)],
        [
            numpy_helper.from_array(np.int64(trips), "n"),
            numpy_helper.from_array(np.float32(10), "ten"),
        ],
    )
    opset = helper.make_opsetid("", 21)
    return helper.make_model(graph, opset_imports=[opset], ir_version=10).SerializeToString()


def test_loops_that_end_by_their_numbers_arent_recorded() -> None:
    """What was recorded for one input doesn't run for another that needs more rounds."""
    model = torch.onnx.load(_loop("small", 100))
    compiled = torch.compile(lambda x: model(x)[0], background=False)
    for start, want in ((3.0, 6.0), (0.5, 8.0), (0.25, 8.0)):
        x = torch.full((2,), start)
        assert model(x)[0].tolist() == [want, want]
        assert compiled(x).tolist() == [want, want]
    with pytest.raises(RuntimeError, match="looks at the numbers"):
        torch.export.export(lambda x: model(x)[0], (torch.ones(2),))


def test_branches_and_sizes_of_the_inputs_numbers_compile() -> None:
    """In pieces: each call reads the numbers anew."""
    add = helper.make_graph([_node("Add", "x x")], "a", [], [INFO("y", F32, None)])
    cut = helper.make_graph([_node("Slice", "x z e")], "b", [], [INFO("y", F32, None)])
    nodes = [
        helper.make_node("ReduceMax", ["x"], ["m"], keepdims=0),
        helper.make_node("Less", ["m", "two"], ["c"]),
        helper.make_node("Cast", ["m"], ["l"], to=I64),
        helper.make_node("Unsqueeze", ["l", "z"], ["e"]),
        helper.make_node("If", ["c"], ["y"], then_branch=add, else_branch=cut),
    ]
    graph = helper.make_graph(
        nodes,
        "g",
        [INFO("x", F32, [4])],
        [INFO("y", F32, None)],
        [
            numpy_helper.from_array(np.float32(2), "two"),
            numpy_helper.from_array(np.zeros(1, np.int64), "z"),
        ],
    )
    opset = helper.make_opsetid("", 21)
    model = torch.onnx.load(
        helper.make_model(graph, opset_imports=[opset], ir_version=10).SerializeToString()
    )
    compiled = torch.compile(model, background=False)
    for value, want in ((1.0, [2.0] * 4), (3.0, [3.0] * 3), (2.0, [2.0] * 2), (0.5, [1.0] * 4)) * 2:
        assert compiled(torch.full((4,), value)).tolist() == want


def test_loops_without_a_round_give_no_rows() -> None:
    rows = torch.onnx.load(_loop("going", 0))(torch.ones(2))[1]
    assert (rows.dtype, rows.shape) == (torch.float32, (0, 2))


def test_pieces_of_a_weight_belong_to_the_caller() -> None:
    split = _node("SplitToSequence", "w", axis=0)
    graph = helper.make_graph(
        [split],
        "g",
        [],
        [onnx.ValueInfoProto(name="y")],
        [numpy_helper.from_array(np.ones((2, 2), np.float32), "w")],
    )
    opset = helper.make_opsetid("", 21)
    model = torch.onnx.load(
        helper.make_model(graph, opset_imports=[opset], ir_version=10).SerializeToString()
    )
    model()[0].mul_(7)
    assert [p.tolist() for p in model()] == [[[1.0, 1.0]], [[1.0, 1.0]]]


_X = np.ones((1, 2, 3), np.float32)
REFUSED = {
    "batch_axis and time_axis 0 and 1": (
        _node("ReverseSequence", "x i", batch_axis=2, time_axis=-1),
        _X,
        {"i": np.array([1], np.int64)},
    ),
    "queries, keys and values of 3 or of 4": (
        _node("Attention", "x x x"),
        np.ones((2, 2), np.float32),
        {},
    ),
    "1 heads of queries for 2": (
        _node("Attention", "x w w"),
        np.ones((1, 1, 2, 4), np.float32),
        {"w": np.ones((1, 2, 2, 4), np.float32)},
    ),
    "input 8 is missing": (
        helper.make_node(
            "DynamicQuantizeLSTM", ["x", "w", "r"], ["y"], domain="com.microsoft", hidden_size=2
        ),
        _X,
        {"w": np.ones((1, 3, 8), np.int8), "r": np.ones((1, 2, 8), np.int8)},
    ),
    "hidden_size of 4611686018427387904": (
        _node("LSTM", "x w r", hidden_size=2**62),
        _X,
        {"w": np.ones((1, 8, 3), np.float32), "r": np.ones((1, 8, 2), np.float32)},
    ),
    "direction 'sideways'": (
        _node("LSTM", "x w r", direction="sideways"),
        _X,
        {"w": np.ones((1, 8, 3), np.float32), "r": np.ones((1, 8, 2), np.float32)},
    ),
    "weights of rank 3": (_node("RNN", "x w w"), _X, {"w": np.float32(1)}),
    "a norm of order 3": (_node("LpNormalization", "x", p=3), _X, {}),
    "direction 'UP'": (
        _node("BitShift", "i i", direction="UP"),
        _X,
        {"i": np.array([1], np.uint8)},
    ),
    "auto_pad 'SAME'": (_node("MaxPool", "x", kernel_shape=[2], auto_pad="SAME"), _X, {}),
    "output_padding or output_shape of -9223372036854775808": (
        _node("ConvTranspose", "x w", output_shape=[-(2**63)]),
        _X,
        {"w": np.ones((2, 1, 2), np.float32)},
    ),
    "a depth of inf": (
        _node("OneHot", "i d v"),
        _X,
        {
            "i": np.array([1], np.int64),
            "d": np.float32(np.inf),
            "v": np.array([0, 1], np.float32),
        },
    ),
    "to: element type": (_node("Cast", "x", to=2**32 + 1), _X, {}),
    "from 0.000000 to inf": (
        _node("Range", "a b c"),
        _X,
        {"a": np.float32(0), "b": np.float32(np.inf), "c": np.float32(1)},
    ),
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_has_no_meaning_is_refused(text: str) -> None:
    node, x, constants = REFUSED[text]
    with pytest.raises((ValueError, NotImplementedError)) as error:
        _run(node, {"x": x}, opset=23, **constants)
    assert text in str(error.value) and "ONNX node" in str(error.value)


def test_domains_that_torchc_lacks_are_named() -> None:
    """A model needn't import ONNX's own operators."""
    node = helper.make_node("Binarizer", ["x"], ["y"], domain="ai.onnx.ml")
    info = [INFO("x", F32, [2])], [INFO("y", F32, [2])]
    opsets = [helper.make_opsetid("ai.onnx.ml", 1)]
    model = helper.make_model(helper.make_graph([node], "g", *info), opset_imports=opsets)
    with pytest.raises(
        NotImplementedError, match="ai.onnx.ml.Binarizer.*doesn't have this operator"
    ):
        torch.onnx.load(model.SerializeToString())
