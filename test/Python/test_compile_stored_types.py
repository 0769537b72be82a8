"""uint16, uint32, uint64 and the float8 types in compiled functions: eager code's bits, or a stated reason."""

from __future__ import annotations

import subprocess
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torchc", reason="torchc is not on the path", exc_type=ImportError)
from compiled import COMPILER  # noqa: E402
from test_compile import agree, compiled, needs_compiler  # noqa: E402, F401 - a fixture
from test_stored_types import FLOAT8, OTHERS, STORED, UNSIGNED, floats, integers  # noqa: E402


def plain(x: Any) -> Any:
    """The numbers; all NaNs of floating types the same."""
    return x.float().nan_to_num(12345.0) if x.is_floating_point() else x


def launched(fn: Any) -> None:
    """All calls but the first ran what was compiled."""
    counts = fn.counts()
    assert counts["left"] == 0 and counts["launches"] + counts["interpreted"] == 4, fn.report()
    if counts["ready"]:
        assert counts["launches"] == 4, fn.report()


def samples(name: str, i: int) -> Any:
    """Numbers of that type, others for each i: a prime number of them, for tails of vectors."""
    if name in FLOAT8:
        x = torch.arange(256, dtype=torch.uint8).view(getattr(torch, name))
        return torch.cat([x.roll(i), x])[:509]
    if name in UNSIGNED:
        return torch.from_numpy(np.roll(integers(name), i)[:1009].copy())
    if name == "bool":
        return torch.arange(1009) % (2 + i) == 0
    if "int" in name:
        limits = np.iinfo(name)
        rng = np.random.default_rng(i)
        return torch.from_numpy(
            rng.integers(limits.min, limits.max, 1009, dtype=name, endpoint=True)
        )
    return torch.from_numpy(np.roll(floats(), i)[:6007].copy()).to(getattr(torch, name))


@pytest.mark.parametrize("name", STORED)
def test_casts(compiled: Any, name: str) -> None:  # noqa: F811
    for other in [other for other in [*OTHERS, *STORED] if other != name]:
        for source, target in ((other, name), (name, other)):
            t, numbers = getattr(torch, target), [samples(source, i) for i in range(5)]
            launched(agree(compiled, lambda x, t=t: plain(x.to(t)), lambda i, n=numbers: (n[i],)))


@pytest.mark.parametrize("name", STORED)
def test_moves(compiled: Any, name: str) -> None:  # noqa: F811
    t = getattr(torch, name)
    at, mask = torch.tensor([1, 0, 3]), torch.tensor([True, False, True, True, False])

    def make(i: int) -> Any:
        return ((torch.arange(20.0).reshape(4, 5) + i).fmod(8).to(t), torch.zeros(4, 5, dtype=t))

    def views(x: Any, y: Any) -> Any:
        return (
            x.t(),
            x[1:, ::2].clone(),
            x.t().contiguous(),
            x.expand(3, 4, 5).contiguous(),
            x.reshape(-1)[3:],
        )

    def indices(x: Any, y: Any) -> Any:
        return (
            x[at],
            x.index_select(1, at),
            x.gather(0, at[None]),
            torch.cat([x, y, x], 1),
            x.flip(1),
        )

    def writes(x: Any, y: Any) -> Any:
        y[1:, ::2].copy_(x[1:, ::2])
        y[0] = 5
        x.t()[1:].fill_(3)
        return torch.stack([x, y]), torch.full((2, 3), 6, dtype=t)

    def branches(x: Any, y: Any) -> Any:
        return torch.where(mask, x, y), torch.where(mask, x, 2), x == y, x != 3, x.flip(0) == x

    for fn in (views, indices, writes, branches):
        launched(agree(compiled, fn, make))


@pytest.mark.parametrize("name", UNSIGNED)
def test_unsigned_arithmetic(compiled: Any, name: str) -> None:  # noqa: F811
    def fn(x: Any, y: Any) -> Any:
        z = torch.maximum(x * y, x & y) ^ (x | 77)
        small = torch.minimum(x, y).clamp(3, 60000)
        return z, small, (small * 3).float() / 7, x.sum(), y.cumsum(0), (x == y).any()

    launched(agree(compiled, fn, lambda i: (samples(name, i), samples(name, i + 5))))


def test_numbers_that_int64_does_not_hold(compiled: Any) -> None:  # noqa: F811
    most = 2**64 - 1

    def fn(x: Any, y: Any) -> Any:
        filled = torch.full((3,), most - 2, dtype=torch.uint64)
        return x == most, x & (most - 6), torch.where(x == most - 1, x, 2**63 + 1), filled, y * most

    def make(i: int) -> Any:
        return torch.tensor([most - i, most, 7], dtype=torch.uint64), torch.tensor([0.5, i])

    launched(agree(compiled, fn, make))


@pytest.mark.parametrize("name", list(FLOAT8))
def test_float8_arithmetic(compiled: Any, name: str) -> None:  # noqa: F811
    def fn(x: Any, y: Any) -> Any:
        return plain(x * y), plain(x.abs()), x.isnan(), x.isfinite()

    launched(agree(compiled, fn, lambda i: (samples(name, i), samples(name, i + 77))))


@pytest.mark.parametrize("name", list(FLOAT8))
def test_training_through_a_rounding(compiled: Any, name: str) -> None:  # noqa: F811
    """A quantised layer: the weight is kept, rounded and widened again, its gradient passes."""
    t = getattr(torch, name)

    def step(x: Any, w: Any) -> Any:
        loss = ((x @ w.to(t).to(torch.float32)).tanh() ** 2).mean()
        loss.backward()
        return loss.detach(), w.grad

    def make(i: int) -> Any:
        torch.manual_seed(i)
        return torch.randn(5, 7), torch.randn(7, 3).requires_grad_()

    launched(agree(compiled, step, make))


def test_what_is_refused_raises_in_compiled_functions(compiled: Any) -> None:  # noqa: F811
    for name in STORED:
        fn = compiled(lambda x: x.clone() + x)
        for _ in range(3):
            with pytest.raises(NotImplementedError, match="add"):
                fn(torch.ones(3, dtype=getattr(torch, name)))


@needs_compiler
def test_artefacts_refuse_them_at_their_borders(tmp_path: Any) -> None:
    """Inside a program they are compiled; the files and tensors that a shipped model takes have no such types."""
    import subprocess

    from compiled import COMPILER
    from torchc import export

    class Rounds(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return x.to(torch.float8_e4m3fn).float() * 2

    class Gives(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return x.to(torch.float8_e4m3fn)

    for module, works in ((Rounds(), True), (Gives(), False)):
        saved = tmp_path / "m.tcz"
        export.save(export.export(module, (torch.ones(3),)), saved)
        done = subprocess.run(
            [
                COMPILER.replace("torchc-compiled", "torchc"),
                "compile",
                saved,
                "--emit=so",
                "-o",
                tmp_path / "m.so",
            ],
            capture_output=True,
            text=True,
        )
        assert (done.returncode == 0) == works, done.stderr
        assert works or "float8_e4m3fn" in done.stderr


@needs_compiler
def test_artefacts_carry_weights_of_stored_types(tmp_path: Any) -> None:
    from torchc import export

    class Small(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("weight", torch.randn(3, 4).to(torch.float8_e4m3fn))
            self.register_buffer("scale", torch.tensor([1, 60000, 3, 4], dtype=torch.uint16))

        def forward(self, x: Any) -> Any:
            return x @ self.weight.float() * self.scale.float()

    torch.manual_seed(0)
    module, x = Small(), torch.randn(2, 3)
    export.save(export.export(module, (x,)), tmp_path / "m.tcz")
    np.save(tmp_path / "x.npy", x.numpy())
    command = COMPILER.replace("torchc-compiled", "torchc")
    for arguments in (
        ["compile", "m.tcz", "--emit=exe", "-o", "m"],
        ["run", "./m", "--input", "x=x.npy", "--output", "output=y.npy"],
    ):
        subprocess.run([command, *arguments], cwd=tmp_path, check=True, capture_output=True)
    assert np.load(tmp_path / "y.npy").tobytes() == module(x).numpy().tobytes()
