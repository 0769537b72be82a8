"""Programs as ONNX models: every row of op_db exported, checked, run by the reference evaluator and read back."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest

from op_db import ROWS, Row
from op_samples import Input
from oracle.dtypes import DType

torch = pytest.importorskip("torchc", reason="torchc is not on the path", exc_type=ImportError)
onnx = pytest.importorskip("onnx")

# What one graph or ONNX can't hold, by row: random numbers, memory layouts.
REFUSED = {"uniform", "as_strided", "contiguous"}
# Functions that ONNX has no operator for.
LACKING = set(
    """erfc erfinv lgamma digamma exp2 log2 log10 atan2 hypot copysign nextafter signbit logaddexp2 div_trunc div_floor
    floor_divide remainder fmod mod bitwise_and bitwise_or bitwise_xor bitwise_not bitwise_left_shift
    bitwise_right_shift cumprod cummax cummin dropout max_pool_with_indices adaptive_max_pool""".split()
)
# What is written with operators of another order or with more roundings: equal up to the last digits.
ROUNDED = set(
    """expm1 log1p logaddexp softplus logsigmoid mish elu selu celu layer_norm group_norm batch_norm bce bce_logits
    sdpa""".split()
)
SAMPLES = 4


def _arguments(args: Any) -> tuple[list[Any], Any]:
    """(tensors, a function that puts tensors in their places)."""
    tensors: list[Any] = []

    def collect(item: Any) -> Any:
        if isinstance(item, Input):
            tensors.append(_tensor(item))
            return len(tensors) - 1, item
        return None

    places = [collect(a) for a in args]

    def fill(given: tuple) -> list[Any]:
        out = []
        for place, item in zip(places, args, strict=True):
            if place:
                out.append(place[1].build(given[place[0]]))
            else:
                out.append(getattr(torch, item.torch_name) if isinstance(item, DType) else item)
        return out

    return tensors, fill


def _tensor(item: Input) -> Any:
    from differential.backends import TorchcBackend

    return TorchcBackend(torch).tensor(item.arr, False)


def _results(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (tuple, list)) else [value]


def _same(a: Any, b: Any) -> bool:
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    x, y = a.detach(), b.detach()
    if not x.dtype.is_floating_point:
        return torch.equal(x, y)
    nan = torch.isnan(x)
    return torch.equal(nan, torch.isnan(y)) and torch.equal(
        x.masked_fill(nan, 0.0), y.masked_fill(nan, 0.0)
    )


@pytest.mark.parametrize("row", ROWS, ids=lambda r: r.name)
def test_round_trip_keeps_the_bits(row: Row) -> None:
    dtype = DType.F32 if DType.F32 in row.dtypes else row.dtypes[0]
    exported = 0
    for sample in row.sample(dtype):
        if exported == SAMPLES:
            break
        tensors, fill = _arguments(sample.args)
        if any(t.numel() == 0 for t in tensors) or not tensors:
            continue
        names = [f"x{i}" for i in range(len(tensors))]
        want = _results(row.call(torch, *fill(tuple(t.clone() for t in tensors))))

        def program(*given: Any, fill=fill) -> Any:
            return row.call(torch, *fill(given))

        try:
            model = torch.onnx.export(program, tuple(tensors), input_names=names)
        except NotImplementedError as error:
            reasons = ("writing to a part", "looks at the numbers")
            assert row.name in REFUSED | LACKING or any(r in str(error) for r in reasons), str(
                error
            )
            continue
        proto = onnx.load_from_string(model.model_bytes)
        onnx.checker.check_model(proto, full_check=True)
        got = _results(model(*(t.clone() for t in tensors)))
        assert len(got) == len(want)
        for a, b in zip(want, got, strict=True):
            if row.name.split()[0] in ROUNDED:
                a, b = (t.detach().double().numpy() for t in (a, b))
                np.testing.assert_allclose(b, a, rtol=2e-5, atol=2e-6, err_msg=sample.label)
            else:
                assert _same(a, b), f"{row.name}: {sample.label}"
        exported += 1
    assert exported or row.name in REFUSED | LACKING, "no sample could be exported"


def _network() -> Any:
    class Net(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.one = torch.nn.Linear(6, 8)
            self.two = torch.nn.Linear(8, 3)

        def forward(self, x: Any) -> Any:
            h = torch.relu(self.one(x))
            h[:, 0]  # a view that nothing uses
            return torch.log_softmax(self.two(h), 1), h.mean(0), h.argmax(1)

    torch.manual_seed(3)
    return Net()


def test_reference_evaluator_gives_the_same_numbers() -> None:
    from onnx.reference import ReferenceEvaluator

    net, x = _network(), torch.rand(5, 6)
    model = torch.onnx.export(net, (x,), input_names=["x"], output_names=["p", "m", "c"])
    proto = onnx.load_from_string(model.model_bytes)
    assert [o.name for o in proto.graph.output] == ["p", "m", "c"]
    assert {i.name for i in proto.graph.initializer} >= {"one.weight", "two.bias"}
    got = ReferenceEvaluator(proto).run(None, {"x": x.numpy()})
    for want, value in zip(net(x), got, strict=True):
        np.testing.assert_allclose(value, want.detach().numpy(), rtol=1e-5, atol=1e-6)


def test_nodes_name_the_line_they_come_from() -> None:
    model = torch.onnx.export(_network(), (torch.rand(2, 6),))
    proto = onnx.load_from_string(model.model_bytes)
    assert any("test_onnx_export.py:" in n.doc_string for n in proto.graph.node)


@pytest.mark.parametrize("opset", range(13, 24))
def test_every_opset_is_written_and_read(opset: int) -> None:
    net, x = _network(), torch.rand(4, 6)
    model = torch.onnx.export(net, (x,), opset_version=opset)
    onnx.checker.check_model(onnx.load_from_string(model.model_bytes), full_check=True)
    assert all(_same(a, b) for a, b in zip(net(x), model(x), strict=True))


@pytest.mark.parametrize(
    "program, example, since",
    [
        (lambda x: x.scatter_add(1, x.long(), x), (1, 3), 16),
        (lambda x: x.index_add(1, x.long()[0], x), (1, 3), 16),
        (lambda x: x.reshape(0, 3), (0, 3), 14),
    ],
)
def test_an_operator_of_a_newer_opset_is_refused(program: Any, example: Any, since: int) -> None:
    x = torch.zeros(example)
    message = rf"opset {since - 1} has no .*attribute.*opset_version >= {since} "
    with pytest.raises(NotImplementedError, match=message):
        torch.onnx.export(program, (x,), opset_version=since - 1)
    model = torch.onnx.export(program, (x,), opset_version=since)
    onnx.checker.check_model(onnx.load_from_string(model.model_bytes), full_check=True)
    assert _same(program(x), model(x))


@pytest.mark.parametrize("dilation, ceil_mode", [((3, 1), False), ((1, 3), True), ((2, 3), True)])
def test_pools_of_different_dilations(dilation: tuple[int, int], ceil_mode: bool) -> None:
    x = torch.rand(1, 1, 9, 10)

    def program(x: Any) -> Any:
        return torch.nn.functional.max_pool2d(
            x, (2, 2), stride=2, dilation=dilation, ceil_mode=ceil_mode
        )

    model = torch.onnx.export(program, (x,))
    onnx.checker.check_model(onnx.load_from_string(model.model_bytes), full_check=True)
    assert _same(program(x), model(x))


def test_in_place_writes_of_whole_tensors_are_exported() -> None:
    def program(x: Any) -> Any:
        y = x + 1
        row = y[0]
        y.mul_(2)
        return row, y.t()

    x = torch.rand(3, 4)
    model = torch.onnx.export(program, (x,))
    assert all(_same(a, b) for a, b in zip(program(x), model(x), strict=True))


def test_what_onnx_cannot_say_is_refused_with_the_line(tmp_path) -> None:
    def partly(x: Any) -> Any:
        y = x.clone()
        y[0] = 0
        return y

    target = tmp_path / "m.onnx"
    with pytest.raises(NotImplementedError, match=r"part of a tensor.*test_onnx_export.py:\d+"):
        torch.onnx.export(partly, (torch.rand(2, 2),), target)
    with pytest.raises(NotImplementedError, match="random"):
        torch.onnx.export(lambda x: x + torch.rand(2), (torch.rand(2),), target)
    with pytest.raises(ValueError, match="opset_version 12, expected 13"):
        torch.onnx.export(lambda x: x + 1, (torch.rand(2),), target, opset_version=12)
    with pytest.raises(torch.errors.Unsupported, match="dynamic_axes"):
        torch.onnx.export(lambda x: x, (torch.rand(2),), target, dynamic_axes={"x": {0: "n"}})
    with pytest.raises(FileNotFoundError):
        torch.onnx.export(lambda x: x + 1, (torch.rand(2),), tmp_path / "none" / "m.onnx")
    assert list(tmp_path.iterdir()) == []


def test_saving_a_model_reads_no_mask_of_the_process(tmp_path, monkeypatch) -> None:
    """umask can only be read by setting it: another thread's new files would be open to everybody meanwhile."""

    def refuse(mask):
        raise AssertionError("os.umask was called")

    model = torch.onnx.export(lambda x: x + 1, (torch.rand(2),))
    link = tmp_path / "link.onnx"
    link.symlink_to("m.onnx")
    monkeypatch.setattr(os, "umask", refuse)
    model.save(link)
    assert link.is_symlink() and (tmp_path / "m.onnx").read_bytes() == model.model_bytes
    with pytest.raises(FileNotFoundError, match="missing"):
        model.save(tmp_path / "missing" / "m.onnx")
