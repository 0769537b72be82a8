"""cond and while_loop in compiled functions and programs: one graph, eager's bits."""

from __future__ import annotations

import pathlib
import subprocess

import numpy as np
import pytest

from compiled import COMPILER, bits, torch

needs_compiler = pytest.mark.skipif(not COMPILER, reason="build the target torchc first")


def make(fn, interpret):
    from torchc.jit import _compiled

    return _compiled(fn, False, fn.__name__, replay=False, measure=False, interpret=interpret)


@pytest.fixture(params=["interpreted", pytest.param("compiled", marks=needs_compiler)])
def mode(request):
    return lambda fn: make(fn, request.param == "interpreted")


def tensor(seed, *shape):
    return torch.from_numpy(
        np.random.default_rng(seed).normal(size=shape).astype(np.float32)
    ).clone()


def test_the_predicate_changes_and_the_graph_stays(mode):
    def fn(x):
        y = x * 2
        z = torch.cond(
            y.sum() > 0, lambda y: torch.exp(y) - x, lambda y: y.t().reshape(3, 4) * x.mean(), (y,)
        )
        return z + y

    f = mode(fn)
    for seed in range(8):
        assert bits(f(tensor(seed, 3, 4))) == bits(fn(tensor(seed, 3, 4)))
    counts = f.counts()
    assert counts["recordings"] == 1 and counts["left"] == 0 and counts["retraced"] == 7, f.report()
    assert counts["launches"] + counts["interpreted"] == 7


def test_several_results_of_several_types(mode):
    def fn(x, k):
        a, b, c = torch.cond(
            k > 0, lambda x: (x, x.sum(0), x > 0), lambda x: (x @ x, x.amax(0), x < 0.5), (x,)
        )
        return a + 1, b, c, (a * b).sum()

    f = mode(fn)
    for seed in range(6):
        args = tensor(seed, 4, 4), torch.tensor(seed % 2)
        assert bits(f(*args)) == bits(fn(*args))
    assert f.counts()["recordings"] == 1 and f.counts()["left"] == 0, f.report()


def test_training_steps(mode):
    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = torch.nn.Linear(4, 4), torch.nn.Linear(4, 4)
            self.c = torch.nn.Linear(4, 1)

        def forward(self, x):
            h = torch.cond(
                x.sum() > 0,
                lambda x: torch.tanh(self.a(x)),
                lambda x: torch.relu(self.b(x)) + x,
                (x,),
            )
            return self.c(h) + x.mean()

    def setup():
        torch.manual_seed(0)
        model = Model()
        return model, torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)

    def step(model, optimizer, x):
        optimizer.zero_grad()
        x = x.clone().requires_grad_()
        loss = model(x * 1.5).square().mean()
        loss.backward()
        optimizer.step()
        return loss, x.grad

    eager, other = setup(), setup()
    f = mode(step)
    for seed in range(8):
        want, got = step(*eager, tensor(seed, 5, 4)), f(*other, tensor(seed, 5, 4))
        assert bits(want) == bits(got)
        assert bits(list(eager[0].parameters())) == bits(list(other[0].parameters()))
    # The first step differs from later ones, which find gradients and momentum.
    assert f.counts()["left"] <= 2, f.report()


def test_second_derivatives(mode):
    def fn(x):
        y = torch.cond(x.sum() > 0, lambda x: x * x * x, torch.exp, (x,)).sum()
        (g,) = torch.autograd.grad(y, x, create_graph=True)
        return torch.autograd.grad((g * x).sum(), x)[0]

    f = mode(fn)
    for seed in range(6):
        assert bits(f(tensor(seed, 3).requires_grad_())) == bits(
            fn(tensor(seed, 3).requires_grad_())
        )
    assert f.counts()["left"] == 0 and f.counts()["recordings"] == 1, f.report()


def test_another_branch_function_is_noticed(mode):
    scale = [2.0]

    def fn(x):
        return torch.cond(x.sum() > 0, lambda x: x * scale[0], lambda x: x - 1, (x,))

    f = mode(fn)
    for seed in range(8):
        scale[0] = 2.0 if seed < 4 else 3.0
        assert bits(f(tensor(seed, 3))) == bits(fn(tensor(seed, 3)))


def test_another_captured_tensor_is_noticed(mode):
    held = [torch.ones(3)]

    def fn(x):
        return torch.cond(x.sum() > 0, lambda x: x * held[0], lambda x: x - held[0], (x,))

    f = mode(fn)
    for seed in range(8):
        held[0] = tensor(seed + 50, 3)
        assert bits(f(tensor(seed, 3))) == bits(fn(tensor(seed, 3)))
    assert f.counts()["left"] == 0


def test_equal_draws_stay_in_one_graph(mode):
    def fn(x):
        a = torch.rand(8)
        y = torch.cond(
            x.sum() > 0, lambda x: torch.dropout(x, 0.5, True), lambda x: x * torch.rand(8), (x,)
        )
        return y + a, torch.rand(3)

    f = mode(fn)
    for seed in range(8):
        torch.manual_seed(seed)
        got = f(tensor(seed, 8)), torch.rand(2)
        torch.manual_seed(seed)
        assert bits(got) == bits((fn(tensor(seed, 8)), torch.rand(2)))
    assert f.counts()["recordings"] == 1 and f.counts()["left"] == 0, f.report()


def test_unequal_draws_carry_the_ordinal_on(mode):
    def fn(x):
        def two(x):
            return torch.dropout(x, 0.5, True) + torch.rand(8)

        return torch.cond(x.sum() > 0, two, lambda x: x + torch.rand(8), (x,)), torch.rand(3)

    f = mode(fn)
    for seed in range(10):
        torch.manual_seed(seed)
        got = f(tensor(seed, 8)), torch.rand(2)
        torch.manual_seed(seed)
        assert bits(got) == bits((fn(tensor(seed, 8)), torch.rand(2)))
    assert f.counts()["left"] == 0, f.report()


def test_gradients_of_random_branches(mode):
    def fn(x):
        y = torch.cond(
            x.sum() > 0,
            lambda x: torch.dropout(x, 0.5, True) * x,
            lambda x: x * torch.rand(8),
            (x,),
        )
        return torch.autograd.grad(y.sum(), x)[0], torch.rand(2)

    f = mode(fn)
    for seed in range(8):
        results = []
        for g in (f, fn):
            torch.manual_seed(seed)
            results.append(bits((g(tensor(seed, 8).requires_grad_()), torch.rand(2))))
        assert results[0] == results[1]


def test_an_index_out_of_range_raises_where_eager_does(mode):
    def fn(x, i, state):
        state.add_(1)
        y = torch.cond(i >= 0, lambda x, i: x[i.reshape(1)].sum() * 2, lambda x, i: x.sum(), (x, i))
        state.add_(10)
        return y + 1

    f = mode(fn)
    states = torch.zeros(1), torch.zeros(1)
    for seed in range(5):
        i = torch.tensor(seed - 2)
        assert bits(f(tensor(seed, 4), i, states[0])) == bits(fn(tensor(seed, 4), i, states[1]))
    for g, s in zip((f, fn), states, strict=True):
        with pytest.raises(IndexError):
            g(tensor(0, 4), torch.tensor(7), s)
    assert bits(states[0]) == bits(states[1])


def test_nested_conds(mode):
    def inner(x):
        return torch.cond(x.sum() > 1, lambda x: x * 2, lambda x: torch.sin(x), (x,))

    def fn(x):
        return torch.cond(x.sum() < 2, inner, torch.exp, (x,)) + 1

    f = mode(fn)
    for seed in range(8):
        assert bits(f(tensor(seed, 3))) == bits(fn(tensor(seed, 3)))
    assert f.counts()["recordings"] == 1 and f.counts()["left"] == 0


def test_transposed_operands_and_halves(mode):
    def fn(x):
        y = x.t()
        return torch.cond(
            x.sum() > 0, lambda y: y.half() * 3, lambda y: (y @ y.t()).half()[:, :3] - 1, (y,)
        )

    f = mode(fn)
    for seed in range(6):
        assert bits(f(tensor(seed, 3, 4))) == bits(fn(tensor(seed, 3, 4)))


def test_networks_in_branches_and_loops(mode):
    torch.manual_seed(0)
    first, second = torch.nn.Conv2d(3, 8, 3, padding=1), torch.nn.Conv2d(3, 8, 1)

    def norm(x):
        return torch.nn.functional.layer_norm(second(x), (16, 16))

    def body(i, s, total):
        again = torch.tanh(s @ s.t() @ s * 0.01)
        return i + 1, again + torch.dropout(s, 0.5, True), total + s.sum(0)

    def fn(x):
        h = torch.cond(x.sum() > 0, lambda x: torch.relu(first(x)).softmax(1), norm, (x,)).flatten(
            1
        )
        return torch.while_loop(
            lambda i, s, t: i < 3, body, (torch.tensor(0), h[:, :64], torch.zeros(64))
        )

    f = mode(fn)
    for seed in range(5):
        results = []
        for g in (f, fn):
            torch.manual_seed(seed)
            with torch.no_grad():
                results.append(bits([*g(tensor(seed, 4, 3, 16, 16)), torch.rand(2)]))
        assert results[0] == results[1]
    assert f.counts()["recordings"] == 1 and f.counts()["left"] == 0, f.report()


# ---- loops


def newton(x):
    def goes_on(y, i):
        return ((y * y - x).abs().amax() > 1e-4) & (i < 50)

    return torch.while_loop(goes_on, lambda y, i: ((y + x / y) * 0.5, i + 1), (x, torch.tensor(0)))


def test_loops_of_any_number_of_rounds(mode):
    def fn(x):
        y, i = newton(x * x + 1)
        return y - 1, i

    f = mode(fn)
    for seed in range(8):
        x = tensor(seed, 5) * 3**seed
        assert bits(f(x)) == bits(fn(x))
    assert f.counts()["recordings"] == 1 and f.counts()["left"] == 0, f.report()
    y, i = newton(torch.tensor([4.0]))
    np.testing.assert_allclose(y.numpy(), [2], atol=1e-4)


def test_loops_that_swap_and_accumulate(mode):
    def fn(n, a, b):
        _, a, b, total = torch.while_loop(
            lambda i, a, b, t: i > 0,
            lambda i, a, b, t: (i - 1, b, a + b, t + (a @ b)),
            (n, a, b, torch.zeros(3, 3)),
        )
        return a, b, total

    f = mode(fn)
    for seed in range(6):
        args = torch.tensor(seed), tensor(seed, 3, 3), tensor(seed + 9, 3, 3)
        assert bits(f(*args)) == bits(fn(*args))
    assert f.counts()["recordings"] == 1 and f.counts()["left"] == 0, f.report()


def test_random_loops(mode):
    def fn(n, x):
        _, x = torch.while_loop(
            lambda i, x: i > 0, lambda i, x: (i - 1, x + torch.rand(4) * torch.randn(4)), (n, x)
        )
        return x, torch.rand(2)

    f = mode(fn)
    for seed in range(8):
        results = []
        for g in (f, fn):
            torch.manual_seed(seed)
            results.append(bits((g(torch.tensor(seed), tensor(seed, 4)), torch.rand(2))))
        assert results[0] == results[1]
    assert f.counts()["left"] == 0, f.report()


def test_a_cond_in_a_loop_and_a_loop_in_a_cond(mode):
    def body(i, x):
        return i - 1, torch.cond(x.sum() > 0, lambda x: x - 1.5, lambda x: x * -2, (x,))

    def fn(n, x):
        def loop(x):
            return torch.while_loop(lambda i, x: i > 0, body, (n, x))[1]

        return torch.cond(n > 2, loop, lambda x: x, (x,))

    f = mode(fn)
    for seed in range(8):
        args = torch.tensor(seed), tensor(seed, 4)
        assert bits(f(*args)) == bits(fn(*args))
    assert f.counts()["recordings"] == 1 and f.counts()["left"] == 0, f.report()


def test_loops_with_gradients_run_round_by_round(mode):
    def fn(n, x):
        _, y = torch.while_loop(lambda i, y: i > 0, lambda i, y: (i - 1, y * x), (n, x))
        return torch.autograd.grad(y.sum(), x)[0]

    f = mode(fn)
    for seed in range(8):
        args = torch.tensor(seed % 3 + 1), tensor(seed, 4).requires_grad_()
        assert bits(f(*args)) == bits(fn(*args))


# ---- ahead of time


class Both(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)

    def forward(self, x):
        h = torch.cond(
            x.sum() > 0,
            lambda x: torch.relu(self.linear(x)),
            lambda x: x * 2 - self.linear.bias,
            (x,),
        )
        y, i = newton(h * h + 1)
        return y + h, i


def test_export_prints_the_subgraphs():
    text = str(torch.export.export(Both(), (tensor(0, 3, 4),)))
    assert "cond" in text and "while_loop" in text


@needs_compiler
@pytest.mark.parametrize("emit", ["so", "exe"])
def test_artefacts(tmp_path, emit):
    torch.manual_seed(0)
    model = Both()
    torch.export.save(torch.export.export(model, (tensor(0, 3, 4),)), tmp_path / "m.tcz")

    def run(*args):
        subprocess.run([COMPILER, *args], cwd=tmp_path, check=True, capture_output=True, text=True)

    run("compile", "m.tcz", f"--emit={emit}", "-o", f"m.{emit}")
    for seed in range(4):
        x = tensor(seed, 3, 4)
        np.save(tmp_path / "x.npy", x.numpy())
        run(
            "run",
            f"m.{emit}",
            "--input",
            "x=x.npy",
            "--output",
            "output0=y.npy",
            "--output",
            "output1=i.npy",
        )
        y, i = model(x)
        assert np.load(tmp_path / "y.npy").tobytes() == y.detach().numpy().tobytes()
        assert int(np.load(tmp_path / "i.npy")) == int(i)


@needs_compiler
def test_stages_parse_back_and_gradients_are_refused(tmp_path):
    torch.export.save(torch.export.export(Both(), (tensor(0, 3, 4),)), tmp_path / "m.tcz")

    def compile(*options):
        return subprocess.run(
            [COMPILER, "compile", "m.tcz", *options], cwd=tmp_path, capture_output=True, text=True
        )

    for stage in ("trace", "torchc", "loops", "llvm", "asm"):
        done = compile(f"--emit={stage}", "-o", f"out.{stage}")
        assert done.returncode == 0, done.stderr
    reader = pathlib.Path(COMPILER).parent / "torchc-opt"
    if reader.is_file():  # built for development
        for stage in ("torchc", "loops"):
            again = subprocess.run(
                [reader, f"out.{stage}"], cwd=tmp_path, capture_output=True, text=True
            )
            assert again.returncode == 0, again.stderr
    done = compile("--grad", "--emit=so", "-o", "out.so")
    assert done.returncode != 0 and "torchc." in done.stderr and "no derivative" in done.stderr
    assert not (tmp_path / "out.so").exists()


@needs_compiler
def test_an_exported_training_step_has_conds_for_its_gradients(tmp_path):
    def step(x, w):
        w = w.clone().requires_grad_()
        y = torch.cond(x.sum() > 0, lambda x: torch.tanh(x @ w), lambda x: (x * x) @ w, (x,))
        return torch.autograd.grad(y.square().sum(), w)[0]

    args = tensor(0, 3, 4), tensor(1, 4, 4)
    torch.export.save(torch.export.export(step, args), tmp_path / "m.tcz")

    def run(*args):
        subprocess.run([COMPILER, *args], cwd=tmp_path, check=True, capture_output=True, text=True)

    run("compile", "m.tcz", "--emit=so", "-o", "m.so")
    for seed in range(4):
        x, w = tensor(seed, 3, 4), tensor(seed + 9, 4, 4)
        np.save(tmp_path / "x.npy", x.numpy())
        np.save(tmp_path / "w.npy", w.numpy())
        run("run", "m.so", "--input", "x=x.npy", "--input", "w=w.npy", "--output", "output=y.npy")
        assert np.load(tmp_path / "y.npy").tobytes() == step(x, w).numpy().tobytes()


def test_what_export_refuses():
    from torchc.errors import Unsupported

    def uneven(x):
        y = torch.cond(x.sum() > 0, lambda x: x + torch.rand(3), lambda x: x, (x,))
        return y + torch.rand(3)

    with pytest.raises(Unsupported, match="random numbers behind a cond"):
        torch.export.export(uneven, (tensor(0, 3),))

    def loop(x):
        x = x.clone().requires_grad_()
        _, y = torch.while_loop(
            lambda i, y: i < 3, lambda i, y: (i + 1, y * x), (torch.tensor(0), x)
        )
        return torch.autograd.grad(y.sum(), x)[0]

    with pytest.raises(NotImplementedError, match="derivative of a while_loop in one graph"):
        torch.export.export(loop, (tensor(0, 3),))


@needs_compiler
def test_the_command_line_differentiates_conds(tmp_path):
    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = torch.nn.Linear(4, 4)

        def forward(self, x):
            h = x * 2
            y = torch.cond(
                h.sum() > 0, lambda h: torch.tanh(self.linear(h)) * h, lambda h: h * h - 1, (h,)
            )
            return y * h

    torch.manual_seed(0)
    model = Model()
    torch.export.save(torch.export.export(model, (tensor(0, 3, 4),)), tmp_path / "m.tcz")

    def run(*args):
        subprocess.run([COMPILER, *args], cwd=tmp_path, check=True, capture_output=True, text=True)

    run("compile", "m.tcz", "--grad", "--emit=so", "-o", "m.so")
    names = {"x.grad": "x", "linear.weight.grad": "w", "linear.bias.grad": "b"}
    for seed in range(4):
        x, g = tensor(seed, 3, 4).requires_grad_(), tensor(seed + 9, 3, 4)
        np.save(tmp_path / "x.npy", x.detach().numpy())
        np.save(tmp_path / "g.npy", g.numpy())
        outputs = [
            option for name, file in names.items() for option in ("--output", f"{name}={file}.npy")
        ]
        run("run", "m.so", "--input", "x=x.npy", "--input", "output.grad=g.npy", *outputs)
        want = torch.autograd.grad(model(x), (x, model.linear.weight, model.linear.bias), g)
        for file, gradient in zip(names.values(), want, strict=True):
            assert np.load(tmp_path / f"{file}.npy").tobytes() == gradient.numpy().tobytes(), (
                seed,
                file,
            )
