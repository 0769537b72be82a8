"""What README.md shows is run as it is printed."""

import subprocess
import sys
import textwrap

import pytest

from compiled import COMPILER, needs_compiler

torchc = pytest.importorskip("torchc", reason="torchc is not on the path", exc_type=ImportError)


def _block(text: str, start: str) -> str:
    """The indented block that begins with the line `start`."""
    lines = text[text.index(start) :].splitlines()
    end = next(i for i, line in enumerate(lines) if line and not line.startswith("    "))
    return textwrap.dedent("\n".join(lines[:end]))


@needs_compiler
def test_demo(root, tmp_path):
    readme = (root / "README.md").read_text()
    demo = _block(readme, "    import torchc as torch")
    assert len(readme.splitlines()) <= 150 and len(demo.split()) and len(demo.splitlines()) <= 24
    run = {"cwd": tmp_path, "text": True, "capture_output": True, "timeout": 120}
    done = subprocess.run([sys.executable, "-c", demo], **run)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout.split()[0]) < 0.1 and "step: tier" in done.stdout
    torchc.manual_seed(0)
    array = torchc.rand(512, 8).numpy()
    with open(tmp_path / "x.npy", "wb") as file:
        numpy = pytest.importorskip("numpy")
        numpy.save(file, array)
    shown = _block(readme, "    build/venv/bin/torchc compile").splitlines()
    assert [line.split()[1] for line in shown] == ["compile", "run"]
    for line in shown:
        words = line.split("#")[0].split()
        done = subprocess.run([COMPILER, *words[1:]], **run)
        assert done.returncode == 0, done.stderr
    assert numpy.load(tmp_path / "y.npy").shape == (512, 2)
