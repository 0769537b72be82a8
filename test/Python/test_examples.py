"""The examples, run as a user runs them."""

import subprocess
import sys

import pytest


def test_digits_reach_the_accuracy_with_identical_bits(root, torchc):
    if not hasattr(torchc, "compile"):
        pytest.skip("needs torchc.compile")
    result = subprocess.run(
        [sys.executable, root / "test/Examples/digits.py"], capture_output=True, text=True
    )
    assert result.returncode == 0, result.stdout + result.stderr
    lines = dict(line.split(":", 1) for line in result.stdout.splitlines())
    for kind in ("eager", "compiled", "executable"):
        assert float(lines[f"accuracy {kind}"].split()[0]) >= 0.95
    assert lines["identical"].strip() == "yes"
    for figure in ("compile time", "executable size", "start-to-answer time"):
        assert float(lines[figure].split()[0]) > 0
    assert result.stderr == "", "without a terminal there is no progress bar"
