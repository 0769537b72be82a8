"""What README.md shows is run as it is printed."""

import shutil
import subprocess
import sys
import textwrap

import pytest

from compiled import COMPILER, needs_compiler

torchc = pytest.importorskip("torchc", reason="torchc is not on the path", exc_type=ImportError)
numpy = pytest.importorskip("numpy")


def _block(text: str, start: str) -> str:
    """The indented block that begins with the line `start`."""
    lines = text[text.index(start) :].splitlines()
    end = next(i for i, line in enumerate(lines) if line and not line.startswith("    "))
    return textwrap.dedent("\n".join(lines[:end]))


@needs_compiler
def test_demo(root, tmp_path):
    readme = (root / "README.md").read_text()
    demo = _block(readme, "    import numpy")
    assert len(readme.splitlines()) <= 150 and len(demo.split()) and len(demo.splitlines()) <= 24
    run = {"cwd": tmp_path, "text": True, "capture_output": True, "timeout": 120}
    done = subprocess.run([sys.executable, "-c", demo], **run)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout.split()[0]) < 0.1 and "step: tier" in done.stdout
    shown = _block(readme, "    build/venv/bin/torchc compile").splitlines()
    assert [line.split()[1] for line in shown] == ["compile", "run"]
    for line in shown:
        words = line.split("#")[0].split()
        done = subprocess.run([COMPILER, *words[1:]], **run)
        assert done.returncode == 0, done.stderr
    y = numpy.load(tmp_path / "y.npy")
    assert y.shape == (512, 2)
    want = numpy.load(tmp_path / "x.npy").sum(1) > 4
    assert ((y[:, 1] > y[:, 0]) == want).mean() > 0.95  # what was learnt

    c = _block(readme, "    #include")
    (tmp_path / "main.c").write_text(c)
    for line in _block(readme, "    build/venv/bin/torchc compile model.tcz --emit=a").splitlines()[
        :2
    ]:
        words = line.split("#")[0].split()
        if words[0] == "cc":
            words[0] = (
                shutil.which("cc") or shutil.which("clang-22") or pytest.skip("no C compiler")
            )
            words = [str(root / word) if word == "runtime/include" else word for word in words]
        else:
            words[0] = str(COMPILER)
        done = subprocess.run(words, **run)
        assert done.returncode == 0, done.stderr
    done = subprocess.run([tmp_path / "main"], **run)
    assert done.returncode == 0, done.stderr
    numpy.save(tmp_path / "zero.npy", numpy.zeros((512, 8), "f4"))
    ran = [COMPILER, "run", "model", "--input", "input=zero.npy", "--output", "output=y.npy"]
    assert subprocess.run(ran, **run).returncode == 0
    y = numpy.load(tmp_path / "y.npy")
    assert done.stdout == "%g %g\n" % tuple(y[0])
