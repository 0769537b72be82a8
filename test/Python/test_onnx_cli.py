"""torchc compile MODEL.onnx: artefacts and stages of an imported model."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest

from differential.artefact import Library
from oracle.dtypes import Arr, DType

torch = pytest.importorskip("torchc", reason="torchc is not on the path", exc_type=ImportError)
pytest.importorskip("onnx")


@pytest.fixture(scope="module")
def command(root: Path) -> Path:
    """The command beside the tested package."""
    found = Path(torch.__file__).parents[2] / "bin" / "torchc"
    if not found.exists():
        pytest.skip("the torchc command isn't built")
    return found


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> tuple[Path, torch.Tensor, torch.Tensor]:
    """(file, input, result)"""
    torch.manual_seed(1)
    net = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3))
    x = torch.rand(4, 6)
    path = tmp_path_factory.mktemp("onnx") / "net.onnx"
    torch.onnx.export(net, (x,), path, input_names=["x"], output_names=["y"])
    return path, x, net(x).detach()


def _run(*args: object) -> subprocess.CompletedProcess:
    return subprocess.run([str(a) for a in args], capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize("kind", ["exe", "so"])
def test_artefact_gives_the_bits_of_the_eager_model(command, model, tmp_path, kind) -> None:
    path, x, want = model
    out = tmp_path / f"net.{kind}"
    built = _run(command, "compile", path, f"--emit={kind}", "-o", out)
    assert built.returncode == 0, built.stderr
    np.save(tmp_path / "x.npy", x.numpy())
    ran = _run(
        command,
        "run",
        out,
        "--input",
        f"x={tmp_path / 'x.npy'}",
        "--output",
        f"y={tmp_path / 'y.npy'}",
    )
    assert ran.returncode == 0, ran.stderr
    assert np.array_equal(np.load(tmp_path / "y.npy"), want.numpy())


@pytest.mark.parametrize("orders", [1, 2])
def test_gradients_are_those_of_the_tape(command, tmp_path, orders) -> None:
    """Biases and transposed weights included, which a program without gradients prepares when it is imported."""
    torch.manual_seed(2)
    nn = torch.nn
    net = nn.Sequential(nn.Conv2d(1, 4, 3), nn.Tanh(), nn.Flatten(), nn.Linear(16, 5), nn.GELU())
    x, cotangent = torch.rand(3, 1, 4, 4, requires_grad=True), torch.rand(3, 5)
    file, library = tmp_path / "net.onnx", tmp_path / "net.so"
    torch.onnx.export(net, (x,), file, input_names=["x"], output_names=["y"])
    built = _run(command, "compile", file, f"--grad={orders}", "--emit=so", "-o", library)
    assert built.returncode == 0, built.stderr

    model = torch.onnx.load(file)
    wrt = {"x": x, **{k: w for k, w in model.state_dict().items() if w.is_floating_point()}}
    for weight in wrt.values():
        weight.requires_grad_()
    y = model(x)
    cotangent.requires_grad_(orders > 1)
    given, want = {"x": x, "y.grad": cotangent}, {"y": y}
    first = torch.autograd.grad(y, list(wrt.values()), cotangent, create_graph=orders > 1)
    want.update({f"{name}.grad": grad for name, grad in zip(wrt, first)})
    if orders == 2:  # the function above has an input `y.grad` and results `y`, `x.grad`...
        wrt["y.grad"] = cotangent
        cotangents = [torch.rand(t.shape) for t in (y, *first)]
        second = torch.autograd.grad([y, *first], list(wrt.values()), cotangents)
        names = ["y.grad2", *(f"{name}.grad" for name in want if name != "y")]
        given.update(zip(names, cotangents))
        names = [f"{name}.grad" if name == "y.grad" else f"{name}.grad2" for name in wrt]
        want.update(zip(names, second))
    with Library(library) as opened:
        assert {name for name, _, _ in opened.inputs} == set(given)
        arrays = {name: Arr(DType.F32, tensor.detach().numpy()) for name, tensor in given.items()}
        status, message, made = opened.run(arrays)
        names = [name for name, _, _ in opened.outputs]
    assert (status, message, set(names)) == (0, "", set(want))
    for name, got in zip(names, made):
        assert got.data.tobytes() == want[name].detach().numpy().tobytes(), name


@pytest.mark.parametrize("stage", ["trace", "torchc", "loops", "llvm", "asm"])
def test_every_stage_is_printed(command, model, stage) -> None:
    ran = _run(command, "compile", model[0], f"--emit={stage}")
    assert ran.returncode == 0 and ran.stdout


def test_sizes_that_the_model_leaves_open_must_be_given(command, tmp_path) -> None:
    from onnx import TensorProto, helper

    graph = helper.make_graph(
        [helper.make_node("Relu", ["in:0"], ["y"])],
        "g",
        [helper.make_tensor_value_info("in:0", TensorProto.FLOAT, ["n", 3])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 3])],
    )
    path = tmp_path / "open.onnx"
    path.write_bytes(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)]).SerializeToString()
    )
    ran = _run(command, "compile", path, "--emit=torchc")
    assert ran.returncode == 1 and "input 'in:0' has no fixed sizes" in ran.stderr
    ran = _run(command, "compile", path, "--emit=torchc", "--input", "in:0=f32[5,3]")
    assert ran.returncode == 0 and "tensor<5x3xf32>" in ran.stdout
    ran = _run(command, "compile", path, "--emit=torchc", "--input", "z=f32[5,3]")
    assert ran.returncode == 1 and "no input named 'z'" in ran.stderr


@pytest.mark.parametrize("content", [b"", b"text", None])
def test_files_that_are_no_model_end_with_1_and_leave_nothing(command, tmp_path, content) -> None:
    path, out = tmp_path / "bad.onnx", tmp_path / "out"
    if content is not None:
        path.write_bytes(content)
    ran = _run(command, "compile", path, "--emit=exe", "-o", out)
    assert ran.returncode == 1 and ran.stderr.startswith("error: ") and not out.exists()


def test_outputs_keep_their_names_in_an_artefact(command, tmp_path) -> None:
    x = torch.rand(2, 3)
    torch.onnx.export(
        lambda x: (x + 1, x * 2), (x,), tmp_path / "two.onnx", output_names=["scores", "twice"]
    )
    assert (
        _run(
            command, "compile", tmp_path / "two.onnx", "--emit=so", "-o", tmp_path / "two.so"
        ).returncode
        == 0
    )
    np.save(tmp_path / "x.npy", x.numpy())
    files = [tmp_path / "scores.npy", tmp_path / "twice.npy"]
    options = [w for f in files for w in ("--output", f"{f.stem}={f}")]
    ran = _run(command, "run", tmp_path / "two.so", "--input", tmp_path / "x.npy", *options)
    assert ran.returncode == 0, ran.stderr
    assert np.array_equal(np.load(files[0]), (x + 1).numpy())
    assert np.array_equal(np.load(files[1]), (x * 2).numpy())


def test_names_that_the_command_line_cannot_take_are_numbered(command, tmp_path) -> None:
    x = torch.rand(2)
    torch.onnx.export(
        lambda x: (x + 1, x * 2), (x,), tmp_path / "m.onnx", output_names=["a=b", "c"]
    )
    assert (
        _run(
            command, "compile", tmp_path / "m.onnx", "--emit=so", "-o", tmp_path / "m.so"
        ).returncode
        == 0
    )
    np.save(tmp_path / "x.npy", x.numpy())
    ran = _run(command, "run", tmp_path / "m.so", "--input", tmp_path / "x.npy")
    assert [line.split()[0] for line in ran.stdout.splitlines()[::2]] == ["output0", "output1"]


def test_a_name_that_is_no_text_is_refused(command, tmp_path) -> None:
    from onnx import TensorProto, helper

    graph = helper.make_graph(
        [helper.make_node("Relu", ["xx"], ["yy"])],
        "g",
        [helper.make_tensor_value_info("xx", TensorProto.FLOAT, [2])],
        [helper.make_tensor_value_info("yy", TensorProto.FLOAT, [2])],
    )
    data = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)]).SerializeToString()
    path = tmp_path / "m.onnx"
    path.write_bytes(data.replace(b"xx", b"\xff\xfe"))
    built = subprocess.run(
        [command, "compile", path, "--emit=so"], cwd=tmp_path, capture_output=True
    )
    assert built.returncode == 1 and b"UTF-8" in built.stderr, built.stderr
    assert [p.name for p in tmp_path.iterdir()] == ["m.onnx"]
