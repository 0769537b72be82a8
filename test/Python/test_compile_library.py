"""Custom operators in compiled functions: called between graphs, on the values that eager would give them."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

from compiled import COMPILER, bits, torch
from torchc import library

needs_compiler = pytest.mark.skipif(not COMPILER, reason="build the target torchc first")


@library.custom_op("tests_jit::sine", mutates_args=())
def sine(x: torch.Tensor, by: float = 2.0) -> torch.Tensor:
    return torch.from_numpy(np.sin(x.detach().numpy() * np.float32(by)))


sine.register_autograd(
    lambda ctx, g: (g * torch.cos(ctx.saved_tensors[0] * ctx.by) * ctx.by, None),
    setup_context=lambda ctx, inputs, output: (
        ctx.save_for_backward(inputs[0]),
        setattr(ctx, "by", inputs[1]),
    ),
)


@library.custom_op("tests_jit::add_", mutates_args={"x"})
def add_(x: torch.Tensor, n: float) -> None:
    x.numpy()[...] += n


def interpreted(fn, **options):
    from torchc.jit import _compiled

    return _compiled(fn, True, fn.__name__, replay=False, interpret=True, measure=False, **options)


def compiled(fn):
    from torchc.jit import _compiled

    return _compiled(fn, False, fn.__name__, replay=False, measure=False)


@pytest.fixture(params=[interpreted, pytest.param(compiled, marks=needs_compiler)])
def mode(request):
    return request.param


def inputs(seed):
    return torch.from_numpy(np.random.default_rng(seed).normal(size=(4, 3)).astype(np.float32))


def test_the_graph_is_split_around_it(mode):
    def fn(x):
        y = torch.exp(x) * 2
        z = sine(y + 1, 3.0)
        return z * y - 1

    f = mode(fn)
    for seed in range(5):
        assert bits(f(inputs(seed))) == bits(fn(inputs(seed)))
    counts = f.counts()
    assert counts["left"] == 0 and counts["recordings"] == 2 and counts["retraced"] == 4
    assert counts["launches"] + counts["interpreted"] == 8
    report = f.report()
    assert "the custom op tests_jit::sine is opaque" in report
    assert "then the custom op tests_jit::sine" in report


def test_training_steps_with_it(mode):
    def make():
        torch.manual_seed(0)
        model = torch.nn.Linear(3, 3)
        return model, torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)

    def step(model, optimizer, x):
        optimizer.zero_grad()
        loss = sine(torch.tanh(model(x)), 1.5).sum()
        loss.backward()
        optimizer.step()
        return loss

    eager, other = make(), make()
    f = mode(step)
    for seed in range(6):
        want, got = step(*eager, inputs(seed)), f(*other, inputs(seed))
        assert bits(want) == bits(got)
        assert bits(list(eager[0].parameters())) == bits(list(other[0].parameters()))
    # The first step differs from later ones, which find momentum.
    assert f.counts()["left"] <= 2, f.report()


def test_writes_are_seen_by_what_follows_and_read_what_precedes(mode):
    def fn(x):
        y = x * 2
        row = y[1]
        add_(y, 10.0)
        z = row + 1
        add_(z, 1.0)
        y.mul_(2)
        return y, z, row

    f = mode(fn)
    for seed in range(4):
        assert bits(f(inputs(seed))) == bits(fn(inputs(seed)))
    assert f.counts()["left"] == 0, f.report()


def test_arguments_of_the_call_are_written(mode):
    def fn(x):
        y = x * 2
        add_(x, 1.0)
        return y + x

    f = mode(fn)
    for seed in range(4):
        a, b = inputs(seed).clone(), inputs(seed).clone()
        assert bits([f(a), a]) == bits([fn(b), b])


def test_it_may_be_first_last_or_all(mode):
    for fn in (
        lambda x: sine(x) * 2,
        lambda x: sine(x * 2),
        lambda x: sine(x),
        lambda x: sine(sine(x)),
    ):
        f = mode(fn)
        for seed in range(4):
            assert bits(f(inputs(seed))) == bits(fn(inputs(seed)))


def test_another_operator_is_noticed(mode):
    chosen = [sine]

    def fn(x):
        return chosen[0](x * 2) + 1

    @library.custom_op("tests_jit::cosine", mutates_args=())
    def cosine(x: torch.Tensor) -> torch.Tensor:
        return torch.from_numpy(np.cos(x.numpy()))

    f = mode(fn)
    for seed in range(6):
        chosen[0] = cosine if seed % 2 else sine
        assert bits(f(inputs(seed))) == bits(fn(inputs(seed)))


def test_operations_inside_are_not_recorded(mode):
    @library.custom_op("tests_jit::inside", mutates_args=())
    def inside(x: torch.Tensor) -> torch.Tensor:
        total = float(x.sum())  # looks at values, as any code may
        return x / total if total > 0 else x - total

    def fn(x):
        return inside(x + 1) * 3

    f = mode(fn)
    for seed in range(6):
        x = inputs(seed) * (1 if seed % 2 else -3)
        assert bits(f(x)) == bits(fn(x))
    assert f.counts()["left"] == 0 and f.counts()["recordings"] == 2, f.report()


def test_its_exception_leaves_what_eager_leaves(mode):
    @library.custom_op("tests_jit::picky", mutates_args=())
    def picky(x: torch.Tensor) -> torch.Tensor:
        if float(x.max()) > 100:
            raise ValueError("too big")
        return x + 0

    def fn(x, state):
        state.add_(1)
        return picky(x * 2) * 2

    f = mode(fn)
    state, other = torch.zeros(1), torch.zeros(1)
    for seed in range(4):
        assert bits(f(inputs(seed), state)) == bits(fn(inputs(seed), other))
    for function, s in ((f, state), (fn, other)):
        with pytest.raises(ValueError, match="too big"):
            function(inputs(0) * 1000, s)
    assert state.tolist() == other.tolist() == [5]


def test_composites_are_recorded_through(mode):
    lib = library.Library("tests_jit_lib", "FRAGMENT")
    lib.define("twice(Tensor x) -> Tensor")
    lib.impl("twice", lambda x: x * 2, "CompositeImplicitAutograd")

    def fn(x):
        return torch.ops.tests_jit_lib.twice(x + 1) - 1

    f = mode(fn)
    for seed in range(4):
        assert bits(f(inputs(seed))) == bits(fn(inputs(seed)))
    assert f.counts()["recordings"] == 1


def test_export_refuses_it_by_name():
    from torchc.errors import Unsupported

    with pytest.raises(Unsupported, match="the custom op tests_jit::sine"):
        torch.export.export(lambda x: sine(x + 1) * 2, (inputs(0),))
    with pytest.raises(Unsupported, match="the custom op tests_jit::sine"):
        torch.export.export(lambda x: sine(x), (inputs(0),))
    with pytest.raises(NotImplementedError, match="the custom op tests_jit::sine"):
        torch.onnx.export(lambda x: sine(x), (inputs(0),), "/dev/null")


@needs_compiler
def test_the_command_line_refuses_it_by_name(tmp_path):
    (tmp_path / "program.py").write_text(
        "import torchc as torch\n"
        '@torch.library.custom_op("tests_cli::twice", mutates_args=())\n'
        "def twice(x: torch.Tensor) -> torch.Tensor:\n"
        "    return x * 2\n\n"
        "def fn(x):\n"
        "    return twice(x + 1)\n"
    )
    path = os.pathsep.join([str(pathlib.Path(sys.executable).parent), os.environ["PATH"]])
    package = str(pathlib.Path(torch.__file__).parents[1])
    done = subprocess.run(
        [COMPILER, "compile", "program.py:fn", "--input", "x=f32[3]", "--emit=so", "-o", "out.so"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={**os.environ, "PATH": path, "PYTHONPATH": package},
    )
    assert done.returncode == 1, done.stderr
    assert "the custom op tests_cli::twice" in done.stderr and "program.py:7" in done.stderr
    assert not (tmp_path / "out.so").exists()
