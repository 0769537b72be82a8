"""Whole training steps with each optimizer: compiled bits equal eager bits."""

import os
import re
import time

import numpy as np
import pytest

from compiled import needs_compiler

torch = pytest.importorskip(
    "torchc", reason="the extension module is not built", exc_type=ImportError
)
nn = torch.nn

OPTIMIZERS = {
    "SGD": dict(lr=0.1, momentum=0.9, nesterov=True),
    "Adam": dict(lr=0.01, weight_decay=0.1, amsgrad=True),
    "AdamW": dict(lr=0.01),
    "NAdam": dict(lr=0.01),
    "RAdam": dict(lr=0.01),
    "RMSprop": dict(lr=0.01, centered=True, momentum=0.5),
    "Adagrad": dict(lr=0.1, lr_decay=0.1),
    "Rprop": dict(lr=0.01),
}


def trained(name, options, wrap):
    """Losses and parameters after ten steps."""
    torch.manual_seed(1)
    model = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 3))
    optimizer = getattr(torch.optim, name)(model.parameters(), **options)
    generator = torch.Generator().manual_seed(7)
    x = torch.rand(12, 6, generator=generator)
    y = torch.tensor([0, 1, 2] * 4)

    def step(x, y):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        optimizer.step()
        return loss

    run = wrap(step)
    losses = [run(x, y).item() for _ in range(10)]
    return run, losses, [p.detach().numpy().copy() for p in model.parameters()]


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_compiled_steps_give_eager_bits(name):
    _, losses, params = trained(name, OPTIMIZERS[name], lambda step: step)
    run, other, others = trained(
        name, OPTIMIZERS[name], lambda step: torch.compile(step, background=False)
    )
    assert losses == other and losses[-1] < losses[0]
    for a, b in zip(params, others):
        assert np.array_equal(a, b)
    assert "there is no compiler" in run.report() or "compiled" in run.report()


@needs_compiler
@pytest.mark.parametrize("name", ["SGD", "Adam"])
def test_waiting_for_the_compiler_is_no_miss(name):
    """The second step goes on differently from the first; until its recording is compiled nothing was missed."""
    torch.manual_seed(0)
    width = 40 + os.getpid() % 97  # not in the cache of an earlier run
    model = nn.Sequential(nn.Linear(8, width), nn.Tanh(), nn.Linear(width, 2))
    optimizer = getattr(torch.optim, name)(model.parameters(), **OPTIMIZERS[name])
    x, y = torch.rand(64, 8), torch.tensor([0, 1] * 32)

    @torch.compile
    def step(x, y):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    launches: list[int] = []
    end = time.monotonic() + 30
    while not any(launches) and time.monotonic() < end:
        for _ in range(100):
            step(x, y)
        launches = [int(n) for n in re.findall(r"launched (\d+) times", step.report())]
    assert any(launches) and "tier re-trace" in step.report(), step.report()
