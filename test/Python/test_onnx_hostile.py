"""ONNX models that break the rules of their operators: an error that names the node, never a crash."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torchc", reason="torchc is not on the path", exc_type=ImportError)
onnx = pytest.importorskip("onnx")

from onnx import TensorProto, helper, numpy_helper  # noqa: E402

F32, I64, I8 = TensorProto.FLOAT, TensorProto.INT64, TensorProto.INT8


def _model(nodes: list[Any], shape: list[int], constants: dict[str, Any], kind: int = F32) -> bytes:
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", kind, shape)],
        [helper.make_tensor_value_info("y", F32, None)],
        [numpy_helper.from_array(np.array(value), name) for name, value in constants.items()],
    )
    opset = helper.make_opsetid("", 21)
    return helper.make_model(graph, opset_imports=[opset], ir_version=10).SerializeToString()


def _node(kind: str, inputs: str, output: str = "y", **attributes: Any) -> Any:
    return helper.make_node(kind, inputs.split(), [output], **attributes)


_ONE = np.float32(1)
_BODY = helper.make_graph(
    [
        helper.make_node("Identity", ["going"], ["goes_on"]),
        helper.make_node("SequenceConstruct", ["x"], ["rows"]),
    ],
    "body",
    [
        helper.make_tensor_value_info("i", I64, []),
        helper.make_tensor_value_info("going", TensorProto.BOOL, []),
    ],
    [
        helper.make_tensor_value_info("goes_on", TensorProto.BOOL, []),
        helper.make_tensor_value_info("rows", F32, None),
    ],
)
CASES = {
    "a block whose square wraps": _model(
        [_node("DepthToSpace", "x", blocksize=2**32)], [1, 4, 2, 2], {}
    ),
    "an axis of a number to gather": _model([_node("Gather", "x i")], [], {"i": [0]}),
    "an axis of a number to squeeze": _model([_node("Squeeze", "x i")], [], {"i": [0]}),
    "a sequence of sequences joined": _model(
        [
            _node("SequenceConstruct", "x", "s"),
            _node("SequenceConstruct", "s", "t"),
            _node("ConcatFromSequence", "t", axis=0),
        ],
        [2],
        {},
    ),
    "a loop that stacks sequences": _model(
        [helper.make_node("Loop", ["n", ""], ["y"], body=_BODY)], [2], {"n": np.int64(2)}
    ),
    "scales of blocks in one dimension": _model(
        [_node("DequantizeLinear", "x s", axis=5, block_size=2)], [1] * 6, {"s": [_ONE, _ONE]}, I8
    ),
    "too little output padding": _model(
        [_node("ConvTranspose", "x w", output_padding=[1])],
        [1, 1, 4, 4],
        {"w": np.ones((1, 1, 2, 2), np.float32)},
    ),
    "reflections without end": _model(
        [_node("Pad", "x p", mode="reflect")], [4], {"p": [0, 2**62]}
    ),
    "a pad that can't be negated": _model(
        [_node("Pad", "x p", mode="edge")], [4], {"p": [-(2**63), 0]}
    ),
    "a scale next to nothing": _model(
        [helper.make_node("Resize", ["x", "", "s"], ["y"], mode="linear", antialias=1)],
        [4],
        {"s": [np.float32(1e-30)]},
    ),
    "negative pads of a window": _model(
        [_node("MaxPool", "x", kernel_shape=[2, 2], pads=[-1, 0, 0, 0])], [1, 1, 4, 4], {}
    ),
    "a window whose reach wraps": _model(
        [_node("MaxPool", "x", kernel_shape=[2**33, 2], dilations=[2**33, 1])], [1, 1, 4, 4], {}
    ),
    "a mean over axes that aren't there": _model(
        [_node("MeanVarianceNormalization", "x")], [3, 4], {}
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_the_node_is_named(name: str) -> None:
    model = onnx.load_from_string(CASES[name])
    kind, shape = (
        model.graph.input[0].type.tensor_type.elem_type,
        [d.dim_value for d in model.graph.input[0].type.tensor_type.shape.dim],
    )
    x = torch.ones(shape, dtype=torch.int8 if kind == I8 else torch.float32)
    with pytest.raises((ValueError, RuntimeError, IndexError), match="ONNX node"):
        torch.onnx.load(CASES[name])(x)


@pytest.mark.parametrize(
    "start, limit, step",
    [(0, -1, 5), (0, 1, -5), (3, 3, 1), (0, 7, 3), (5, -4, -3), (1, -(2**62), -(2**62))],
)
def test_ranges_of_integers(start: int, limit: int, step: int) -> None:
    constants = {"a": np.int64(start), "b": np.int64(limit), "c": np.int64(step)}
    got = torch.onnx.load(_model([_node("Range", "a b c")], [1], constants))(torch.ones(1))
    assert got.tolist() == list(range(start, limit, step))


@pytest.mark.parametrize("count", [2**40, 2**47])
def test_more_padding_than_memory(count: int) -> None:
    loaded = torch.onnx.load(_model([_node("Pad", "x p", mode="reflect")], [4], {"p": [0, count]}))
    with pytest.raises(RuntimeError, match="alloc"):
        loaded(torch.ones(4))


def test_a_resize_to_nothing() -> None:
    resize = helper.make_node("Resize", ["x", "", "s"], ["y"], mode="linear")
    loaded = torch.onnx.load(_model([resize], [4], {"s": [np.float32(0.1)]}))
    assert loaded(torch.ones(4)).shape == (0,)


def test_functions_that_double_at_each_level() -> None:
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("d", 1)]

    def function(level: int) -> Any:
        inner = [_node("Relu", "a", "b")]
        if level:
            below = f"F{level - 1}"
            inner = [_node(below, "a", "t", domain="d"), _node(below, "t", "b", domain="d")]
        return helper.make_function("d", f"F{level}", ["a"], ["b"], inner, opsets)

    def loaded(levels: int) -> Any:
        model = helper.make_model(
            helper.make_graph(
                [_node(f"F{levels - 1}", "x", domain="d")],
                "g",
                [helper.make_tensor_value_info("x", F32, [2])],
                [helper.make_tensor_value_info("y", F32, [2])],
            ),
            opset_imports=opsets,
            functions=[function(level) for level in range(levels)],
        )
        return torch.onnx.load(model.SerializeToString())

    assert loaded(8)(torch.tensor([-1.0, 2.0])).tolist() == [0, 2]
    with pytest.raises(ValueError, match="expand to more than"):
        loaded(30)
