"""torchc.export and the command line over it: from a Python file to a program without Python, with eager's bits."""

import os
import pathlib
import subprocess
import sys

import pytest

torchc = pytest.importorskip("torchc", exc_type=ImportError)
np = pytest.importorskip("numpy")

from torchc import export, nn, optim  # noqa: E402 - after the skip
from torchc.errors import Unsupported  # noqa: E402

BUILD = pathlib.Path(torchc._C.__file__).resolve().parents[2]
TORCHC = BUILD / "bin" / "torchc"

needs_compiler = pytest.mark.skipif(not TORCHC.is_file(), reason="the compiler isn't built")


def run(*command, cwd) -> subprocess.CompletedProcess:
    """Runs the compiler or an artefact."""
    path = os.pathsep.join([str(pathlib.Path(sys.executable).parent), os.environ["PATH"]])
    env = {**os.environ, "PYTHONPATH": str(BUILD / "python"), "PATH": path}
    return subprocess.run(
        [str(c) for c in command], cwd=cwd, env=env, text=True, capture_output=True, timeout=120
    )


def network() -> nn.Module:
    torchc.manual_seed(3)
    return nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10))


def example(*shape) -> "torchc.Tensor":
    torchc.manual_seed(5)
    return torchc.rand(*shape)


def test_a_module_becomes_a_graph_with_named_inputs_and_weights():
    program = export.export(network(), (example(4, 64),))
    assert program.inputs == ("input",)
    assert program.outputs == ("output",)
    assert sorted(program.state_dict) == ["0.bias", "0.weight", "2.bias", "2.weight"]
    text = str(program)
    assert "matmul" in text and "relu" in text


def test_arguments_are_found_in_nested_structures():
    def fn(pair, *, scale):
        return {"sum": pair[0] + pair[1]["b"] * scale, "first": pair[0]}

    a, b = example(3), example(3)
    program = export.export(fn, ((a, {"b": b}),), {"scale": 2.0})
    assert program.inputs == ("pair.0", "pair.1.b")
    assert program.outputs == ("output0", "output1")


def test_what_one_graph_cannot_hold_is_refused_by_name():
    x = example(3)
    with pytest.raises(Unsupported, match=r"looks at the numbers.*test_artefact_export.py:\d+"):
        export.export(lambda v: v * 2 if (v + 1).sum().item() > 0 else v, (x,))
    with pytest.raises(TypeError, match="expected a result of tensors, got float"):
        export.export(lambda v: 1.5, (x,))
    with pytest.raises(TypeError, match="expects a module or a function, got int"):
        export.export(3, (x,))
    with pytest.raises(TypeError, match="args must be a tuple"):
        export.export(lambda v: v, x)
    with pytest.raises(Unsupported, match="dynamic_shapes"):
        export.export(lambda v: v, (x,), dynamic_shapes={})


def test_one_tensor_given_twice_is_two_inputs():
    x = example(3)
    program = export.export(lambda a, b: a + b, (x, x))
    assert program.inputs == ("a", "b")


def test_example_inputs_are_copied():
    array = np.ones(3, "f4")
    shared = torchc.from_numpy(array)
    program = export.export(lambda v: v.add_(1), (shared,))
    assert program.inputs == ("v",)
    assert (array == 1).all()


def test_save_writes_whole_or_not_at_all(tmp_path):
    program = export.export(network(), (example(4, 64),))
    with pytest.raises(OSError, match="none"):
        export.save(program, tmp_path / "none" / "m.tcz")
    with pytest.raises(TypeError, match="ExportedProgram"):
        export.save(network(), tmp_path / "m.tcz")
    assert not list(tmp_path.iterdir())
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    for name, why in (("folder", "a folder"), ("pipe", "not a regular file")):
        with pytest.raises(OSError, match=f"{name}': it is {why}"):
            export.save(program, tmp_path / name)
    assert (tmp_path / "pipe").is_fifo() and len(list(tmp_path.iterdir())) == 2


@needs_compiler
def test_an_executable_answers_with_the_bits_of_eager(tmp_path):
    model = network()

    def classify(x):
        scores = nn.functional.log_softmax(model(x), 1)
        return scores, scores.argmax(1)

    x = example(7, 64)
    export.save(export.export(classify, (x,)), tmp_path / "net.tcz")
    for emit in ("exe", "so"):
        done = run(TORCHC, "compile", "net.tcz", f"--emit={emit}", "-o", "net", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        np.save(tmp_path / "x.npy", x.numpy())
        args = ["--input", "x=x.npy", "--output", "output0=s.npy", "--output", "output1=c.npy"]
        done = run(TORCHC, "run", "net", *args, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        scores, classes = classify(x)
        assert (np.load(tmp_path / "s.npy").view("u4") == scores.detach().numpy().view("u4")).all()
        assert (np.load(tmp_path / "c.npy") == classes.numpy()).all()
        assert (
            run(TORCHC, "run", "net", "--self-test", cwd=tmp_path).stdout == "self-test: 1 passed\n"
        )


@needs_compiler
def test_a_full_disk(tmp_path):
    export.save(export.export(network(), (example(7, 64),)), tmp_path / "net.tcz")
    (tmp_path / "small").mkdir()
    script = f"""mount -t tmpfs -o size=24k small small || exit 77
        {TORCHC} compile net.tcz --emit=exe -o small/net; echo $? $(ls -A small)"""
    done = run("unshare", "-rm", "sh", "-c", script, cwd=tmp_path)
    if done.returncode:
        pytest.skip("needs the right to mount")
    assert done.stdout == "1\n" and done.stderr.startswith("error: net.tcz: "), done.stderr


@needs_compiler
def test_a_step_that_writes_its_weights(tmp_path):
    weight = torchc.rand(4, 3)

    def step(x):
        with torchc.no_grad():
            weight.add_(x)
        return weight * 2

    x = example(4, 3)
    before = weight.numpy().copy()
    weight = torchc.tensor(before.tolist())  # memory that is shared with NumPy can't be recorded
    export.save(export.export(step, (x,)), tmp_path / "step.tcz")
    done = run(TORCHC, "compile", "step.tcz", "--emit=so", "-o", "step.so", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    np.save(tmp_path / "x.npy", x.numpy())
    np.save(tmp_path / "w.npy", before)
    args = ["--input", "x=x.npy", "--input", "captured0=w.npy"]
    outs = ["--output", "captured0=after.npy", "--output", "output=y.npy"]
    done = run(TORCHC, "run", "step.so", *args, *outs, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (np.load(tmp_path / "after.npy") == before + x.numpy()).all()
    assert (np.load(tmp_path / "y.npy") == (before + x.numpy()) * 2).all()


class Step(nn.Module):
    """One step of training: writes the parameters, gives the loss."""

    def __init__(self):
        super().__init__()
        self.model = network()
        self.optimizer = optim.SGD(self.model.parameters(), lr=0.1)

    def forward(self, x, y):
        self.optimizer.zero_grad()
        loss = nn.functional.cross_entropy(self.model(x), y)
        loss.backward()
        self.optimizer.step()
        return loss.detach()


@needs_compiler
def test_a_training_step_as_a_library(tmp_path):
    step, x, y = Step(), example(16, 64), torchc.tensor([i % 10 for i in range(16)])
    args = ["--input", "x=x.npy", "--input", "y=y.npy", "--output", "output=loss.npy"]
    for name, p in step.named_parameters():  # a copy: shared memory can't be recorded
        np.save(tmp_path / f"{name}.npy", np.array(p.detach().tolist(), "f4"))
        args += ["--input", f"{name}={name}.npy", "--output", f"{name}={name}.after.npy"]
    program = export.export(step, (x, y))  # takes the step
    assert program.inputs == ("x", "y")
    np.save(tmp_path / "x.npy", x.numpy())
    np.save(tmp_path / "y.npy", y.numpy())
    export.save(program, tmp_path / "step.tcz")
    done = run(TORCHC, "compile", "step.tcz", "--emit=so", "-o", "step.so", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    done = run(TORCHC, "run", "step.so", *args, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    for name, p in step.named_parameters():
        after = np.load(tmp_path / f"{name}.after.npy")
        assert (after.view("u4") == p.detach().numpy().view("u4")).all(), name


FILE = """
import torchc

torchc.manual_seed(1)
model = torchc.nn.Linear(8, 2)

def forward(x, y):
    return model(x).relu() + y

def pick(x, i):
    return x.index_select(0, i)

def looks(x):
    if x.sum().item() > 0:
        return x
    return -x

number = 3
"""


@needs_compiler
def test_compiling_a_function_of_a_file(tmp_path):
    (tmp_path / "net.py").write_text(FILE)
    spec = ["--input", "x=f32[5,8]", "--input", "y=f32[2]"]
    done = run(TORCHC, "compile", "net.py:forward", *spec, "--emit=exe", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert run("./forward", "--self-test", cwd=tmp_path).stdout == "self-test: 1 passed\n"
    assert "forward" in run("./forward", "--signature", cwd=tmp_path).stdout
    text = run(TORCHC, "compile", "net.py:forward", *spec, "--emit=trace", cwd=tmp_path).stdout
    assert "net.py:8" in text


@needs_compiler
def test_data_that_an_operator_refuses(tmp_path):
    (tmp_path / "net.py").write_text(FILE)
    spec = ["--input", "x=f32[4,2]", "--input", "i=i64[3]"]
    done = run(TORCHC, "compile", "net.py:pick", *spec, "--emit=exe", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    np.save(tmp_path / "x.npy", np.zeros((4, 2), "f4"))
    for index, code, text in ((3, 0, ""), (4, 1, "error: index out of range in self\n")):
        np.save(tmp_path / "i.npy", np.array([0, index, 1]))
        done = run("./pick", "--input", "x=x.npy", "--input", "i=i.npy", cwd=tmp_path)
        assert (done.returncode, done.stderr) == (code, text)


@needs_compiler
@pytest.mark.parametrize(
    ("model", "spec", "text"),
    [
        ("none.py:forward", "x=f32[2]", "error: none.py: no such file\n"),
        ("net.py:nothing", "x=f32[2]", "error: net.py: it has no 'nothing'\n"),
        (
            "net.py:number",
            "x=f32[2]",
            "error: net.py: 'number' is no function or module, but int\n",
        ),
        ("net.py:looks", "x=f32[2]", "error: net.py: Unsupported: export(): the function looks at"),
        (
            "net.py:forward",
            "x=f32[2,8]",
            "error: net.py: forward() takes more arguments: add --input y=DTYPE[SIZE,...]\n",
        ),
        ("net.py:model", "input=f32[3,9]", "error: net.py: RuntimeError: "),
        ("bad.py:f", "x=f32[2]", "error: bad.py: SyntaxError: "),
    ],
)
def test_errors_of_a_file(tmp_path, model, spec, text):
    (tmp_path / "net.py").write_text(FILE)
    (tmp_path / "bad.py").write_text("def f(:\n")
    done = run(TORCHC, "compile", model, "--input", spec, "--emit=exe", "-o", "out", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith(text), done.stderr
    assert not (tmp_path / "out").exists()
