"""Which files `torchc compile` writes: all that belong to an artefact, or none."""

import os
import pathlib
import subprocess
import sys

import pytest

torchc = pytest.importorskip("torchc", exc_type=ImportError)

from torchc import export, nn  # noqa: E402 - after the skip

TORCHC = pathlib.Path(torchc._C.__file__).resolve().parents[2] / "bin" / "torchc"

pytestmark = pytest.mark.skipif(not TORCHC.is_file(), reason="the compiler isn't built")


@pytest.fixture
def folder(tmp_path):
    """A folder with net.tcz."""
    export.save(export.export(nn.Linear(8, 4), (torchc.zeros(2, 8),)), tmp_path / "net.tcz")
    return tmp_path


def compile_net(folder, *options):
    """Runs the compiler in `folder`; its exit code, its report and the files that are there then."""
    path = os.pathsep.join([str(pathlib.Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        [str(TORCHC), "compile", "net.tcz", *options],
        cwd=folder,
        env={**os.environ, "PATH": path},
        text=True,
        capture_output=True,
        timeout=120,
    )
    files = sorted(str(f.relative_to(folder)) for f in folder.rglob("*") if f.is_file())
    return done.returncode, done.stdout + done.stderr, files


@pytest.mark.parametrize("emit", ["so", "exe", "o", "a"])
def test_external_weights_come_with_the_artefact_or_not_at_all(folder, emit):
    options = (f"--emit={emit}", "--weights=external", "-o", "net.out")
    code, text, files = compile_net(folder, *options, "--name=no-name")
    assert code == 1 and "no-name" in text
    assert files == ["net.tcz"]
    (folder / "net.out.weights").write_bytes(b"old")
    assert compile_net(folder, *options, "--name=no-name")[0] == 1
    assert (folder / "net.out.weights").read_bytes() == b"old"
    code, text, files = compile_net(folder, *options)
    assert code == 0, text
    header = ["net.h"] if emit in "oa" else []
    assert files == [*header, "net.out", "net.out.weights", "net.tcz"]
    assert (
        len((folder / "net.out.weights").read_bytes()) == 192
    )  # 4 * 8 and 4 floats, each padded to 64 bytes


@pytest.mark.parametrize("emit", ["o", "a"])
@pytest.mark.parametrize(
    ("output", "header"),
    [("./model", "model.h"), ("v1.2/model", "v1.2/model.h"), ("v1.2/a.b.o", "v1.2/a.b.h")],
)
def test_a_header_has_the_name_of_its_object(folder, emit, output, header):
    (folder / "v1.2").mkdir()
    code, text, files = compile_net(folder, f"--emit={emit}", "-o", output)
    assert code == 0, text
    assert files == sorted([header, "net.tcz", output.removeprefix("./")])


@pytest.mark.parametrize("emit", ["o", "a"])
def test_no_object_without_its_header(folder, emit):
    code, text, files = compile_net(folder, f"--emit={emit}", "-o", "net.h")
    assert code == 1 and "header" in text
    assert files == ["net.tcz"]
    (folder / "net.h").mkdir()
    code, text, files = compile_net(folder, f"--emit={emit}", "-o", "net.o")
    assert code == 1 and "net.h" in text
    assert files == ["net.tcz"]
