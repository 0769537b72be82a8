"""The texts of the device's kernels: what they may hold, and that the assembler takes them."""

from __future__ import annotations

import pathlib
import re
import shutil
import subprocess
from typing import Any

import pytest

PTXAS = shutil.which("ptxas") or shutil.which("/usr/local/cuda/bin/ptxas")


@pytest.fixture(scope="module")
def ptx(root: pathlib.Path, torchc: Any, tmp_path_factory: Any) -> pathlib.Path:
    """Every kernel of the pack in one text."""
    tool = pathlib.Path(torchc.__file__).parents[2] / "bin" / "torchc-kernels"
    if not tool.is_file():
        pytest.skip("build the target torchc-kernels first")
    out = tmp_path_factory.mktemp("ptx") / "kernels.ptx"
    subprocess.run([tool, "--ptx", "--emit=asm", "-o", out], check=True)
    return out


def test_nothing_can_be_contracted_or_approximated(ptx: pathlib.Path) -> None:
    text = ptx.read_text()
    assert text.count(".visible .entry") > 500
    # Without .rn the assembler may join a product and a sum.
    loose = re.findall(r"^\s*(?:@\S+ )?((?:add|sub|mul)\.f(?:32|64))\s", text, re.M)
    assert not loose
    assert not re.search(r"\.(approx|ftz|full)\b", text)
    assert ".extern" not in text and "call" not in text and ".local" not in text


@pytest.mark.skipif(PTXAS is None, reason="needs ptxas of CUDA's toolkit")
@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
def test_the_assembler_takes_every_kernel(ptx: pathlib.Path, tmp_path: Any, arch: str) -> None:
    command = [PTXAS, f"-arch={arch}", "-v", "-O1", ptx, "-o", tmp_path / "kernels.cubin"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[:2000]
    spills = re.findall(r"(\d+) bytes spill stores", done.stderr)
    assert len(spills) == ptx.read_text().count(".visible .entry") and set(spills) == {"0"}
    assert "warning" not in done.stderr.lower()
