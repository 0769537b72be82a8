"""Every example that ONNX's standard has of the operators torchc knows: values, types and shapes."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torchc", reason="torchc is not on the path", exc_type=ImportError)
onnx = pytest.importorskip("onnx")

from onnx import numpy_helper  # noqa: E402
from onnx.backend.test.case import node  # noqa: E402

# Random numbers; lengths that aren't whole, where other runtimes follow the operator's text as torchc does.
LEFT_OUT = {
    "test_training_dropout",
    "test_training_dropout_default",
    "test_training_dropout_default_mask",
    "test_training_dropout_mask",
    "test_resize_downsample_scales_cubic_align_corners",
    "test_resize_downsample_scales_linear_align_corners",
}
KINDS = set("?bBhilqefd")  # of NumPy's types, those that torchc has


def _cases() -> list[Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return node.collect_testcases(None)


def _array(value: Any) -> Any:
    if isinstance(value, onnx.TensorProto):
        value = numpy_helper.to_array(value)
    return [_array(v) for v in value] if isinstance(value, list) else np.asarray(value)


def _known(value: Any) -> bool:
    values = value if isinstance(value, list) else [value]
    return all(_known(v) if isinstance(v, list) else v.dtype.char in KINDS for v in values)


def _compare(got: Any, want: Any, case: Any) -> None:
    if isinstance(want, list):
        for g, w in zip(got, want, strict=True):
            _compare(g, w, case)
        return
    assert (got.dtype, got.shape) == (want.dtype, want.shape), case.name
    rtol, atol = (5e-3, 1e-3) if want.dtype == np.float16 else (max(case.rtol, 1e-4), 1e-5)
    np.testing.assert_allclose(got, want, rtol=rtol, atol=atol, err_msg=case.name)


def test_examples_of_the_standard() -> None:
    """torchc computes them, or says which operator, type or version is missing: it ignores nothing."""
    ran = 0
    for case in _cases():
        if case.model is None or case.name in LEFT_OUT or not case.model.graph.input:
            continue
        names = [i.name for i in case.model.graph.input]
        for inputs, outputs in case.data_sets:
            if any(v is None for v in [*inputs, *outputs]):
                continue
            feeds, want = [_array(v) for v in inputs], [_array(v) for v in outputs]
            if not (_known(feeds) and _known(want)):
                continue
            try:
                model = torch.onnx.load(case.model.SerializeToString())
                got = model(dict(zip(names, feeds, strict=True)))
            except NotImplementedError:
                continue
            got = list(got.values()) if isinstance(got, dict) else got
            for g, w in zip(got, want, strict=True):
                _compare(g, w, case)
            ran += 1
    assert ran > 1200
