"""The examples, run as a user runs them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest


@pytest.fixture(scope="module")
def digits(root: Path, torchc, tmp_path_factory) -> tuple[subprocess.CompletedProcess, Path]:
    """What the example printed, and the folder of its files: digits.onnx, x.npy, logits.npy."""
    folder = tmp_path_factory.mktemp("digits")
    command = [sys.executable, root / "test/Examples/digits.py", "--keep", folder]
    return subprocess.run(command, capture_output=True, text=True), folder


def test_digits_reach_the_accuracy_with_identical_bits(digits) -> None:
    result, _ = digits
    assert result.returncode == 0, result.stdout + result.stderr
    lines = dict(line.split(":", 1) for line in result.stdout.splitlines())
    for kind in ("eager", "compiled", "ONNX", "executable"):
        assert float(lines[f"accuracy {kind}"].split()[0]) >= 0.97
    assert lines["identical"].strip() == "yes"
    for figure in ("compile time", "executable size", "start-to-answer time"):
        assert float(lines[figure].split()[0]) > 0
    assert result.stderr == "", "without a terminal there is no progress bar"


def test_the_exported_digits_pass_the_checker(digits) -> None:
    onnx = pytest.importorskip("onnx")
    model = onnx.load(digits[1] / "digits.onnx")
    onnx.checker.check_model(model, full_check=True)
    assert [(o.domain, o.version) for o in model.opset_import] == [("", 21)]


def test_onnx_runtime_finds_the_same_classes(digits) -> None:
    runtime = pytest.importorskip("onnxruntime")
    folder = digits[1]
    session = runtime.InferenceSession(folder / "digits.onnx", providers=["CPUExecutionProvider"])
    (logits,) = session.run(None, {session.get_inputs()[0].name: np.load(folder / "x.npy")})
    ours = np.load(folder / "logits.npy")
    assert np.array_equal(logits.argmax(1), ours.argmax(1))
    np.testing.assert_allclose(logits, ours, rtol=1e-4, atol=1e-4)
