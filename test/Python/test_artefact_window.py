"""Convolutions and pools in artefacts: an executable and a library give eager's bits, for every driver and type."""

import os
import pathlib
import subprocess
import sys

import pytest

torchc = pytest.importorskip("torchc", exc_type=ImportError)
np = pytest.importorskip("numpy")

from torchc import export, nn  # noqa: E402 - after the skip

BUILD = pathlib.Path(torchc._C.__file__).resolve().parents[2]
TORCHC = BUILD / "bin" / "torchc"
pytestmark = pytest.mark.skipif(not TORCHC.is_file(), reason="the compiler isn't built")


def run(*command, cwd) -> None:
    """Runs the command; fails with what it printed."""
    path = os.pathsep.join([str(pathlib.Path(sys.executable).parent), os.environ["PATH"]])
    env = {**os.environ, "PYTHONPATH": str(BUILD / "python"), "PATH": path}
    done = subprocess.run(
        [str(c) for c in command], cwd=cwd, env=env, text=True, capture_output=True, timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr


def parameter(*shape, dtype=None):
    return nn.Parameter((torchc.rand(*shape) - 0.5).to(dtype or torchc.float32))


class Network(nn.Module):
    """A dense convolution with a bias, a depthwise one, a transposed one, maxima and means."""

    def __init__(self, dtype):
        super().__init__()
        torchc.manual_seed(3)
        self.w1, self.b1 = parameter(20, 3, 3, 3, dtype=dtype), parameter(20, dtype=dtype)
        self.w2, self.w3 = parameter(20, 1, 3, 3, dtype=dtype), parameter(20, 5, 2, 2, dtype=dtype)

    def forward(self, x):
        x = torchc.max_pool2d(torchc.relu(torchc.conv2d(x, self.w1, self.b1, padding=1)), 2)
        x = torchc.conv2d(x, self.w2, padding=1, groups=20)
        x = torchc.conv_transpose2d(x, self.w3, stride=2)
        return torchc.avg_pool2d(x, 3, padding=1), torchc.adaptive_avg_pool2d(x, 1)


@pytest.mark.parametrize("emit", ["exe", "so"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_network_answers_with_the_bits_of_eager(tmp_path, emit, dtype):
    model = Network(getattr(torchc, dtype))
    torchc.manual_seed(5)
    x = torchc.rand(3, 3, 12, 10).to(getattr(torchc, dtype))
    export.save(export.export(model, (x,)), tmp_path / "net.tcz")
    run(TORCHC, "compile", "net.tcz", f"--emit={emit}", "-o", "net", cwd=tmp_path)
    np.save(tmp_path / "x.npy", x.numpy())
    args = ["--input", "x=x.npy", "--output", "output0=a.npy", "--output", "output1=b.npy"]
    run(TORCHC, "run", "net", *args, cwd=tmp_path)
    for want, name in zip(model(x), "ab"):
        got = np.load(tmp_path / f"{name}.npy")
        assert got.tobytes() == want.detach().numpy().tobytes()


def test_a_training_step_answers_with_the_bits_of_eager(tmp_path):
    """Gradients of the first layer (few channels), of a wide one, of a depthwise one and of the maximum."""

    def step(x, w1, w2, w3):
        weights = [w.detach().requires_grad_() for w in (x, w1, w2, w3)]
        h = torchc.max_pool2d(torchc.relu(torchc.conv2d(weights[0], weights[1], padding=1)), 2)
        h = torchc.conv2d(torchc.conv2d(h, weights[2]), weights[3], groups=24)
        return torchc.autograd.grad((h * h).sum(), weights)

    torchc.manual_seed(5)
    args = [
        torchc.rand(2, 1, 12, 12),
        torchc.rand(20, 1, 3, 3),
        torchc.rand(24, 20, 3, 3),
        torchc.rand(24, 1, 2, 2),
    ]
    export.save(export.export(step, tuple(args)), tmp_path / "step.tcz")
    run(TORCHC, "compile", "step.tcz", "--emit=exe", "-o", "step", cwd=tmp_path)
    options = []
    for name, value in zip(("x", "w1", "w2", "w3"), args):
        np.save(tmp_path / f"{name}.npy", value.numpy())
        options += ["--input", f"{name}={name}.npy"]
    for i in range(4):
        options += ["--output", f"output{i}=g{i}.npy"]
    run(TORCHC, "run", "step", *options, cwd=tmp_path)
    for i, want in enumerate(step(*args)):
        assert np.load(tmp_path / f"g{i}.npy").tobytes() == want.numpy().tobytes()


@pytest.mark.parametrize("target", ["x86-64-v3", "x86-64-v4", "aarch64"])
def test_a_network_compiles_for_every_target(tmp_path, target):
    model = Network(torchc.float32)
    export.save(export.export(model, (torchc.rand(1, 3, 8, 8),)), tmp_path / "net.tcz")
    run(
        TORCHC,
        "compile",
        "net.tcz",
        "--emit=so",
        f"--target={target}",
        "-o",
        "net.so",
        cwd=tmp_path,
    )
    assert (tmp_path / "net.so").stat().st_size < 300_000
