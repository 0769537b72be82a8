"""The command and its artefacts in a user's hands: where they write, and what they say when something is missing."""

from __future__ import annotations

import os
import pathlib
import pty
import shutil
import stat
import subprocess
import sys

import pytest

torchc = pytest.importorskip("torchc", exc_type=ImportError)
np = pytest.importorskip("numpy")

from torchc import export, nn  # noqa: E402 - after the skip

TORCHC = pathlib.Path(torchc._C.__file__).resolve().parents[2] / "bin" / "torchc"
NO_SPACE = "No space left on device"

pytestmark = pytest.mark.skipif(not TORCHC.is_file(), reason="the compiler isn't built")


def run(folder: pathlib.Path, *command, **options) -> subprocess.CompletedProcess:
    """Runs a command in `folder`."""
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    return subprocess.run([str(c) for c in command], cwd=folder, text=True, timeout=120, **options)


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> pathlib.Path:
    """A folder with net.tcz, the executable net, its input x.npy and the result want.npy."""
    folder = tmp_path_factory.mktemp("made")
    torchc.manual_seed(0)
    net, x = nn.Linear(8, 4), torchc.rand(2, 8)
    export.save(export.export(net, (x,)), folder / "net.tcz")
    np.save(folder / "x.npy", x.numpy())
    np.save(folder / "want.npy", net(x).detach().numpy())
    done = run(folder, TORCHC, "compile", "net.tcz", "--emit=exe")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "wrote net\n"
    return folder


@pytest.fixture
def folder(made, tmp_path) -> pathlib.Path:
    """A copy of `made`."""
    shutil.copytree(made, tmp_path / "f")
    return tmp_path / "f"


def node(path: pathlib.Path, minor: int) -> pathlib.Path:
    """A private memory device: 3 is null, 7 is full."""
    try:
        os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, minor))
        path.open("rb").close()
    except PermissionError:
        pytest.skip("only root makes devices")
    return path


def write(folder, output) -> subprocess.CompletedProcess:
    """Runs the model with its result in `output`."""
    return run(folder, "./net", "--input", "input=x.npy", "--output", f"output={output}")


def test_a_result_is_what_numpy_writes(folder):
    assert write(folder, "y.npy").returncode == 0
    assert (folder / "y.npy").read_bytes() == (folder / "want.npy").read_bytes()


@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (0, 2)])
def test_a_header_is_what_numpy_writes(tmp_path, shape):
    x = torchc.ones(shape)
    export.save(export.export(lambda x: x + 1, (x,)), tmp_path / "f.tcz")
    np.save(tmp_path / "x.npy", x.numpy())
    np.save(tmp_path / "want.npy", x.numpy() + np.float32(1))
    assert run(tmp_path, TORCHC, "compile", "f.tcz", "--emit=so", "-o", "f.so").returncode == 0
    done = run(tmp_path, TORCHC, "run", "f.so", "--input", "x.npy", "--output", "y.npy")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "y.npy").read_bytes() == (tmp_path / "want.npy").read_bytes()


def test_a_result_goes_into_a_device_and_leaves_it(folder):
    null, full = node(folder / "null", 3), node(folder / "full", 7)
    assert write(folder, "null").returncode == 0
    done = write(folder, "full")
    assert done.returncode == 1 and done.stderr == f"error: full: {NO_SPACE}\n"
    assert null.is_char_device() and full.is_char_device()
    (folder / "link").symlink_to("null")
    assert write(folder, "link").returncode == 0
    assert null.is_char_device() and (folder / "link").is_symlink()


def test_a_result_goes_where_a_link_leads(folder):
    (folder / "sub").mkdir()
    (folder / "sub" / "y.npy").write_bytes(b"old")
    (folder / "link").symlink_to("sub/y.npy")
    (folder / "new").symlink_to("sub/new.npy")
    want = (folder / "want.npy").read_bytes()
    for link, target in (("link", "y.npy"), ("new", "new.npy")):
        assert write(folder, link).returncode == 0
        assert (folder / link).is_symlink()
        assert (folder / "sub" / target).read_bytes() == want
    assert sorted(f.name for f in (folder / "sub").iterdir()) == ["new.npy", "y.npy"]
    (folder / "none").symlink_to("missing/y.npy")
    done = write(folder, "none")
    assert done.returncode == 1 and done.stderr == "error: none: No such file or directory\n"


def test_other_files_of_a_folder_are_left_alone(folder):
    for name in ("y.npy.temp", "y.npy.temp0"):
        (folder / name).write_bytes(b"mine")
    assert write(folder, "y.npy").returncode == 0
    assert (folder / "y.npy").read_bytes() == (folder / "want.npy").read_bytes()
    for name in ("y.npy.temp", "y.npy.temp0"):
        assert (folder / name).read_bytes() == b"mine"


@pytest.mark.parametrize("emit", ["exe", "so", "a", "o", "object", "trace"])
def test_an_artefact_goes_where_a_link_leads(folder, emit):
    (folder / "sub").mkdir()
    (folder / "link").symlink_to("sub/first")
    (folder / "sub" / "first").symlink_to("second")  # which isn't there
    done = run(folder, TORCHC, "compile", "net.tcz", f"--emit={emit}", "-o", "link")
    assert done.returncode == 0, done.stderr
    assert (folder / "link").is_symlink() and (folder / "sub" / "first").is_symlink()
    assert (folder / "sub" / "second").stat().st_size > 0
    null = node(folder / "null", 3)
    done = run(folder, TORCHC, "compile", "net.tcz", f"--emit={emit}", "-o", "null")
    assert done.returncode == 1 and "null: it is not a regular file" in done.stderr
    assert null.is_char_device()


def test_lost_output_is_an_error(folder):
    with open("/dev/full", "w") as full:
        for options in (["--input", "input=x.npy"], ["--help"], ["--signature"], ["--self-test"]):
            done = run(folder, "./net", *options, stdout=full)
            assert done.returncode == 1 and done.stderr == f"error: stdout: {NO_SPACE}\n"
        for options in (["--help"], ["inspect", "net"], ["compile", "net.tcz", "--emit=llvm"]):
            done = run(folder, TORCHC, *options, stdout=full)
            assert done.returncode == 1 and done.stderr == f"error: stdout: {NO_SPACE}\n"


def test_a_full_disk_is_called_so(folder):
    script = f"mount -t tmpfs -o size=8k none full && exec {TORCHC} compile net.tcz --emit=$0 -o full/net"
    (folder / "full").mkdir()
    if run(folder, "unshare", "-m", "true").returncode:
        pytest.skip("only root mounts a small disk")
    for emit in ("exe", "so", "o", "a"):
        done = run(folder, "unshare", "-m", "sh", "-c", script, emit)
        assert done.returncode == 1
        assert done.stderr == f"error: net.tcz: cannot write full/net: {NO_SPACE}\n"


def test_weights_are_asked_for_by_the_option(folder):
    done = run(folder, "./net", "--input", "input=x.npy", "--weights", "net.tcz")
    assert done.returncode == 1
    assert (
        done.stderr
        == "error: --weights net.tcz: this model carries its weights and takes no file\n"
    )
    done = run(
        folder, TORCHC, "compile", "net.tcz", "--emit=exe", "--weights=external", "-o", "far"
    )
    assert done.returncode == 0, done.stderr
    for option in (["--input", "input=x.npy"], ["--self-test"]):
        done = run(folder, "./far", *option)
        assert done.returncode == 1
        want = "error: this model keeps its weights in a file: add --weights ./far.weights\n"
        assert done.stderr == want
        assert run(folder, "./far", *option, "--weights", "./far.weights").returncode == 0


@pytest.mark.parametrize("verb", ["run", "inspect"])
def test_a_model_is_no_artefact_yet(folder, verb):
    done = run(folder, TORCHC, verb, "net.tcz")
    assert done.returncode == 1
    want = "net.tcz: it is a model; compile it first: torchc compile net.tcz --emit=exe -o NAME"
    assert done.stderr == f"error: {want}\n"
    done = run(folder, TORCHC, verb, "none.tcz")
    assert done.returncode == 1 and done.stderr == "error: none.tcz: No such file or directory\n"


def test_an_object_is_not_for_a_terminal(folder):
    parent, child = pty.openpty()
    try:
        done = run(folder, TORCHC, "compile", "net.tcz", stdout=child)
        assert done.returncode == 1 and "an object file is not for a terminal" in done.stderr
        assert (
            run(folder, TORCHC, "compile", "net.tcz", "--emit=trace", stdout=child).returncode == 0
        )
    finally:
        os.close(child)
        os.close(parent)
    with open(folder / "net.o", "wb") as file:
        assert run(folder, TORCHC, "compile", "net.tcz", stdout=file).returncode == 0
    assert (folder / "net.o").read_bytes().startswith(b"\x7fELF")


def test_headers_of_an_archive_and_an_object_are_the_same(folder):
    headers = []
    for emit in "ao":
        assert (
            run(
                folder, TORCHC, "compile", "net.tcz", f"--emit={emit}", "-o", f"net.{emit}"
            ).returncode
            == 0
        )
        headers.append((folder / "net.h").read_bytes())
    assert headers[0] == headers[1]


def test_an_input_that_a_function_lacks(folder):
    (folder / "cube.py").write_text("def cube(x, y):\n    return x * y\n")
    path = os.pathsep.join([str(pathlib.Path(sys.executable).parent), os.environ["PATH"]])
    env = {**os.environ, "PATH": path, "PYTHONPATH": str(TORCHC.parents[1] / "python")}
    inputs = [w for name in "xyz" for w in ("--input", f"{name}=f32[2]")]
    done = run(folder, TORCHC, "compile", "cube.py:cube", "--emit=trace", *inputs, env=env)
    assert done.returncode == 1
    want = "--input: cube.py: cube() has no argument named 'z'; it takes x, y"
    assert done.stderr == f"error: {want}\n"
    done = run(folder, TORCHC, "compile", "cube.py:cube", "--emit=trace", *inputs[:4], env=env)
    assert done.returncode == 0, done.stderr


def test_the_interpreter_is_the_one_beside_the_command(folder):
    (folder / "f.py").write_text("def f(x):\n    return x + 1\n")
    for place in ("beside", "other"):
        (folder / place).mkdir()
        python = folder / place / "python3"
        python.write_text(f"#!/bin/sh\necho {place} >&2\nexit 1\n")
        python.chmod(0o755)
    (folder / "beside" / "torchc").symlink_to(TORCHC)
    command = ["compile", "f.py:f", "--emit=trace", "--input", "x=f32[2]"]
    other = {**os.environ, "PATH": f"{folder / 'other'}:{os.environ['PATH']}"}
    assert run(folder, "beside/torchc", *command, env=other).stderr == "beside\n"
    both = {**other, "PATH": f"{folder / 'other'}:{folder / 'beside'}"}
    assert run(folder, "torchc", *command, env=both).stderr == "beside\n"
    assert run(folder, TORCHC, *command, env=other).stderr == "other\n"  # there is none beside it
