"""Environment variables: each does what its row in torchc/knobs.py says, and a value that isn't followed is said."""

import os
import subprocess
import sys

import pytest

torch = pytest.importorskip("torchc", reason="torchc is not on the path", exc_type=ImportError)
from compiled import needs_compiler  # noqa: E402

COMPILED = """
import torchc
step = torchc.compile(lambda x: x.exp() + 1, background=False)
for _ in range(3):
    step(torchc.ones(4))
"""


def run(code: str, **knobs: str) -> str:
    """What the program prints to stderr; it must succeed."""
    env = (
        os.environ
        | {"TORCHC_CACHE_DIR": knobs.pop("cache", ""), "PYTHONPATH": os.pathsep.join(sys.path)}
        | knobs
    )
    result = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return result.stderr


@needs_compiler
def test_dump_writes_every_stage(tmp_path):
    for _ in range(2):  # again with the object in the cache
        run(COMPILED, cache=str(tmp_path / "cache"), TORCHC_DUMP=str(tmp_path / "dump"))
        (folder,) = (tmp_path / "dump").iterdir()
        files = {file.name: file.read_text() for file in folder.iterdir()}
        assert sorted(files) == ["1-trace.txt", "2-torchc.mlir", "3-loops.mlir", "4-llvm.ll"]
        assert "torchc.exp" in files["2-torchc.mlir"] and "torchc_entry" in files["4-llvm.ll"]
        for file in folder.iterdir():
            file.unlink()


@needs_compiler
def test_dump_that_cannot_be_written_keeps_the_program_eager(tmp_path):
    (tmp_path / "file").write_text("")
    log = tmp_path / "log"
    run(COMPILED, cache=str(tmp_path), TORCHC_DUMP=str(tmp_path / "file"), TORCHC_LOG=str(log))
    assert "compile-failed: dump: cannot write" in log.read_text()


def test_log_that_cannot_be_written_is_said_in_one_line(tmp_path):
    for path in (tmp_path, tmp_path / "missing" / "log"):
        err = run("import torchc; torchc.compile(abs)", TORCHC_LOG=str(path))
        assert err.startswith(f"torchc: warning: TORCHC_LOG: cannot write {path}: ")
        assert err.count("\n") == 1


def test_unknown_choice_is_refused():
    code = """
import torchc
try:
    torchc.compile(abs)
except ValueError as error:
    assert "expected one of off, helper" in str(error)
else:
    raise AssertionError
"""
    assert run(code, TORCHC_COMPILE="inprocess") == ""


@pytest.mark.parametrize(
    "knob, value, text",
    [
        ("TORCHC_NUM_THREADS", "many", "expected a number from 1 to 1024"),
        ("TORCHC_ISA", "v9", "expected v3 or v4"),
    ],
)
def test_refused_value_is_said(knob, value, text):
    err = run("import torchc", **{knob: value})
    assert "RuntimeWarning" in err and knob in err and text in err and value in err


def test_no_warning_otherwise():
    assert run("import torchc") == ""
