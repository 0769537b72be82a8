"""Functions that move, sort and draw, compiled: the bits of eager, and a record where they stay eager."""

from __future__ import annotations

from typing import Any

import pytest

from compiled import COMPILER
from test_compile import agree, compiled  # noqa: F401 - the fixture

torch = pytest.importorskip("torchc", reason="torchc is not on the path", exc_type=ImportError)


def seeded(call: Any) -> Any:
    """A program that draws; both runs start from one seed."""

    def run(x: Any) -> Any:
        torch.manual_seed(3)
        return call(x) + x.sum()

    return run


PROGRAMS = {
    "flip": lambda x: torch.flip(x, (0, 1)) * 2,
    "roll": lambda x: torch.roll(x, (1, 2), (0, 1)) + x,
    "triangles": lambda x: x.tril() + x.triu(1),
    "diagonal": lambda x: torch.diag(x) * 2 + torch.diagonal(x + 1),
    "diagonal written": lambda x: (lambda y: (y.diagonal().fill_(5), y)[1])(x * 2),
    "pad": lambda x: torch.nn.functional.pad(x * 2, (1, 2), value=3.0) + 1,
    "reflect": lambda x: torch.nn.functional.pad(x, (1, 2), mode="reflect") + 1,
    "repeat": lambda x: x.repeat(2, 1) + x.repeat_interleave(2, 0),
    "stack": lambda x: torch.hstack([x, x + 1]) * 2,
    "grid": lambda x: torch.meshgrid(x[0], x[1] + 1, indexing="xy")[0] * 2,
    "einsum": lambda x: torch.einsum("ij,kj->ik", x, x + 1),
    "resize": lambda x: (
        torch.nn.functional.interpolate(x[None, None], scale_factor=2, mode="bilinear") + 1
    ),
    "slice_scatter": lambda x: torch.slice_scatter(x + 1, x[:, 1:3] * 2, 1, 1, 3),
    "take": lambda x: torch.take(x + 1, torch.tensor([0, -1, 2])) * 2,
    "sort": lambda x: torch.sort(x * 3, 1).values + 1,
    "topk": lambda x: torch.topk(x + 1, 2).values.sum(),
    "median": lambda x: (x * 2).median(1).values + 1,
    "amax at index": lambda x: (x + 1).scatter_reduce(
        0, torch.tensor([[1, 0, 2, 3]]), x[:1] * 9, "amax"
    ),
    "mask": lambda x: (x * 2)[x > 0].sum() + x.masked_select(x < 1).sum(),
    "places": lambda x: torch.nonzero(x > 0).sum() + (x * 2).sum(),
    "unique": lambda x: torch.unique(x.round() if hasattr(x, "round") else x > 0).sum() + x.sum(),
    "integers drawn": seeded(lambda x: torch.randint(0, 10, (4, 4)) * 2),
    "order drawn": seeded(lambda x: torch.randperm(4)),
    "trials": seeded(lambda x: torch.bernoulli(torch.full((4,), 0.5))),
    "exponential": seeded(lambda x: torch.empty(4).exponential_()),
    "weights": seeded(lambda x: torch.multinomial(torch.ones(4), 3)),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_bits(compiled: Any, name: str) -> None:  # noqa: F811
    def make(i: int) -> list[Any]:
        torch.manual_seed(40 + i)
        return [torch.rand(4, 4) - 0.5]

    agree(compiled, PROGRAMS[name], make)


@pytest.mark.skipif(not COMPILER, reason="build the target torchc first")
def test_a_sort_stays_eager_and_says_why() -> None:
    from torchc.jit import _compiled

    fn = _compiled(PROGRAMS["sort"], False, measure=False)
    for _ in range(4):
        fn(torch.rand(4, 4))
    assert "argsort" in fn.report()
